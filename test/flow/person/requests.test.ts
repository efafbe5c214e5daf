// Requests about a person, over HTTP. First without a worker: those whose work breaks off. Then a worker makes a copy
// of what is known of a person, which is downloaded and gone, and an erasure leaves nothing to see.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { erasuresFound } from '../../../src/cli/doctor/service.js'
import { skipParked } from '../../../src/ops/parked.js'
import { callStream } from '../../../src/features/calls/events.js'
import { personRequestStream } from '../../../src/features/persons/events.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { erasureKind, exportKind, mostOfUser, preparePersonRequest } from '../../../workers/persons/erasure-rows.js'
import { beginExport, type ExportWork, personExports, readExport } from '../../../workers/persons/exports.js'
import { giveTurn } from '../../../workers/work/run.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { apiKeys } from '../../support/auth/api-keys.js'
import { eventually } from '../../support/eventually.js'
import type { Answer } from '../../support/running-service.js'
import { newAssistant, testService } from '../../support/service.js'
import { call as reported } from '../../support/events/call-events.js'
import { erasing } from '../../support/persons/erasing.js'
import { haveCome } from '../../support/persons/persons.js'

const service = await testService(t)
const { call, parts, parts: { pool, streams } } = service
const keys = apiKeys(service)

const [copied, somebody] = ['+15557664321', '+15557664322']
const askCopy = (body: object = { phone_number: copied }, options = {}) => call('POST', '/user/person/export', body, options)
const askErasure = (body: object, options = {}) => call('POST', '/user/person/erase', body, options)
const read = (id: string, options = {}) => call('GET', `/user/person-request/${id}`, undefined, options)
const download = (id: string, options = {}) => call('GET', `/user/person-request/${id}/download`, undefined, options)
const eraseHere = erasing(service)
const ended = (id: string, options = {}) => eventually(async () => {
  const { body } = await read(id, options)
  return body.data.status !== 'processing' && body.data
})
const get = async (path: string, options = {}) => (await call('GET', path, undefined, options)).body
const statusOf = async (path: string) => (await call('GET', path)).status
const newOne = async (lead: object, options = {}) => (await call('POST', '/user/lead', newLead(lead), options)).body.data
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id

async function report (callId: string, given: object): Promise<void> {
  const { status } = await call('POST', `/engine/calls/${callId}/completed`, callReport(assistant, given), { user: 'engine' })
  t.equal(status, 202, callId)
}

async function exportOf (number: string, options = {}): Promise<Answer['body']> {
  const { body } = await askCopy({ phone_number: number }, options)
  await ended(body.data.id, options)
  return (await download(body.data.id, options)).body
}

const work = { ...parts, sources: ['leads', 'calls'] }
const asked = '+15557664391'
const stateOf = async (id: string) => (await read(id)).body.data.status

t.test('a copy that broke off after its document was written is made again, and ends once', async (t) => {
  const { id } = (await askCopy({ phone_number: asked })).body.data
  t.equal((await download(id)).status, 409)
  const { signal } = new AbortController()
  const log = { warn () {}, info () {} }
  const giveOn = (on: ExportWork) =>
    giveTurn({ pool, kinds: { [exportKind]: personExports(on) }, holder: 'test', turnMs: 2_000, retryMs: 1, signal, log }, id)
  let tries = 0
  const append = async () => {
    tries += 1
    throw new Error('the process ends here')
  }
  await eventually(async () => {
    await giveOn({ ...work, streams: { ...streams, append } })
    return tries > 0
  })
  t.equal(await stateOf(id), 'processing')
  await eventually(async () => {
    await giveOn(work)
    return await stateOf(id) === 'completed'
  })
  t.equal((await streams.read(personRequestStream(id))).length, 2)
  t.match((await download(id)).body, { phone_number: asked, leads: [] })
})

t.test('a user has so many requests under way at most, whatever others have', async (t) => {
  const prepare = (kind: 'export' | 'erasure', id: string = randomUUID()) =>
    preparePersonRequest(pool, work.keys, kind, { id, userId: '7', phoneNumber: asked })
  const fill = (kind: string, count: number) => pool.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input) SELECT gen_random_uuid(), $1, '7', 'accepted', '{}'
    FROM generate_series(1, $2)`, [kind, count])
  await fill(exportKind, mostOfUser - 5)
  const taken = await Promise.all(Array.from({ length: 15 }, () => prepare('export')))
  t.equal(taken.filter((isTaken) => isTaken).length, 5, 'also at the same time')
  const { status, headers } = await askCopy({ phone_number: asked }, { user: '7' })
  t.match([status, headers.get('retry-after')], [429, '10'])
  const erasure = randomUUID()
  await prepare('erasure', erasure)
  await pool.query("UPDATE ledger.work SET state = 'completed' WHERE id = $1", [erasure])
  await fill(erasureKind, mostOfUser)
  t.ok(await prepare('erasure', erasure), 'a retry of one that was taken is not refused')
  t.equal((await askErasure({ phone_number: asked }, { user: '7' })).status, 429)
  t.equal((await askCopy({ phone_number: asked }, { user: '8' })).status, 202)
})

t.test('a long document is kept in parts, and reads as it was written', async (t) => {
  const place = { id: randomUUID(), userId: '1' }
  await preparePersonRequest(pool, work.keys, 'export', { ...place, phoneNumber: asked })
  const pieces = Array.from({ length: 40 }, (_, nth) => `${nth} ${'é'.repeat(20_000)}`)
  await inTransaction(pool, async (tx) => {
    const { write, end } = await beginExport(tx, work.keys, place)
    for (const piece of pieces) await write(piece)
    await end()
  })
  const parts = []
  for await (const part of readExport(pool, work.keys, place)) parts.push(part)
  t.ok(parts.length > 2)
  t.equal(parts.join(''), pieces.join(''))
})

t.test('now a worker begins', async () => {
  await pool.query('DELETE FROM ledger.work') // what the tests above left for it
  await service.start(['worker'])
})

t.test('a copy has all that the user has of the number, and nothing of others', async (t) => {
  const variables = { customer_name: 'Ada', email: 'ada@known.example' }
  const contact = { phone_number: somebody, variables: { customer_name: 'Somebody else' } }
  const lead = (await call('POST', '/user/lead', newLead({ phone_number: copied, variables, secondary_contacts: [contact] }))).body.data
  const holder = (await call('POST', '/user/lead', newLead({ phone_number: '+15557664323', secondary_contacts: [{ phone_number: copied, variables }] }))).body.data
  await report('by-number', { from: copied })
  await report('on-the-side-of-the-assistant', { direction: 'outbound', from: copied })
  await report('by-lead', { from: 'anonymous', lead_id: lead.id })
  await report('of-another', { from: somebody })
  await call('POST', '/user/blacklist', { phone_number: copied, reason: 'Asked for it' })
  const { status, body } = await askCopy()
  t.equal(status, 202)
  t.match(body, { message: 'Export started', data: { type: 'export', status: 'processing' } })
  const request = { id: body.data.id, type: 'export', status: 'completed', finished_at: /^\d{4}-.*Z$/ }
  t.match(await ended(body.data.id), request)

  const { headers, body: document } = await download(body.data.id)
  t.match(headers.get('content-disposition'), /attachment/)
  t.strictSame(Object.keys(document), [
    'phone_number', 'exported_at', 'leads', 'contacts', 'calls', 'deliveries', 'blacklist_entry'
  ])
  t.match(document.leads, [{ id: lead.id, phone_number: copied, variables, campaign: { id: lead.campaign_id } }])
  t.match(document.contacts, [
    { id: holder.secondary_contacts[0].id, lead_id: holder.id, phone_number: copied, variables }
  ])
  const idsOf = (list: Array<{ call_id: string }>) => list.map(({ call_id: id }) => id).sort()
  t.strictSame(idsOf(document.calls), ['by-lead', 'by-number', 'on-the-side-of-the-assistant'])
  t.ok(document.calls.every(({ transcript }: { transcript: object[] }) => transcript.length > 0))
  t.strictSame(idsOf(document.deliveries), ['by-lead', 'by-number', 'on-the-side-of-the-assistant'])
  t.match(document.blacklist_entry, { phone_number: copied, reason: 'Asked for it' })
  t.notMatch(JSON.stringify(document), /\+1555766432[23]|Somebody else/)
  t.strictSame((await exportOf(copied, { user: '2' })).leads, [], 'another user has nothing of it')
})

t.test('a copy has the calls of a contact whose lead was erased, whatever number they were made to', async (t) => {
  const [gone, contact] = ['+15557664331', '+15557664332']
  const body = newLead({ phone_number: gone, secondary_contacts: [{ phone_number: contact }] })
  const { secondary_contacts: [{ id }] } = (await call('POST', '/user/lead', body)).body.data
  await report('of-contact', { from: 'anonymous', lead_id: id })
  await eraseHere(gone)
  t.match(await exportOf(contact), { contacts: [], calls: [{ call_id: 'of-contact', from: 'anonymous' }] })
})

t.test('an erasure removes copies with calls that the person answered; other copies stay, and new ones lack the calls', async (t) => {
  const [asker, answered] = ['+15557664411', '+15557664421']
  const { id: lead_id } = (await call('POST', '/user/lead', newLead({ phone_number: asker }))).body.data
  await report('answered', { from: answered, lead_id })
  const [one, other] = await Promise.all([asker, copied].map(async (phone_number) => {
    const { id } = (await askCopy({ phone_number })).body.data
    await ended(id)
    return id
  }))
  t.match((await download(one)).body.calls, [{ call_id: 'answered', from: answered }])
  await eraseHere(answered)
  t.equal((await download(one)).status, 410)
  t.equal((await pool.query('SELECT FROM ledger.person_exports WHERE request_id = $1', [one])).rowCount, 0)
  t.equal((await download(other)).body.calls.length, 3)
  t.match(await exportOf(asker), { calls: [{ call_id: 'answered', erased: true, transcript: null }] })
})

t.test('a request and its document are their user’s alone, for a day; no event and no row has the number', async (t) => {
  const headers = { 'idempotency-key': 'person-once' }
  const first = await askCopy({ phone_number: copied }, { headers })
  const { id } = first.body.data
  await ended(id)
  const again = await askCopy({ phone_number: copied }, { headers })
  t.strictSame([again.status, again.body, again.headers.get('idempotent-replayed')], [202, first.body, 'true'])
  t.strictSame(Object.keys((await askCopy({ phone_number: somebody }, { headers })).body.errors), ['Idempotency-Key'])

  for (const answer of [await read(id, { user: '2' }), await download(id, { user: '2' }), await read('abc')]) t.equal(answer.status, 404)
  const { key } = await keys.make(['read', 'write'])
  for (const [method, path] of [
    ['POST', 'person/export'], ['POST', 'person/erase'], ['GET', `person-request/${id}`], ['GET', `person-request/${id}/download`]
  ] as const) {
    const body = method === 'POST' ? { phone_number: copied } : undefined
    t.equal((await keys.with(key)(method, `/user/${path}`, body)).status, 403, path)
  }

  const events = await streams.read(`personrequest-${id}`)
  t.strictSame(events.map(({ type }) => type), ['PersonRequested', 'PersonRequestCompleted'])
  const text = (rows: unknown) => JSON.stringify(rows, (_key, value) => typeof value === 'bigint' ? String(value) : value)
  t.notMatch(text(events), '5557664321')
  await eventually(async () => (await pool.query("SELECT FROM ledger.work WHERE input <> '{}'")).rowCount === 0)
  const { rows } = await pool.query("SELECT encode(sealed, 'escape') AS sealed, user_id FROM ledger.person_exports")
  t.ok(rows.length > 0)
  t.notMatch(text(rows), '5557664321')

  await pool.query("UPDATE ledger.work SET finished_at = now() - interval '25 hours' WHERE id = $1", [id])
  await eventually(async () => (await download(id)).status === 410, 20_000)
  t.equal((await pool.query('SELECT FROM ledger.person_exports WHERE request_id = $1', [id])).rowCount, 0)
  t.match((await read(id)).body.data, { status: 'completed' })
})

/** As an engine appends it. */
const completed = (id: string, given: object) =>
  ({ id: randomUUID(), type: 'CallCompleted', metadata: {}, data: reported(id, { assistant_id: assistant, ...given }) })

const phone_number = '+15557654321'
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
const other = { phone_number: '+15557654322', variables: { customer_name: 'Somebody Else' } }

t.test('a number of the user’s own is no person, until it is released: every call names it', async (t) => {
  const phone_number = '+15557654311'
  const { id } = (await call('POST', '/user/phone-number', { phone_number })).body.data
  await report('of-a-customer', { from: other.phone_number, to: phone_number })
  for (const what of ['erase', 'export']) {
    t.equal((await call('POST', `/user/person/${what}`, { phone_number: '15551230001' })).status, 422)
    const { status, body } = await call('POST', `/user/person/${what}`, { phone_number })
    t.match({ status, body }, { status: 422, body: { errors: { phone_number: ['is one of your own phone numbers, and no person'] } } })
  }
  t.match((await get('/user/call/of-a-customer')).data, { to: phone_number }, 'calls of others stay')
  t.equal((await call('POST', '/user/person/export', { phone_number }, { user: '2' })).status, 202, 'others know it as a person')
  await call('DELETE', `/user/phone-number/${id}`)
  t.equal((await call('POST', '/user/person/export', { phone_number })).status, 202)
})

/** A lead, a contact, calls of both kinds and an entry; and what others have beside it. */
async function known () {
  const options = { headers: { 'idempotency-key': 'lead-0' } }
  const lead = await newOne({ phone_number, variables, secondary_contacts: [other] }, options)
  const holder = await newOne(
    { phone_number: '+15557654323', secondary_contacts: [{ phone_number, variables }, other] }
  )
  await report('erased-number', { from: phone_number })
  await report('erased-lead', { from: 'anonymous', lead_id: lead.id })
  await report('kept', { from: other.phone_number })
  await streams.append(callStream('erased-by-event'), [completed('erased-by-event', { from: phone_number, lead_id: null })], -1n)
  await eventually(async () => await statusOf('/user/call/erased-by-event') === 200)
  await call('POST', '/user/blacklist', { phone_number, reason: 'Asked for it' })
  return { lead, holder }
}

t.test('after an erasure leads, contacts and calls of the number show nothing of the person', async (t) => {
  const { lead, holder } = await known()
  const headers = { 'idempotency-key': 'erase-1' }
  const { status, body } = await askErasure({ phone_number }, { headers })
  t.match({ status, body }, { status: 202, body: { message: 'Erasure started', data: { type: 'erasure', status: 'processing' } } })
  t.match(await ended(body.data.id), { id: body.data.id, type: 'erasure', status: 'completed', finished_at: /Z$/ })
  t.equal((await askErasure({ phone_number }, { headers })).body.data.id, body.data.id)

  t.equal(await statusOf(`/user/lead/${lead.id}`), 404)
  t.equal(await statusOf(`/user/lead/${holder.secondary_contacts[0].id}`), 404)
  t.equal((await call('PUT', `/user/lead/${lead.id}`, { variables: {} })).status, 404)
  t.match((await get(`/user/lead/${holder.id}`)).data.secondary_contacts, [{ phone_number: other.phone_number }])
  t.equal((await get(`/user/lead/${holder.id}`)).data.secondary_contacts.length, 1)
  t.notMatch(JSON.stringify(await get('/user/leads?per_page=100')), /7654321|Hidden/)
  t.strictSame((await get('/user/leads?search=%2B15557654321')).data, [])
  for (const id of ['erased-number', 'erased-lead', 'erased-by-event']) {
    const { data } = await get(`/user/call/${id}`)
    t.match(data, { call_id: id, assistant_id: assistant, erased: true, status: 'completed' })
    const gone = ['from', 'to', 'transcript', 'recording_url', 'input_variables', 'extracted_variables', 'evaluation']
    t.same(gone.filter((field) => data[field] !== null), [])
    t.notOk(JSON.stringify(data).includes(phone_number), id)
  }
  t.match((await get('/user/call/kept')).data, { from: other.phone_number, transcript: [{}] })
  t.notOk('erased' in (await get('/user/call/kept')).data)
})

t.test('a do-not-call entry holds without its number, and once it is deleted the number can be created anew', async (t) => {
  const [entry] = (await get('/user/blacklist')).data
  t.match(entry, { phone_number: null, reason: null })
  t.equal((await call('POST', '/user/lead', newLead({ phone_number }))).status, 422, 'the entry holds')
  const kept = { id: entry.id, phone_number: null, reason: null }
  t.match(await exportOf(phone_number), { leads: [], calls: [], blacklist_entry: kept }, 'and is in a copy')
  t.equal((await call('DELETE', `/user/blacklist/${entry.id}`)).status, 200)
  t.match(await exportOf(phone_number), { blacklist_entry: null })
  const anew = await newOne({ phone_number })
  t.match(anew, { phone_number, variables: { customer_name: '' }, status: 'created', secondary_contacts: [] })
  t.strictSame((await get('/user/leads?search=%2B15557654321')).data.map(({ id }: { id: number }) => id), [anew.id])
  await eraseHere(phone_number)
  t.equal(await statusOf(`/user/lead/${anew.id}`), 404)
})

t.test('what another user has of the same number stays, and no retry with its Idempotency-Key brings the person back', async (t) => {
  const phone_number = '+15557654341'
  const theirs = { user: '2' }
  const campaign = (await call('POST', '/user/campaign', { name: 'Theirs' }, theirs)).body.data.id
  const kept = await newOne({ phone_number, campaign_id: campaign, variables: other.variables }, theirs)
  const options = { headers: { 'idempotency-key': 'lead-1' } }
  const gone = await newOne({ phone_number, variables }, options)
  await eraseHere(phone_number)
  t.equal(await statusOf(`/user/lead/${gone.id}`), 404)
  t.match((await get(`/user/lead/${kept.id}`, theirs)).data, { phone_number, variables: other.variables })
  const { status, body: { errors } } = await call('POST', '/user/lead', newLead({ phone_number, variables }), options)
  const why = 'was used for a request about a person who has been erased since'
  t.match({ status, errors }, { status: 422, errors: { 'Idempotency-Key': [why] } })
})

t.test('text of a call that Postgres cannot store holds up neither a copy nor an erasure', async (t) => {
  const phone_number = '+15557654361'
  const given = { from: 'a\0b', direction: 'outbound', to: phone_number, lead_id: null, transcript: [{ role: 'customer', text: 'so happy \ud83d\0', at: 0 }] }
  await streams.append(callStream('odd'), [completed('odd', given)], -1n)
  await eventually(async () => await statusOf('/user/call/odd') === 200)
  t.match((await exportOf(phone_number)).calls, [{ call_id: 'odd', from: 'a\ufffdb', transcript: [{ text: 'so happy \ufffd\ufffd' }] }])
  await eraseHere(phone_number)
  t.match((await get('/user/call/odd')).data, { erased: true, transcript: null })
})

/** As a process leaves it that dies between append and answer; the row of the request is removed a day later. */
async function lost (key: string, id: string): Promise<void> {
  await pool.query(`
    UPDATE ledger.idempotency_keys SET committed_at = NULL, about = NULL, answer = NULL, answer_key_id = NULL, leased_until = '-infinity'
    WHERE key = $1`, [key])
  await pool.query('DELETE FROM ledger.work WHERE id = $1', [id])
}

t.test('a request whose answer was lost is answered as the log has it, also once its row is removed, and what came since stays', async (t) => {
  await Promise.all(['erase', 'export'].map(async (what, nth) => {
    const phone_number = `+1555765449${nth}`
    const again = () => call('POST', `/user/person/${what}`, { phone_number }, { headers: { 'idempotency-key': what } })
    const { id } = (await again()).body.data
    t.match(await ended(id), { status: 'completed' })
    await lost(what, id)
    const since = await newOne({ phone_number })
    const { status, body } = await again()
    t.match([status, body.data.id, (await ended(id)).status], [202, id, 'completed'])
    t.equal((await pool.query('SELECT FROM ledger.work WHERE id = $1', [id])).rowCount, 0, 'nobody works on it')
    t.equal(await statusOf(`/user/lead/${since.id}`), 200)
  }))
})

/** Appends what nobody can read, and waits until it is parked. */
async function parkOn (stream: string, type: string, data: object = { bad: 1 }): Promise<bigint> {
  const before = await streams.last(stream)
  await streams.append(stream, [{ id: randomUUID(), type, metadata: {}, data }], before?.revision ?? -1n)
  await haveCome(service)
  return (before?.revision ?? -1n) + 1n
}

t.test('an erasure waits for parked events of the person before the key ends, as a copy does, and names them', async (t) => {
  const phone_number = '+15557654371'
  const lead = await newOne({ phone_number, variables })
  await report('parked-call', { from: phone_number, lead_id: lead.id })
  const { rows: [{ stream }] } = await pool.query('SELECT stream FROM read_model.leads WHERE id = $1', [lead.id])
  const parked: Array<[string, bigint]> = []
  for (const [on, type] of [[stream, 'LeadUpdated'], ['call-parked-call', 'CallCompleted']]) parked.push([on, await parkOn(on, type)])
  const unrelated = await parkOn('call-of-nobody', 'CallCompleted', { from: `${phone_number}9` })

  const waits_for = `parked events, which an operator retries or skips (ringledger projections quarantine): ${stream}, call-parked-call`
  const erasure = await askErasure({ phone_number })
  const copy = await askCopy({ phone_number })
  const { id } = erasure.body.data
  for (const asked of [erasure, copy]) {
    const waiting = await eventually(async () => {
      const { data } = (await read(asked.body.data.id)).body
      return data.waits_for !== undefined && data
    })
    t.match(waiting, { status: 'processing', waits_for })
  }
  t.match(await erasuresFound(pool, { lastScavenges: async () => undefined, memberCount: async () => 1 }), {
    level: 'warning', found: `erasure ${id} waits for ${waits_for}`
  })
  t.match((await get(`/user/lead/${lead.id}`)).data, { phone_number, variables }, 'nothing is lost')
  t.match((await get('/user/call/parked-call')).data, { from: phone_number })
  for (const [on, revision] of [...parked, ['call-of-nobody', unrelated] as const]) {
    for (const name of ['leads', 'calls', 'dispatcher']) {
      await skipParked(service.parts, name, on, revision, 'malformed').catch((error: Error) => t.match(error, /has not parked/))
    }
  }
  await eraseHere(phone_number)
  t.equal(await statusOf(`/user/lead/${lead.id}`), 404)
  t.match((await get('/user/call/parked-call')).data, { erased: true })
})

t.test('after erasures no table of the read models and the ledger has anything of the persons', async (t) => {
  const { rows: tables } = await pool.query(`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname LIKE 'read\\_%' OR schemaname IN ('ledger', 'queue')`)
  for (const { name } of tables) {
    const { rowCount } = await pool.query(
      `SELECT FROM ${name} AS found WHERE found::text ~ '76543[267]1|Ada Hidden|ada@hidden'`)
    t.equal(rowCount, 0, name)
  }
})
