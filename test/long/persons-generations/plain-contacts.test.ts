// A person is erased who is a contact in plain events of another's lead, as releases before sealing wrote them: nothing
// of them is left, and those who stay are as before, also for a replay.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { findStream } from '../../../projections/persons/to-restate.js'
import { digestOfNumbers } from '../../../src/composition/digest-of-numbers.js'
import { restateLeads } from '../../../src/command-handling/person/restate-leads.js'
import { leadStream } from '../../../src/domain/lead/events.js'
import { openStreams } from '../../../src/event-store/streams.js'
import { secrets } from '../../support/auth/secrets.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { hasNothingOf } from '../../support/persons/persons.js'
import { dataDir, run } from '../../support/ringledger.js'
import { newAssistant, testService } from '../../support/service.js'

t.setTimeout(240_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, config, parts: { pool, streams, positions }, urls } = service
const digest = digestOfNumbers(config)
const raw = openStreams(connectionTo(t, urls.eventStoreUrl))
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
const engine = { headers: { authorization: `Bearer ${await service.token('engine', 'engine')}` } }
const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
const person = (phone_number: string) => ({ phone_number, variables: { customer_name: `Ada ${phone_number}`, email: '' } })
const at = '2026-01-31T12:00:00.000Z'
let ids = 500_000

/** A lead with three contacts, as version 1 wrote them; the second is removed later, and the lead was called. */
async function plainLead (number: string, ...contacts: [string, string, string]) {
  const lead_id = ids += 10
  const secondary_contacts = contacts.map((contact, n) => ({ id: lead_id + 1 + n, ...person(contact) }))
  const whose = { lead_id, user_id: '1', campaign_id: 1 }
  const created = { ...whose, ...person(number), secondary_contacts, created_at: at }
  const changes = { secondary_contacts: secondary_contacts.filter((_, n) => n !== 1) }
  const updated = { ...whose, changes, removed_contacts: [secondary_contacts[1]?.id], updated_at: at }
  const stream = leadStream(1, digest(number))
  const events = [['LeadCreated', created], ['LeadUpdated', updated]] as const
  await raw.append(stream, events.map(([type, data]) => ({ id: randomUUID(), type, data, metadata: {} })), -1n)
  await positions.reached('leads', await raw.head(), 10_000)
  return { lead_id, stream, contacts: secondary_contacts.map(({ id }) => id) }
}

let calls = 0
async function callOf (lead_id: number, from: string, more: object = {}): Promise<string> {
  const id = `plain-${++calls}`
  await call('POST', `/engine/calls/${id}/completed`, callReport(assistant, { from, lead_id, ...more }), engine)
  await eventually(async () => (await call('GET', `/user/call/${id}`)).status === 200)
  return id
}

async function erase (phone_number: string): Promise<void> {
  const { body: { data: { id } } } = await call('POST', '/user/person/erase', { phone_number })
  await eventually(async () => (await call('GET', `/user/person-request/${id}`)).body.data.status === 'completed', 60_000)
}

/** Every row, also of those who were deleted. */
async function rowsOf (stream: string) {
  await positions.reached('calls', await raw.head(), 10_000)
  const { rows: leads } = await pool.query('SELECT * FROM read_model.leads WHERE stream = $1 ORDER BY id', [stream])
  const { rows: named } = await pool.query(`
    SELECT id, lead_id, campaign_id, summary, updated_at FROM read_model.calls WHERE lead_id = ANY ($1) ORDER BY id`,
  [leads.map(({ id }) => id)])
  return { leads, calls: named }
}

async function verified (t: Test, when: string): Promise<void> {
  for (const name of ['leads', 'calls']) {
    const { code, stdout, stderr } = await run(t, ['projections', 'verify', name], env)
    t.equal(code, 0, `${name}, ${when}: ${stdout}${stderr}`)
  }
}

async function replayed (t: Test): Promise<void> {
  for (const name of ['leads', 'calls']) t.equal((await run(t, ['projections', 'replay', name], env)).code, 0)
  await verified(t, 'after a replay')
}

t.test('those who stay are told of again, sealed, and the plain events go', async (t) => {
  const [number, gone, removed, other] = ['+15553210001', '+15553210002', '+15553210003', '+15553210004'] as const
  const { lead_id, stream, contacts: [first = 0, , third = 0] } = await plainLead(number, gone, removed, other)
  await callOf(lead_id, number, { lead_status: 'rescheduled' })
  await callOf(third, '+15553219999')
  await callOf(first, '+15553219999')
  await call('PUT', `/user/lead/${lead_id}`, { status: 'created' })
  const before = await rowsOf(stream)
  const shown = (await call('GET', `/user/lead/${lead_id}`)).body.data
  t.match(shown, { status: 'created', secondary_contacts: [{ id: first }, { id: third, status: 'completed' }] })
  await erase(gone)
  const after = await rowsOf(stream)
  const ofOthers = ({ leads }: typeof before) => leads.filter(({ id }) => ![first, lead_id].includes(Number(id)))
  t.strictSame(ofOthers(after), ofOthers(before))
  const answer = (await call('GET', `/user/lead/${lead_id}`)).body.data
  t.match(answer, { ...shown, updated_at: /./, secondary_contacts: [shown.secondary_contacts[1]] })
  t.equal(answer.secondary_contacts.length, 1)
  const named = ({ calls }: typeof before) => calls.map(({ id, lead_id }) => [id, lead_id])
  t.strictSame(named(after), named(before))
  t.strictSame((await raw.read(stream)).map(({ type }) => type),
    ['LeadRestated', 'LeadRestated', 'LeadRestated', 'LeadErased'])
  t.notMatch(JSON.stringify((await raw.read(stream)).map(({ data }) => data)), /555321000/, 'all of it is sealed')
  await hasNothingOf(t, service, gone)
  await verified(t, 'after it')
  await replayed(t)
  t.strictSame(await rowsOf(stream), after, 'a replay from what is left gives the same rows')
  const variables = { customer_name: 'Grace' }
  const changed = await call('PUT', `/user/lead/${lead_id}`, { variables })
  t.match(changed, { status: 200, body: { data: { variables, secondary_contacts: [{ id: third }] } } })
  t.match(
    await call('POST', '/user/lead', newLead({ phone_number: number })), { status: 422 }, 'the number is a lead still'
  )
  await erase(number)
  t.equal((await call('GET', `/user/lead/${lead_id}`)).status, 404)
  t.match(await call('POST', '/user/lead', newLead({ phone_number: number })), { status: 200 })
  await verified(t, 'after the lead itself was erased')
})

t.test('an update and a call that come between what readers have and what is told are in it', async (t) => {
  const [number, gone, removed, other] = ['+15553220001', '+15553220002', '+15553220003', '+15553220004'] as const
  const { lead_id, stream, contacts: [, , third = 0] } = await plainLead(number, gone, removed, other)
  const appended: string[] = []
  const meanwhile = [
    () => call('PUT', `/user/lead/${lead_id}`, { variables: { customer_name: 'Changed meanwhile' } }),
    () => callOf(third, '+15553229999', { lead_status: 'processing' }),
    () => call('PUT', `/user/lead/${lead_id}`, { status: 'reached-max-retries' })
  ]
  const watched: typeof streams = {
    ...streams,
    async append (name, events, expected) {
      if (name === stream) await meanwhile.shift()?.()
      const done = await streams.append(name, events, expected)
      appended.push(...events.map(({ type }) => type))
      return done
    }
  }
  await restateLeads({ streams: watched, userId: '1', requestId: randomUUID(), now: at }, stream, async (position) => {
    for (const name of ['leads', 'calls']) await positions.reached(name, position, 10_000)
    return await findStream(pool, { userId: '1', phoneNumber: gone }, stream)
  })
  t.equal(meanwhile.length, 0)
  t.ok(appended.length > 3, 'some were told of twice')
  const shown = (await call('GET', `/user/lead/${lead_id}`)).body.data
  t.match(shown, { status: 'reached-max-retries', variables: { customer_name: 'Changed meanwhile' } })
  t.match(shown.secondary_contacts, [{ phone_number: gone }, { id: third, status: 'processing' }])
  await erase(gone)
  const after = await rowsOf(stream)
  await replayed(t)
  t.strictSame(await rowsOf(stream), after)
})
