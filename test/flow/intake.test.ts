// Calls come in by event and by HTTP: whatever is wrong with one has an outcome of its own, and holds up no other.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openStore } from '@ringledger/event-transfer'
import { callReport, newAssistant, newLead } from '../support/bodies.js'
import { assistantCreated, call, campaign, leadCreated } from '../support/call-events.js'
import { eventually } from '../support/eventually.js'
import { receiver } from '../support/receiver.js'
import { localWebhooks } from '../support/running-service.js'
import { testService } from '../support/service.js'
import { webhookProblems } from '../support/webhook-schemas.js'
import type { Answer } from '../support/answer.js'

const service = await testService(t, ['api', 'projector', 'worker'], localWebhooks)
const { pool } = service.parts
const hook = await receiver(t)
const on = { is_webhook_active: true, webhook_url: hook.url }
const engine = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
const assistant: number = (await service.call('POST', '/user/assistant', newAssistant(on))).body.data.id
const lead: number = (await service.call('POST', '/user/lead', newLead())).body.data.id
const strange: number =
  (await service.call('POST', '/user/lead', newLead({ campaign_id: 3 }), { user: '2' })).body.data.id

const store = openStore(service.urls.eventStoreUrl, 'EVENTSTORE_URL')
t.teardown(() => store.close())
const pipe = await store.openPipe(1)
t.teardown(() => pipe.close())

/** Appends the very bytes, as any client could. */
async function append (
  stream: string,
  data: object | string,
  { type = 'CallCompleted', revision = 0n, contentType = 'application/json' } = {}
): Promise<void> {
  const bytes = Buffer.from(typeof data === 'string' ? data : JSON.stringify(data))
  await pipe.append([{
    stream,
    revision,
    id: randomUUID(),
    type,
    contentType,
    data: bytes,
    metadata: Buffer.alloc(0),
    created: 0,
    position: 0n
  }])
  await pipe.drain()
}
const report = (callId: string, given: object = {}) =>
  append(`call-${callId}`, call(callId, { assistant_id: assistant, ...given }))
const post = (callId: string, body: object | string): Promise<Answer> =>
  service.call('POST', `/engine/calls/${callId}/completed`, body, { headers: engine })

/** A healthy call after the others: once it has arrived, they have all been dispatched and projected. */
async function isFed (): Promise<void> {
  const callId = randomUUID()
  await report(callId)
  await eventually(() => hook.received.some(({ body }) => body.includes(callId)))
  await eventually(async () => (await service.call('GET', `/user/call/${callId}`)).status === 200)
}
const rowOf = async (callId: string) => (await pool.query(`
  SELECT status, reason, duplicates FROM ledger.webhook_deliveries WHERE call_id = $1`, [callId])).rows
const dataOf = (callId: string) =>
  hook.received.map(({ body }) => JSON.parse(body.toString()).data).find(({ call_id }) => call_id === callId)
const setAside = async (stream: string) => (await pool.query(`
  SELECT consumer, error FROM ledger.parked_events WHERE stream = $1 ORDER BY consumer`, [stream])).rows
const skipped = (reason: string, duplicates = 0) => [{ status: 'skipped', reason, duplicates }]
const delivered = (duplicates = 0) => [{ status: 'delivered', reason: null, duplicates }]
const seen = async (callId: string) => (await service.call('GET', `/user/call/${callId}`)).status

t.test('by event: an unknown assistant, also one that comes later, is recorded and nobody is told', async (t) => {
  await report('nobody', { assistant_id: 999_999 })
  await report('early', { assistant_id: 5_000 })
  await append('assistant-5000', assistantCreated(5_000, on).data, { type: 'AssistantCreated' })
  await isFed()
  for (const callId of ['nobody', 'early']) {
    t.same(await rowOf(callId), skipped('unknown_assistant'))
    t.equal(await seen(callId), 404)
  }
})

t.test('by event: a lead that is unknown, of another user, or later is null, and operators see it', async (t) => {
  await report('lost-lead', { lead_id: 999_999 })
  await report('strange-lead', { lead_id: strange })
  await report('early-lead', { lead_id: 6_000 })
  await append('lead-1-early', leadCreated(6_000, 1).data, { type: 'LeadCreated' })
  await isFed()
  for (const [callId, why] of [
    ['lost-lead', /is not known/], ['strange-lead', /another user/], ['early-lead', /is not known/]
  ] as const) {
    await eventually(() => dataOf(callId) !== undefined)
    t.equal(dataOf(callId).lead, null, callId)
    t.equal((await service.call('GET', `/user/call/${callId}`)).body.data.lead_id, null)
    t.match(await setAside(`call-${callId}`), [{ consumer: 'dispatcher', error: why }])
  }
  t.equal(
    (await service.call('GET', `/user/lead/${strange}`, undefined, { user: '2' })).body.data.status,
    'created',
    'and is not moved'
  )
})

t.test('by event: a campaign that comes after the call of its lead has no name yet', async (t) => {
  await append('lead-7000-x', leadCreated(7_001, 7_000).data, { type: 'LeadCreated' })
  await report('before-campaign', { lead_id: 7_001 })
  await append('campaign-7000', campaign('CampaignCreated', 7_000, 'Late').data, { type: 'CampaignCreated' })
  await report('after-campaign', { lead_id: 7_001 })
  await eventually(() => ['before-campaign', 'after-campaign'].every(dataOf))
  t.same(dataOf('before-campaign').lead.campaign, { id: 7_000, name: '' })
  t.same(dataOf('after-campaign').lead.campaign, { id: 7_000, name: 'Late' })
})

t.test('by event: a malformed call has a row that says so, operators see why, and no correction counts', async (t) => {
  const { status: _status, ...incomplete } = call('incomplete', { assistant_id: assistant })
  await append('call-incomplete', incomplete)
  await append('call-broken', '{"call_id": "broken"')
  await append('call-bytes', '\x00\x01', { contentType: 'application/octet-stream' })
  await append('call-elsewhere', call('another', { assistant_id: assistant }))
  await append('call-incomplete', call('incomplete', { assistant_id: assistant }), { revision: 1n })
  await isFed()
  for (const callId of ['incomplete', 'broken', 'bytes', 'elsewhere']) {
    t.same(await rowOf(callId), skipped('invalid', callId === 'incomplete' ? 1 : 0), callId)
    t.match(await setAside(`call-${callId}`), [{ consumer: /calls/, error: /\w/ }])
    t.equal(await seen(callId), 404)
    t.equal((await post(callId, callReport(assistant))).status, 409, 'and by HTTP it is another report')
  }
})

t.test('by event: a stream whose name is no call\'s has no row, and operators see it', async (t) => {
  await append('call-not ok', call('c', { assistant_id: assistant }))
  await append('elsewhere', call('c', { assistant_id: assistant }))
  await isFed()
  for (const stream of ['call-not ok', 'elsewhere']) {
    t.match((await setAside(stream)).map(({ consumer }) => consumer), ['dispatcher', /calls/], stream)
  }
})

t.test('by event: the first report of a call counts, whatever comes later by either way', async (t) => {
  await report('twice')
  await append('call-twice', call('twice', { assistant_id: assistant }), { revision: 1n })
  await append('call-twice', call('twice', { assistant_id: assistant, duration: 99 }), { revision: 2n })
  await append('call-twice', '{}', { revision: 3n })
  await isFed()
  await eventually(async () => (await rowOf('twice'))[0]?.status === 'delivered')
  t.same(await rowOf('twice'), delivered(3))
  t.equal((await service.call('GET', '/user/call/twice')).body.data.duration, 60)
  t.equal(hook.received.filter(({ body }) => body.includes('"twice"')).length, 1)
})

t.test('by either way: what an engine keeps in the stream of a call before its report changes nothing', async (t) => {
  const newLeadId = async (last: number) =>
    (await service.call('POST', '/user/lead', newLead({ phone_number: `+1555124000${last}` }))).body.data.id
  const [moved, named] = [await newLeadId(1), await newLeadId(2)]
  const statusOf = async (id: number) => (await service.call('GET', `/user/lead/${id}`)).body.data.status
  const body = callReport(assistant, { lead_id: moved })
  await append('call-begun', {}, { type: 'CallStarted' })
  await append('call-begun', '\x00', { type: 'CallRang', revision: 1n, contentType: 'application/octet-stream' })
  await append('call-begun', { call_id: 'begun', ...body }, { revision: 2n })
  await append('call-posted', {}, { type: 'CallStarted' })
  t.equal((await post('posted', body)).status, 202)
  await append('call-posted', {}, { type: 'CallRated', revision: 2n })
  await append('call-begun', call('begun', { assistant_id: assistant, lead_id: named, duration: 99 }), { revision: 3n })
  await isFed()
  for (const [callId, duplicates] of [['begun', 1], ['posted', 0]] as const) {
    await eventually(async () => (await rowOf(callId))[0]?.status === 'delivered')
    t.same(await rowOf(callId), delivered(duplicates))
    t.match((await service.call('GET', `/user/call/${callId}`)).body.data, {
      duration: 42, lead_id: moved, deliveries: [{ status: 'delivered' }]
    })
    t.same(await setAside(`call-${callId}`), [])
    t.same([(await post(callId, body)).status, (await post(callId, { ...body, duration: 1 })).status], [202, 409])
  }
  await isFed()
  t.same([await statusOf(moved), await statusOf(named)], ['completed', 'created'], 'the first report moves its lead')
  t.same(
    [await rowOf('begun'), await rowOf('posted')],
    [delivered(1), delivered()],
    'the same report by HTTP was not recorded again'
  )
})

t.test('a call whose stream begins with an event of ours is sent, and its stream is parked', async (t) => {
  for (const callId of ['spoilt', 'spoilt-too']) {
    await append(`call-${callId}`, assistantCreated(5_001).data, { type: 'AssistantCreated' })
  }
  await append('call-spoilt', call('spoilt', { assistant_id: assistant }), { revision: 1n })
  t.equal((await post('spoilt-too', callReport(assistant))).status, 202)
  await isFed()
  for (const callId of ['spoilt', 'spoilt-too']) {
    await eventually(async () => (await rowOf(callId))[0]?.status === 'delivered')
    t.equal(await seen(callId), 404)
    t.match((await setAside(`call-${callId}`)).map(({ consumer }) => consumer), [
      'dispatcher', /assistants/, /calls/, /calls/, /leads/, /leads/
    ])
  }
})

t.test('by HTTP: the same report again is accepted, another one is refused, and one webhook is sent', async (t) => {
  const body = callReport(assistant, { lead_id: lead })
  t.same((await Promise.all([post('http', body), post('http', body)])).map(({ status }) => status), [202, 202])
  t.equal((await post('http', { ...body, duration: 1 })).status, 409)
  await append('call-http', call('http', { assistant_id: assistant }), { revision: 1n })
  await isFed()
  await eventually(async () => (await rowOf('http'))[0]?.status === 'delivered')
  t.same(await rowOf('http'), delivered(1))
  t.equal(dataOf('http').lead.id, lead)
})

t.test('by HTTP: what does not fit is refused by field, and nothing is recorded', async (t) => {
  await append('assistant-8000', '{}', { type: 'AssistantCreated' })
  const refused: [given: object, field: string][] = [
    [{ assistant_id: 999_999 }, 'assistant_id'], [{ assistant_id: 8_000 }, 'assistant_id'],
    [{ lead_id: 999_999 }, 'lead_id'], [{ lead_id: strange }, 'lead_id'], [{ status: 'done' }, 'status'],
    [{ transcript: [{ role: 'bot', text: 'x', at: 0 }] }, 'transcript.0.role']
  ]
  for (const [given, field] of refused) {
    const { status, body } = await post('refused', callReport(assistant, given))
    t.equal(status, 422)
    t.same(Object.keys(body.errors), [field])
  }
  t.equal(
    (await post('refused', callReport(assistant, { input_variables: { text: 'x'.repeat(1024 * 1024) } }))).status, 413
  )
  await isFed()
  t.same(await rowOf('refused'), [])
})

t.test('by HTTP: a malformed report is refused with its errors, and nothing of it is recorded', async (t) => {
  for (const text of ['{"call_id": "broken"', '', '\x00\x01']) {
    t.equal((await post('not-json', text)).status, 400, JSON.stringify(text))
  }
  const answer =
    await post('lacking', callReport(assistant, { status: undefined, direction: undefined, duration: '60' }))
  t.same([answer.status, Object.keys(answer.body.errors).sort()], [422, ['direction', 'duration', 'status']])
  for (const callId of ['not%20ok', '%C3%A9', 'x'.repeat(129)]) {
    t.same(Object.keys((await post(callId, callReport(assistant))).body.errors), ['call_id'], callId)
  }
  await isFed()
  t.equal((await pool.query(`
    SELECT FROM ledger.webhook_deliveries
    WHERE call_id IN ('not-json', 'lacking') OR call_id LIKE 'x%'`)).rowCount, 0)
})

t.test('by HTTP: a call before its assistant or lead is refused; a campaign may come later', async (t) => {
  t.equal((await post('soon', callReport(9_000))).status, 422)
  await append('assistant-9000', assistantCreated(9_000, on).data, { type: 'AssistantCreated' })
  t.equal((await post('soon', callReport(9_000, { lead_id: 9_001 }))).status, 422)
  await append('lead-9000-x', leadCreated(9_001, 9_000).data, { type: 'LeadCreated' })
  t.equal((await post('soon', callReport(9_000, { lead_id: 9_001 }))).status, 202)
  await append('campaign-9000', campaign('CampaignCreated', 9_000, 'Late').data, { type: 'CampaignCreated' })
  t.equal((await post('later', callReport(9_000, { lead_id: 9_001 }))).status, 202)
  await eventually(() => ['soon', 'later'].every(dataOf))
  t.same(['soon', 'later'].map((callId) => dataOf(callId).lead.campaign), [
    { id: 9_000, name: '' }, { id: 9_000, name: 'Late' }
  ])
})

t.test('every webhook that left fits its schema', async (t) => {
  for (const { body } of hook.received) t.same(webhookProblems(body), [])
})
