// The proof of an erasure: the bytes themselves are gone from the files of Postgres and of the event store.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client'
import pg from 'pg'
import t from 'tap'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { call as reported } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { run } from '../../support/ringledger.js'
import { databaseUrlOf, eventStoreOf, localWebhooks, startService } from '../../support/running-service.js'

t.setTimeout(300_000)
const phone_number = '+15559876543'
const words = ['15559876543', 'Wilhelmina Vanishing', 'vanishing@example.net', 'the parrot is resting', 'asked us to forget']
const variables = { customer_name: words[1], email: words[2] }
const transcript = [{ role: 'customer' as const, text: `${words[3]}`, at: 1 }]

const hook = await receiver(t)
const service = await startService(t, { env: localWebhooks })
const db = new pg.Client({ connectionString: databaseUrlOf(service.dataDir) })
await db.connect()
t.teardown(() => db.end().catch(() => {}))
const [user, engine] = [await service.token('1'), await service.token('engine', 'engine')]
const send = async (method: string, path: string, body?: object, token = user) => {
  const answer = await service.call(method, path, { token, ...(body && { body }) })
  t.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.data
}
const requestEnds = (id: string) => eventually(async () =>
  (await send('GET', `/user/person-request/${id}`)).status === 'completed')

async function fillWithPerson (): Promise<void> {
  const webhook = { is_webhook_active: true, webhook_url: hook.url }
  const assistant = (await send('POST', '/user/assistant', newAssistant(webhook))).id
  const lead = await send('POST', '/user/lead', { phone_number, campaign_id: 1, variables })
  const contact = { phone_number, variables }
  await send('POST', '/user/lead', { phone_number: '+15550000001', campaign_id: 1, secondary_contacts: [contact] })
  await send('PUT', `/user/lead/${lead.id}`, { variables: { ...variables, note: words[3] } })
  const report = callReport(assistant, { from: phone_number, lead_id: lead.id, transcript })
  await send('POST', '/engine/calls/by-http/completed', report, engine)
  const client = EventStoreDBClient.connectionString(eventStoreOf(service.dataDir))
  t.teardown(() => client.dispose())
  const data = reported('by-event', { assistant_id: assistant, lead_id: lead.id, from: phone_number, transcript })
  const event = jsonEvent({ id: randomUUID(), type: 'CallCompleted', data })
  await client.appendToStream('call-by-event', event, { expectedRevision: NO_STREAM })
  await send('POST', '/user/leads/import', { campaign_id: 1, if_duplicate: 'allow', leads: [{ phone_number, variables }] })
  await eventually(() => hook.received.length >= 2)
  const copy = await send('POST', '/user/person/export', { phone_number })
  await requestEnds(copy.id)
  await send('POST', '/user/blacklist', { phone_number, reason: words[4] })
}

/** Words that a file of the cluster holds; the write-ahead log is left out. */
async function wordsOnDisk (): Promise<string[]> {
  await db.query('CHECKPOINT')
  const { rows: [{ data_directory: root }] } = await db.query('SHOW data_directory')
  const found = new Set<string>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || join(entry.parentPath, '').includes('/pg_wal')) continue
    const bytes = readFileSync(join(entry.parentPath, entry.name))
    for (const word of words) if (bytes.includes(word)) found.add(word)
  }
  return [...found]
}

t.test('after an erasure, VACUUM FULL and a checkpoint no file has anything of the person', async (t) => {
  await fillWithPerson()
  t.strictSame((await wordsOnDisk()).sort(), [...words].sort(), 'they are found before')
  const { id } = await send('POST', '/user/person/erase', { phone_number })
  await requestEnds(id)
  await db.query('VACUUM (FULL, ANALYZE)')
  t.strictSame(await wordsOnDisk(), [])
  const { code, stdout, stderr } = await run(t, ['events', 'export', '-'], { DATA_DIR: service.dataDir })
  t.ok(code === 0 && stdout.length > 1_000, stderr)
  t.strictSame(words.filter((word) => stdout.includes(word)), [], 'nor what is exported of the log')
  const log = service.process.stdout() + service.process.stderr()
  t.strictSame(words.filter((word) => log.includes(word)), [], 'nor its log')
  for (const name of ['leads', 'calls']) {
    const verified = await run(t, ['projections', 'verify', name], { DATA_DIR: service.dataDir })
    t.equal(verified.code, 0, verified.stdout + verified.stderr)
  }
})
