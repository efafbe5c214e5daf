// A call that is reported when its person was erased already, and names them by the id of the lead or contact alone:
// nothing of it stays, and nobody has to ask.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import { secrets } from '../../support/auth/secrets.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { call as reported } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { hasNothingOf } from '../../support/persons/persons.js'
import { dataDir, run } from '../../support/ringledger.js'
import { newAssistant, testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool, streams }, urls } = service
const webhook = { is_webhook_active: true, webhook_url: 'https://hooks.example.com/calls' }
const assistant = (await call('POST', '/user/assistant', { ...newAssistant, ...webhook })).body.data.id
const engine = { headers: { authorization: `Bearer ${await service.token('engine', 'engine')}` } }
const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
const elsewhere = '+15559990001'
const phone_number = '+15559990002'
const beside = { phone_number: '+15559990003', variables: {} }

const lead = (await call('POST', '/user/lead', newLead({ phone_number, secondary_contacts: [beside] }))).body.data
const person = { phone_number, variables: {} }
const holder = (await call('POST', '/user/lead', newLead({ phone_number: '+15559990004', secondary_contacts: [person] }))).body.data
const contact = holder.secondary_contacts[0].id
const { body: { data: { id: request } } } = await call('POST', '/user/person/erase', { phone_number })
await eventually(async () => (await call('GET', `/user/person-request/${request}`)).body.data.status === 'completed')

async function overHttp (id: string, lead_id: number): Promise<void> {
  const answer = await call('POST', `/engine/calls/${id}/completed`, callReport(assistant, { from: elsewhere, lead_id }), engine)
  t.equal(answer.status, 202)
}

async function byEngine (id: string, lead_id: number): Promise<void> {
  const data = reported(id, { assistant_id: assistant, from: elsewhere, lead_id })
  await streams.append(callStream(id), [{ id: randomUUID(), type: 'CallCompleted', metadata: {}, data }], -1n)
}

const deliveryOf = async (id: string) => (await pool.query(`
  SELECT status, reason, body, erased_at IS NOT NULL AS is_erased FROM ledger.webhook_deliveries WHERE call_id = $1`, [id])).rows

async function isErased (t: Test, id: string): Promise<void> {
  await eventually(
    async () => (await streams.read(callStream(id))).map(({ type }) => type).join() === 'CallErased', 60_000
  )
  await eventually(async () => (await deliveryOf(id))[0]?.is_erased, 60_000)
  const { body: { data } } = await call('GET', `/user/call/${id}`)
  t.match(data, { erased: true, from: null, to: null, transcript: null, recording_url: null, status: 'completed' }, id)
  t.strictSame(await deliveryOf(id), [{ status: 'skipped', reason: 'erased', body: null, is_erased: true }], id)
}

t.test('a call of an erased lead or contact is erased as it comes', async (t) => {
  await overHttp('late-lead-http', lead.id)
  await byEngine('late-lead-event', lead.id)
  await overHttp('late-contact-http', contact)
  await byEngine('late-contact-event', contact)
  const late = ['late-lead-http', 'late-lead-event', 'late-contact-http', 'late-contact-event']
  for (const id of late) {
    await eventually(async () => (await call('GET', `/user/call/${id}`)).status === 200)
    t.match((await call('GET', `/user/call/${id}`)).body.data, { erased: true, from: null, transcript: null }, 'at once')
  }
  for (const id of late) await isErased(t, id)
  await eventually(async () => {
    const { rows } = await pool.query("SELECT state FROM ledger.work WHERE kind = 'late-call-erasure'")
    return rows.length > 0 && rows.every(({ state }) => state === 'completed')
  }, 60_000)
  await hasNothingOf(t, service, elsewhere)
  t.strictSame((await pool.query('SELECT FROM read_model.calls WHERE is_to_erase')).rowCount, 0)
  for (const name of ['verify', 'replay', 'verify']) {
    const { code, stdout, stderr } = await run(t, ['projections', name, 'calls'], env)
    t.equal(code, 0, `${name}: ${stdout}${stderr}`)
  }
})

t.test('one of a contact that only went with its lead is of another person, and kept', async (t) => {
  await overHttp('late-beside', lead.secondary_contacts[0].id)
  await overHttp('late-last', lead.id)
  await isErased(t, 'late-last')
  t.match((await call('GET', '/user/call/late-beside')).body.data, { from: elsewhere, transcript: [{}] })
  t.match(await deliveryOf('late-beside'), [{ body: /call/ }])
})
