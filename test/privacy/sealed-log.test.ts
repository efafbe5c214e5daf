// What events say of leads, entries and calls is sealed in the log, and everybody who reads it with the keys has it as
// before; what an engine appends itself is as it wrote it.
import { FORWARDS, START, jsonEvent } from '@eventstore/db-client'
import pino from 'pino'
import t from 'tap'
import { startRoles } from '../../src/services/roles.js'
import { findLead } from '../../projections/find-leads.js'
import { collect } from '../support/back-ends/scratch-event-store.js'
import { newLead, callReport } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { caller, type Call } from '../support/running-service.js'
import { testService, newAssistant } from '../support/service.js'
import { randomUUID } from 'node:crypto'
import { sealedIn } from '../../src/domain/sealed.js'
import { noStream } from '../../src/log/event-log.js'
import { receiver } from '../support/receivers/receiver.js'

const service = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_SCHEDULE: '0s', WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8'
})
const { call, client, config, urls, parts: { pool, personKeys } } = service
const variables = { customer_name: 'Grace Sealed', email: 'grace@sealed.example', plan: 'a hidden plan' }
const phone_number = '+15557770001'
const contact = { phone_number: '+15557770002', variables: { customer_name: 'Alan Sealed' } }

interface Recorded { type: string, streamId: string, bytes: string }

/** Every event as the store has it, without what is of the store itself. */
async function recorded (): Promise<Recorded[]> {
  const all = await collect(client.readAll({ direction: FORWARDS, fromPosition: START }))
  return all.flatMap(({ event }) => event && !event.type.startsWith('$')
    ? [{ type: event.type, streamId: event.streamId, bytes: JSON.stringify([event.data, event.metadata]) }]
    : [])
}

const create = async (body: object, options?: object) => await call('POST', '/user/lead', newLead(body), options)
const read = async (id: number) => await call('GET', `/user/lead/${id}`)

t.test('no event has the number, the name, the e-mail or a variable of a lead, and every answer does', async (t) => {
  const created = (await create({ phone_number, variables, secondary_contacts: [contact] })).body.data
  t.match(created, { phone_number, variables, secondary_contacts: [contact] })
  const changed = { ...variables, email: 'hopper@sealed.example' }
  const added = { phone_number: '+15557770003', variables: { customer_name: 'Ada Sealed' } }
  const [{ id: kept }] = created.secondary_contacts
  const updated = await call('PUT', `/user/lead/${created.id}`, {
    variables: changed, secondary_contacts: [{ id: kept, ...contact }, added], status: 'scheduled'
  })
  t.match(updated, { status: 200, body: { data: { status: 'scheduled', variables: changed, secondary_contacts: [contact, added] } } })
  t.match((await read(created.id)).body.data, { variables: changed, secondary_contacts: [{ id: kept }, added] })
  const events = await recorded()
  t.match(events.filter(({ streamId }) => streamId.startsWith('lead-')).map(({ type }) => type),
    ['LeadCreated', 'LeadUpdated', 'LeadStatusChanged'])
  t.equal(events.filter(({ type }) => type === 'PersonKeyCreated').length, 3, 'one key a person')
  for (const { type, streamId, bytes } of events) {
    t.notMatch(`${streamId} ${bytes}`, /777000|Sealed|sealed\.example|hidden plan/, type)
  }
})

const token = await service.token('1')
/** An API that has seen nothing of what the first one does. */
let other: Call

t.test('one who is known gets no other key, whatever the campaign and the process', async (t) => {
  const keys = async () => (await recorded()).filter(({ type }) => type === 'PersonKeyCreated').length
  const before = await keys()
  t.equal((await create({ phone_number, allow_dupplicate: true, variables })).status, 200)
  await pool.query('TRUNCATE ledger.person_keys')
  other = caller((await service.start(['api'])).url)
  const again = newLead({ phone_number: contact.phone_number, secondary_contacts: [{ phone_number }] })
  t.match(await other('POST', '/user/lead', { token, body: again }), { status: 200 })
  t.equal(await keys(), before)
  t.match(await create({ phone_number }), { status: 422, body: { errors: { phone_number: [/already a lead/] } } })
})

t.test('the same key for one number is another for another user', async (t) => {
  const persons = async () => new Set((await recorded()).flatMap(({ type, streamId }) =>
    type === 'PersonKeyCreated' ? streamId : []))
  const before = (await persons()).size
  const { body: { data: campaign } } = await call('POST', '/user/campaign', { name: 'Theirs' }, { user: 'other' })
  t.equal((await create({ phone_number, campaign_id: campaign.id }, { user: 'other' })).status, 200)
  t.equal((await persons()).size, before + 1)
})

t.test('without its key a lead is not there, a contact is not with it, and the number is created anew', async (t) => {
  const erased = '+15557770008'
  const lead = (await create({ phone_number: erased, variables })).body.data
  const holder = (await create({ phone_number: '+15557770009', secondary_contacts: [{ phone_number: erased }, contact] })).body.data
  t.equal(await personKeys.erase('1', erased), true)
  t.equal(await personKeys.erase('1', erased), false, 'it is over')
  const { pool: fresh, databaseUrl } = await scratchLedger(t)
  const running = await startRoles(['projector'], config, { ...urls, databaseUrl }, pino({ level: 'silent' }))
  t.teardown(() => running.stop())
  const left = await eventually(async () => (await findLead(fresh, '1', holder.id))?.lead.secondary_contacts ?? false)
  t.match(left, [contact])
  t.equal(left.length, 1)
  t.equal(await findLead(fresh, '1', lead.id), undefined)
  t.equal((await fresh.query('SELECT FROM ledger.parked_events')).rowCount, 0)
  const [stream, holderStream] = (await pool.query(
    'SELECT stream FROM read_model.leads WHERE id = ANY($1) ORDER BY id', [[lead.id, holder.id]])).rows.map((row) => row.stream)
  const [gone] = holder.secondary_contacts
  t.match(await service.parts.streams.read(stream), [{ type: 'LeadErased', data: { lead_id: lead.id, contact_ids: [] } }],
    'its id is plain, at its place')
  t.match(
    await service.parts.streams.read(holderStream), [{ type: 'LeadCreated', data: { erased_contacts: [gone.id] } }]
  )
  const body = newLead({ phone_number: erased })
  t.match(await other('POST', '/user/lead', { token, body }), { status: 200, body: { data: { phone_number: erased } } })
})

const entry = { phone_number: '+15557790001', reason: 'A hidden reason' }
const entries = async () => (await pool.query<{ stream: string }>('SELECT stream FROM read_model.blacklist')).rows
const bytesOf = async (stream: string) => JSON.stringify((await collect(client.readStream(stream, {
  direction: FORWARDS
}))).map(({ event }) => event?.data))

t.test('neither number nor reason are in its events, and its user reads both', async (t) => {
  const { phone_number } = entry
  const { body: { data: listed } } = await call('POST', '/user/blacklist', entry)
  t.match(listed, entry)
  const [{ stream } = { stream: '' }] = await entries()
  t.notMatch(await bytesOf(stream), /779000|hidden/)
  t.match((await call('GET', '/user/blacklist')).body.data, [listed])
  t.match(await call('POST', '/user/lead', newLead({ phone_number })), { status: 422 })
  t.equal((await call('DELETE', `/user/blacklist/${listed.id}`)).status, 200)
  t.notMatch(await bytesOf(stream), /779000|hidden/)
  t.match(await call('POST', '/user/lead', newLead({ phone_number })), { status: 200 })
})

t.test('without its key the number is still not called, in every process', async (t) => {
  const { phone_number } = entry
  const { body: { data: { id } } } = await call('POST', '/user/blacklist', entry)
  t.equal(await personKeys.erase('1', phone_number), true)
  const [{ stream } = { stream: '' }] = await entries()
  t.match(
    (await service.parts.streams.read(stream)).at(-1), { type: 'PhoneNumberBlacklisted', data: { phone_number: null, reason: null } }
  )
  const send = (method: string, path: string, body?: object) => other(method, path, { token, body })
  const body = newLead({ phone_number, allow_dupplicate: true })
  t.match(await send('POST', '/user/lead', body), { status: 422 })
  t.equal((await send('DELETE', `/user/blacklist/${id}`)).status, 200, 'its user may end it')
  t.match((await service.parts.streams.read(stream)).at(-1), { type: 'PhoneNumberUnblacklisted', data: { blacklist_id: id } })
  t.match(await send('POST', '/user/lead', body), { status: 200 })
  t.equal((await pool.query('SELECT FROM ledger.parked_events')).rowCount, 0)
})

const hook = await receiver(t)
const assistantId: number = (await call('POST', '/user/assistant', {
  ...newAssistant, is_webhook_active: true, webhook_url: hook.url
})).body.data.id
const said = {
  from: '+15557780001',
  to: '+15557780002',
  recording_url: 'https://recordings.example.com/hidden',
  transcript: [{ role: 'customer' as const, text: 'A hidden word', at: 1 }],
  input_variables: { customer_name: 'Grace hidden' },
  extracted_variables: { summary: 'hidden' }
}
const report = (given: object = {}) => callReport(assistantId, { ...said, ...given })
const send = async (callId: string, body: object) =>
  await call('POST', `/engine/calls/${callId}/completed`, body, { user: 'engine' })
const bytes = (callId: string) => bytesOf(`call-${callId}`)

t.test('a report over HTTP: its event has nothing of the person, and its owner and their receiver have all', async (t) => {
  t.equal((await send('sealed', report())).status, 202)
  const stored = await bytes('sealed')
  t.notMatch(stored, /778000|hidden/)
  t.match(JSON.parse(stored), [{ call_id: 'sealed', assistant_id: assistantId, status: 'completed', sealed: { text: /./ } }])
  const shown = await eventually(async () => {
    const answer = await call('GET', '/user/call/sealed')
    return answer.status === 200 && answer
  })
  t.match(shown.body.data, said)
  await eventually(() => hook.received.length === 1)
  t.match(String(hook.received[0]?.body), /A hidden word/)
})

t.test('an event that an engine appends stays as it is', async (t) => {
  const data = { call_id: 'of-engine', ...report() }
  await service.parts.streams.append('call-of-engine', [{ id: randomUUID(), type: 'CallCompleted', data, metadata: {} }], noStream)
  t.strictSame(JSON.parse(await bytes('of-engine')), [data])
})

t.test('a call is under the key of who called or was called: without it nothing but what is plain can be read', async (t) => {
  t.equal((await send('outbound', report({ direction: 'outbound' }))).status, 202)
  t.equal(await personKeys.erase('1', said.from), true)
  t.match(await service.parts.streams.read('call-sealed'),
    [{ type: 'CallErased', data: { call_id: 'sealed', status: 'completed' }, metadata: { was: 'CallCompleted' } }])
  t.match((await service.parts.streams.read('call-outbound')).map(({ type, data }) => ({ type, data })), [{ type: 'CallCompleted', data: said }])
  t.equal((await pool.query('SELECT FROM ledger.parked_events')).rowCount, 0)
})

/** Anybody who reaches the event store can append what looks sealed: it stops nobody, and is kept by nobody. */
const sound = { person: `${'0'.repeat(32)}-${'1'.repeat(32)}`, key_id: randomUUID(), text: 'AAAA' }
const odd = {
  'a person of a million characters': { ...sound, person: `a-${'b'.repeat(1_000_000)}` },
  'a person without a number': { ...sound, person: 'abc' },
  'a key that is no UUID': { ...sound, key_id: 'the key' },
  'nothing, and the person in plain': undefined
}

t.test('events whose sealed part is odd cannot be read, and what comes behind them can', async (t) => {
  t.strictSame(sealedIn({ sealed: sound }), sound)
  for (const [title, sealed] of Object.entries(odd)) {
    t.equal(sealedIn({ sealed }), undefined, title)
    const at = '2026-01-31T12:00:00.000Z'
    const person = sealed ? { sealed } : { phone_number: '+15550000001', variables: { customer_name: 'Ada', email: '' } }
    const data = { lead_id: 900_000, user_id: '1', campaign_id: 1, ...person, secondary_contacts: [], created_at: at }
    await client.appendToStream(`lead-1-${randomUUID()}`, jsonEvent({ id: randomUUID(), type: 'LeadCreated', data, metadata: {} }))
  }
  const created = await create({ phone_number: '+15550000002' })
  const headers = { 'x-read-position': created.headers.get('x-read-position') ?? '' }
  const read = await eventually(async () => {
    const answer = await call('GET', `/user/lead/${created.body.data.id}`, undefined, { headers })
    return answer.status !== 503 && answer // the read model may be late, also for one that is pending in the answer
  })
  t.match(read, { status: 200, body: { data: { id: created.body.data.id } } })
  t.equal((await call('GET', '/user/lead/900000')).status, 404)
})
