// The proof of an erasure: the bytes themselves are gone, from the files of Postgres, of the event store and of Redis,
// from logs and exports, and from a backup that is made after it.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client'
import pg from 'pg'
import t, { type Test } from 'tap'
import { noRedis, scratchRedis, type ScratchRedis } from '../../support/back-ends/redis.js'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { call as reported } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { secrets } from '../../support/auth/secrets.js'
import { dataDir, run, type Environment } from '../../support/ringledger.js'
import {
  databaseUrlOf, eventStoreOf, localWebhooks, startService, type RunningService
} from '../../support/running-service.js'

t.setTimeout(600_000)
const phone_number = '+15559876543'
const [, name, email, said, reason] = [
  '', 'Wilhelmina Vanishing', 'vanishing@example.net', 'the parrot is resting', 'asked us to forget'
]
const words = ['15559876543', name, email, said, reason] as string[]
const variables = { customer_name: name, email }
const transcript = [{ role: 'customer' as const, text: String(said), at: 1 }]

interface Data { id: number | string, status: string }
type Send = (method: string, path: string, body?: object, as?: string) => Promise<Data>

async function sender (t: Test, service: RunningService): Promise<Send> {
  const [user, engine] = [await service.token('1'), await service.token('engine', 'engine')]
  return async (method, path, body, as) => {
    const token = as === 'engine' ? engine : user
    const answer = await service.call(method, path, { token, ...(body && { body }) })
    t.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
}

const requestEnds = (send: Send, { id }: { id: number | string }) => eventually(async () =>
  (await send('GET', `/user/person-request/${id}`)).status === 'completed')

async function fillWithPerson (t: Test, service: RunningService, send: Send): Promise<void> {
  const hook = await receiver(t)
  const webhook = { is_webhook_active: true, webhook_url: hook.url }
  const assistant = Number((await send('POST', '/user/assistant', newAssistant(webhook))).id)
  const lead = await send('POST', '/user/lead', { phone_number, campaign_id: 1, variables })
  const contact = { phone_number, variables }
  await send('POST', '/user/lead', { phone_number: '+15550000001', campaign_id: 1, secondary_contacts: [contact] })
  await send('PUT', `/user/lead/${lead.id}`, { variables: { ...variables, note: said } })
  const report = callReport(assistant, { from: phone_number, lead_id: Number(lead.id), transcript })
  await send('POST', '/engine/calls/by-http/completed', report, 'engine')
  const client = EventStoreDBClient.connectionString(eventStoreOf(service.dataDir))
  t.teardown(() => client.dispose())
  const told = { assistant_id: assistant, lead_id: Number(lead.id), from: phone_number, transcript }
  const data = reported('by-event', told)
  const event = jsonEvent({ id: randomUUID(), type: 'CallCompleted', data })
  await client.appendToStream('call-by-event', event, { expectedRevision: NO_STREAM })
  const leads = [{ phone_number, variables }]
  await send('POST', '/user/leads/import', { campaign_id: 1, if_duplicate: 'allow', leads })
  await eventually(() => hook.received.length >= 2)
  await requestEnds(send, await send('POST', '/user/person/export', { phone_number }))
  await send('POST', '/user/blacklist', { phone_number, reason })
}

const wordsIn = (files: Iterable<Buffer | string>): string[] => {
  const found = new Set<string>()
  for (const bytes of files) for (const word of words) if (bytes.includes(word)) found.add(word)
  return [...found].sort()
}

/** All files but the write-ahead log. */
function * filesIn (root: string): Generator<Buffer> {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !path.includes('/pg_wal/')) yield readFileSync(path)
  }
}

async function isProven (t: Test, redis?: ScratchRedis): Promise<void> {
  const env = redis ? { ...localWebhooks, ...secrets, REDIS_URL: redis.url } : localWebhooks
  const service = await startService(t, { env })
  const db = new pg.Client({ connectionString: databaseUrlOf(service.dataDir) })
  await db.connect()
  t.teardown(() => db.end().catch(() => {}))
  const { rows: [{ data_directory: root }] } = await db.query('SHOW data_directory')
  const send = await sender(t, service)
  await fillWithPerson(t, service, send)
  for (const command of ['ANALYZE', 'CHECKPOINT']) await db.query(command) // with samples of all that there is
  t.strictSame(wordsIn(filesIn(root)), [...words].sort(), 'they are found before')
  await requestEnds(send, await send('POST', '/user/person/erase', { phone_number }))
  for (const command of ['ANALYZE', 'VACUUM (FULL)']) await db.query(command)
  await db.query('CHECKPOINT')
  t.strictSame(wordsIn(filesIn(root)), [], 'no file of the cluster has anything of the person')
  const here = { ...env, DATA_DIR: service.dataDir }
  const { code, stdout, stderr } = await run(t, ['events', 'export', '-'], here)
  t.ok(code === 0 && stdout.length > 1_000, stderr)
  t.strictSame(wordsIn([stdout, service.process.stdout(), service.process.stderr()]), [], 'no export, and no log')
  if (redis) {
    const files = await redis.files()
    t.ok(files.some((file) => file.length > 1_000), 'Redis had jobs')
    t.strictSame(wordsIn(files), [], 'nor its files, whatever they went through')
    return // what follows has nothing to do with the queue
  }
  for (const readModel of ['leads', 'calls']) {
    const verified = await run(t, ['projections', 'verify', readModel], here)
    t.equal(verified.code, 0, verified.stdout + verified.stderr)
  }
  await isNotInBackup(t, here)
}

async function isNotInBackup (t: Test, env: Environment): Promise<void> {
  const [folder, restored] = [dataDir(t), dataDir(t)]
  const file = join(folder, 'ringledger.backup')
  const made = await run(t, ['backup', file], env)
  t.equal(made.code, 0, made.stderr)
  const back = await run(t, ['restore', file], { ...env, DATA_DIR: restored })
  t.equal(back.code, 0, back.stderr)
  t.ok([...filesIn(restored)].length > 100)
  t.strictSame(wordsIn([...filesIn(restored), readFileSync(file)]), [], 'a backup that is made after it has nothing')
}

t.test('after an erasure, VACUUM FULL and a checkpoint nothing is left, with the queue in Postgres', (t) => isProven(t))
t.test('and with it in a Redis that keeps its files', { skip: noRedis() }, async (t) =>
  await isProven(t, await scratchRedis(t, true)))
