// A contact went with a lead that was erased where releases before sealing had written it: calls of the contact keep
// their lead in a replay, also one that comes between what readers have and what is told, and whatever breaks off.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { findLeadsOn } from '../../../projections/persons/to-erase.js'
import { digestOfNumbers } from '../../../src/composition/digest-of-numbers.js'
import { eraseLeads } from '../../../src/command-handling/person/erase-streams.js'
import { leadStream } from '../../../src/domain/lead/events.js'
import { openStreams, type Streams } from '../../../src/event-store/streams.js'
import { secrets } from '../../support/auth/secrets.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { callReport } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { dataDir, run } from '../../support/ringledger.js'
import { newAssistant, testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, config, parts: { pool, streams, positions }, urls } = service
const raw = openStreams(connectionTo(t, urls.eventStoreUrl))
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
const engine = { headers: { authorization: `Bearer ${await service.token('engine', 'engine')}` } }
const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
const [number, beside] = ['+15557770001', '+15557770002']
const digest = digestOfNumbers(config)
const stream = leadStream(1, digest(number))
const variables = { customer_name: 'Ada', email: '' }
const [lead_id, contact] = [700_000, 700_001]

async function answered (id: string): Promise<void> {
  await call('POST', `/engine/calls/${id}/completed`, callReport(assistant, { from: beside, lead_id: contact }), engine)
  await eventually(async () => (await call('GET', `/user/call/${id}`)).status === 200)
}

const named = async () => (await pool.query('SELECT id, lead_id FROM read_model.calls ORDER BY id')).rows

t.test('all calls of a contact that went with an erased lead keep it', async (t) => {
  const secondary_contacts = [{ id: contact, phone_number: beside, variables }]
  const whose = { lead_id, user_id: '1', campaign_id: 1 }
  const data = { ...whose, phone_number: number, variables, secondary_contacts, created_at: '2026-01-31T12:00:00.000Z' }
  await raw.append(stream, [{ id: randomUUID(), type: 'LeadCreated', data, metadata: {} }], -1n)
  await positions.reached('calls', await raw.head(), 10_000)
  await answered('before')
  const meanwhile = [() => answered('between')]
  const watched: Streams = {
    ...streams,
    async append (name, events, expected) {
      if (name === stream) await meanwhile.shift()?.()
      return await streams.append(name, events, expected)
    },
    async truncate () { throw new Error('the worker ends here') }
  }
  const options = { streams: watched, userId: '1', requestId: randomUUID(), now: new Date().toISOString() }
  await t.rejects(eraseLeads(options, stream, 1, async (position) => {
    for (const name of ['leads', 'calls']) await positions.reached(name, position, 10_000)
    return await findLeadsOn(pool, { userId: '1', phoneNumber: number }, stream, digest)
  }), { message: 'the worker ends here' })
  const { body: { data: { id } } } = await call('POST', '/user/person/erase', { phone_number: number })
  await eventually(async () => (await call('GET', `/user/person-request/${id}`)).body.data.status === 'completed', 60_000)
  t.strictSame((await raw.read(stream)).map(({ type }) => type), ['LeadErased', 'LeadErased'])
  const before = await named()
  t.strictSame(before.map(({ id, lead_id }) => [id, Number(lead_id)]), [['before', contact], ['between', contact]])
  for (const name of ['verify', 'replay', 'verify']) {
    const { code, stdout, stderr } = await run(t, ['projections', name, 'calls'], env)
    t.equal(code, 0, `${name}: ${stdout}${stderr}`)
  }
  t.strictSame(await named(), before)
})
