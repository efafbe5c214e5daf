// What events say of leads is sealed in the log, and everybody who reads it with the keys has it as before.
import { FORWARDS, START } from '@eventstore/db-client'
import pino from 'pino'
import t from 'tap'
import { startRoles } from '../../src/services/roles.js'
import { openPool } from '../../src/postgres/pool.js'
import { collect } from '../support/back-ends/scratch-event-store.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'
import { newLead } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { caller } from '../support/running-service.js'
import { testService } from '../support/service.js'

const service = await testService(t)
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

t.test('one who is known gets no other key, whatever the campaign and the process', async (t) => {
  const keys = async () => (await recorded()).filter(({ type }) => type === 'PersonKeyCreated').length
  const before = await keys()
  t.equal((await create({ phone_number, allow_dupplicate: true, variables })).status, 200)
  await pool.query('TRUNCATE ledger.person_keys')
  const other = await service.start(['api'])
  const token = await service.token('1')
  const again = newLead({ phone_number: contact.phone_number, secondary_contacts: [{ phone_number }] })
  t.match(await caller(other.url)('POST', '/user/lead', { token, body: again }), { status: 200 })
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

t.test('an empty Postgres has everybody again, from the log alone', async (t) => {
  const fresh = await scratchPostgres(t)
  const running = await startRoles(
    ['api', 'projector'], config, { ...urls, databaseUrl: fresh.url }, pino({ level: 'silent' })
  )
  t.teardown(() => running.stop())
  const lists = async (url: string) => (await caller(url)('GET', '/user/leads?per_page=100', { token: await service.token('1') }))
  const wanted = (await lists(service.url)).body.data
  t.ok(wanted.length >= 3)
  await eventually(async () => (await lists(running.url)).body.data?.length === wanted.length)
  t.strictSame((await lists(running.url)).body.data, wanted)
})

t.test('without its key a lead is not there, a contact is not with it, and the number is created anew', async (t) => {
  const erased = '+15557770008'
  const lead = (await create({ phone_number: erased, variables })).body.data
  const holder = (await create({ phone_number: '+15557770009', secondary_contacts: [{ phone_number: erased }, contact] })).body.data
  t.equal(await personKeys.erase('1', erased), true)
  t.equal(await personKeys.erase('1', erased), false, 'it is over')
  const fresh = await scratchPostgres(t)
  const running = await startRoles(
    ['api', 'projector'], config, { ...urls, databaseUrl: fresh.url }, pino({ level: 'silent' })
  )
  t.teardown(() => running.stop())
  const send = caller(running.url)
  const token = await service.token('1')
  const position = { 'x-read-position': String(await service.parts.streams.head()) }
  const inFresh = async (id: number) => await send('GET', `/user/lead/${id}`, { token, headers: position })
  await eventually(async () => (await inFresh(holder.id)).status === 200)
  const left = (await inFresh(holder.id)).body.data.secondary_contacts
  t.match(left, [contact])
  t.equal(left.length, 1)
  t.equal((await inFresh(lead.id)).status, 404)
  const freshPool = openPool(fresh.url, { applicationName: 'test', onError: () => {} })
  t.teardown(() => freshPool.end())
  t.equal((await freshPool.query('SELECT FROM ledger.parked_events')).rowCount, 0)
  const [stream, holderStream] = (await pool.query(
    'SELECT stream FROM read_model.leads WHERE id = ANY($1) ORDER BY id', [[lead.id, holder.id]])).rows.map((row) => row.stream)
  const [gone] = holder.secondary_contacts
  t.match(await service.parts.streams.read(stream), [{ type: 'LeadErased', data: { lead_id: lead.id, contact_ids: [] } }],
    'its id is plain, at its place')
  t.match(
    await service.parts.streams.read(holderStream), [{ type: 'LeadCreated', data: { erased_contacts: [gone.id] } }]
  )
  const other = await service.start(['api'])
  const body = newLead({ phone_number: erased })
  t.match(await caller(other.url)('POST', '/user/lead', { token, body }), { status: 200, body: { data: { phone_number: erased } } })
})
