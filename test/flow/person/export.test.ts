// A copy of what is known of a person, over HTTP: asked for, made, downloaded, gone.
import t from 'tap'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { apiKeys } from '../../support/auth/api-keys.js'
import { erasing } from '../../support/persons/erasing.js'
import { eventually } from '../../support/eventually.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool, streams } } = service
const keys = apiKeys(service)
const erase = erasing(service)
const phone_number = '+15557654321'
const other = '+15557654322'

const ask = (body: object = { phone_number }, options = {}) => call('POST', '/user/person/export', body, options)
const read = (id: string, options = {}) => call('GET', `/user/person-request/${id}`, undefined, options)
const download = (id: string, options = {}) => call('GET', `/user/person-request/${id}/download`, undefined, options)
const ended = (id: string, options = {}) => eventually(async () => {
  const { body } = await read(id, options)
  return body.data.status !== 'processing' && body.data
})

async function exportOf (number: string, options = {}): Promise<Record<string, unknown>> {
  const { body } = await ask({ phone_number: number }, options)
  await ended(body.data.id, options)
  return (await download(body.data.id, options)).body
}

async function report (assistantId: number, callId: string, given: object): Promise<void> {
  const { status } = await call('POST', `/engine/calls/${callId}/completed`, callReport(assistantId, given), { user: 'engine' })
  t.equal(status, 202, callId)
}

t.test('the document has all that the user has of the number, and nothing of others', async (t) => {
  const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
  const variables = { customer_name: 'Ada', email: 'ada@hidden.example' }
  const contact = { phone_number: other, variables: { customer_name: 'Somebody else' } }
  const lead = (await call('POST', '/user/lead', newLead({ phone_number, variables, secondary_contacts: [contact] }))).body.data
  const holder = (await call('POST', '/user/lead', newLead({ phone_number: '+15557654323', secondary_contacts: [{ phone_number, variables }] }))).body.data
  await report(assistant, 'by-number', { from: phone_number })
  await report(assistant, 'on-the-side-of-the-assistant', { direction: 'outbound', from: phone_number })
  await report(assistant, 'by-lead', { from: 'anonymous', lead_id: lead.id })
  await report(assistant, 'of-another', { from: other })
  await call('POST', '/user/blacklist', { phone_number, reason: 'Asked for it' })
  const { status, body } = await ask()
  t.equal(status, 202)
  t.strictSame(Object.keys(body.data), ['id', 'type', 'status'])
  t.match(body, { message: 'Export started', data: { type: 'export', status: 'processing' } })
  const { created_at: at, ...request } = await ended(body.data.id)
  t.match(request, { id: body.data.id, type: 'export', status: 'completed', finished_at: /^\d{4}-.*Z$/ })
  t.match(at, /^\d{4}-.*Z$/)

  const { headers, body: document } = await download(body.data.id)
  t.match(headers.get('content-disposition'), /attachment/)
  t.strictSame(Object.keys(document), [
    'phone_number', 'exported_at', 'leads', 'contacts', 'calls', 'deliveries', 'blacklist_entry'
  ])
  t.match(document.leads, [{ id: lead.id, phone_number, variables, campaign: { id: lead.campaign_id } }])
  t.match(document.contacts, [{ id: holder.secondary_contacts[0].id, lead_id: holder.id, phone_number, variables }])
  const idsOf = (list: Array<{ call_id: string }>) => list.map(({ call_id: id }) => id).sort()
  t.strictSame(idsOf(document.calls), ['by-lead', 'by-number', 'on-the-side-of-the-assistant'])
  t.ok(document.calls.every(({ transcript }: { transcript: object[] }) => transcript.length > 0))
  t.strictSame(idsOf(document.deliveries), ['by-lead', 'by-number', 'on-the-side-of-the-assistant'])
  t.match(document.blacklist_entry, { phone_number, reason: 'Asked for it' })
  t.notMatch(JSON.stringify(document), /\+1555765432[23]|Somebody else/)
  t.strictSame((await exportOf(phone_number, { user: '2' })).leads, [], 'another user has nothing of it')
})

t.test('calls of a contact whose lead was erased are theirs still, whatever number they were made to', async (t) => {
  const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
  const [gone, contact] = ['+15557654331', '+15557654332']
  const body = newLead({ phone_number: gone, secondary_contacts: [{ phone_number: contact }] })
  const { secondary_contacts: [{ id }] } = (await call('POST', '/user/lead', body)).body.data
  await report(assistant, 'of-contact', { from: 'anonymous', lead_id: id })
  await erase(gone)
  t.match(await exportOf(contact), { contacts: [], calls: [{ call_id: 'of-contact', from: 'anonymous' }] })
})

t.test('a contact went with its lead when that was deleted', async (t) => {
  const contact = '+15557654342'
  const body = newLead({ phone_number: '+15557654341', secondary_contacts: [{ phone_number: contact }] })
  const { id } = (await call('POST', '/user/lead', body)).body.data
  await call('DELETE', `/user/lead/${id}`)
  t.match(await exportOf(contact), { leads: [], contacts: [{ lead_id: id, status: 'deleted' }] })
})

t.test('a do-not-call entry whose number was erased is told of: it holds', async (t) => {
  const gone = '+15557654341'
  const { id } = (await call('POST', '/user/blacklist', { phone_number: gone, reason: 'Asked for it' })).body.data
  await erase(gone)
  t.match(await exportOf(gone), { leads: [], calls: [], blacklist_entry: { id, phone_number: null, reason: null } })
  t.equal((await call('DELETE', `/user/blacklist/${id}`)).status, 200)
  t.match(await exportOf(gone), { blacklist_entry: null })
})

t.test('a copy with a call that an erased person answered is removed, others stay, and one made anew lacks them', async (t) => {
  const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
  const copies = await Promise.all(['1', '2'].map(async (last) => {
    const [asker, answered] = [`+1555765441${last}`, `+1555765442${last}`]
    const { id: lead_id } = (await call('POST', '/user/lead', newLead({ phone_number: asker }))).body.data
    await report(assistant, `answered-${last}`, { from: answered, lead_id })
    const { id } = (await ask({ phone_number: asker })).body.data
    await ended(id)
    return { id, asker, answered }
  }))
  const [one, other] = copies as [typeof copies[0], typeof copies[0]]
  t.match((await download(one.id)).body.calls, [{ call_id: 'answered-1', from: one.answered }])
  await erase(one.answered)
  t.equal((await download(one.id)).status, 410)
  t.equal((await pool.query('SELECT FROM ledger.person_exports WHERE request_id = $1', [one.id])).rowCount, 0)
  t.match((await download(other.id)).body.calls, [{ call_id: 'answered-2', from: other.answered }])
  t.match(await exportOf(one.asker), { calls: [{ call_id: 'answered-1', erased: true, transcript: null }] })
})

t.test('the number is in no event of a request, and in no row once it has ended', async (t) => {
  const { id } = (await ask()).body.data
  await ended(id)
  const events = await streams.read(`personrequest-${id}`)
  t.strictSame(events.map(({ type }) => type), ['PersonRequested', 'PersonRequestCompleted'])
  const text = (rows: unknown) => JSON.stringify(rows, (_key, value) => typeof value === 'bigint' ? String(value) : value)
  t.notMatch(text(events), '5557654321')
  await eventually(async () => (await pool.query("SELECT FROM ledger.work WHERE input <> '{}'")).rowCount === 0)
  const { rows } = await pool.query("SELECT encode(sealed, 'escape') AS sealed, user_id FROM ledger.person_exports")
  t.ok(rows.length > 0)
  t.notMatch(text(rows), '5557654321')
})

t.test('the same Idempotency-Key is the same request', async (t) => {
  const headers = { 'idempotency-key': 'person-once' }
  const first = await ask({ phone_number }, { headers })
  await ended(first.body.data.id)
  const again = await ask({ phone_number }, { headers })
  t.strictSame([again.status, again.body, again.headers.get('idempotent-replayed')], [202, first.body, 'true'])
  t.strictSame(Object.keys((await ask({ phone_number: other }, { headers })).body.errors), ['Idempotency-Key'])
})

t.test('a request and its document are their user’s alone, and no key asks for either', async (t) => {
  const { id } = (await ask()).body.data
  await ended(id)
  for (const answer of [await read(id, { user: '2' }), await download(id, { user: '2' }), await read('abc'), await read(id.replace(/^./, 'g'))]) {
    t.equal(answer.status, 404)
    t.equal(answer.body.message, 'Person request not found or does not belong to the authenticated user')
  }
  const { key } = await keys.make(['read', 'write'])
  const send = keys.with(key)
  t.equal((await send('POST', '/user/person/export', { phone_number })).status, 403)
  t.equal((await send('GET', `/user/person-request/${id}`)).status, 403)
  t.equal((await send('GET', `/user/person-request/${id}/download`)).status, 403)
})

t.test('what is no number is refused, and notes nothing', async (t) => {
  for (const wrong of ['15551230001', '', null, undefined]) {
    const { status, body } = await ask({ phone_number: wrong })
    t.strictSame([status, Object.keys(body.errors)], [422, ['phone_number']])
  }
  t.equal((await pool.query("SELECT FROM ledger.work WHERE state IN ('prepared', 'accepted')")).rowCount, 0)
})

t.test('an export that cannot be read is a failure, and no document', async (t) => {
  const { id } = (await ask()).body.data
  await ended(id)
  await pool.query("UPDATE ledger.person_exports SET key_id = 'lost' WHERE request_id = $1", [id])
  const { status, headers } = await download(id)
  t.strictSame([status, headers.get('content-disposition')], [500, null])
})

t.test('an export is gone after a day, its request is not', async (t) => {
  const { id } = (await ask()).body.data
  await ended(id)
  await pool.query("UPDATE ledger.work SET finished_at = now() - interval '25 hours' WHERE id = $1", [id])
  await eventually(async () => (await download(id)).status === 410, 20_000)
  t.equal((await pool.query('SELECT FROM ledger.person_exports WHERE request_id = $1', [id])).rowCount, 0)
  t.match((await read(id)).body.data, { status: 'completed' })
})
