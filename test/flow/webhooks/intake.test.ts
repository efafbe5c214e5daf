// Calls come in by event and by HTTP: whatever is wrong with one has an outcome of its own, and holds up no other.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { Store } from '@ringledger/event-transfer'
import { reportCall } from '../../../docs/call-engine/report-call.js'
import { lentClient } from '../../../src/log/connection.js'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { assistantCreated, call, campaign, leadCreated, webhookTo } from '../../support/events/call-events.js'
import { webhookProblems } from '../../support/documents/webhook-schemas.js'
import { eventually } from '../../support/eventually.js'
import { callOf, receiver } from '../../support/receivers/receiver.js'
import { localWebhooks } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'], localWebhooks)
const { parts: { pool, streams } } = service
const hook = await receiver(t)
const on = webhookTo(hook.url)
const assistant: number = (await service.call('POST', '/user/assistant', newAssistant(on))).body.data.id
/** Of another user. */
const strange: number = (await service.call('POST', '/user/lead', newLead({ campaign_id: 3 }), { user: '2' })).body.data.id
const store = new Store(lentClient(service.urls.eventStoreUrl))
t.teardown(() => store.close())
const pipe = await store.openPipe(1)
t.teardown(() => pipe.close())

interface Options { type?: string, revision?: bigint, contentType?: string }

/** Appends these bytes unchanged, as any client can. */
async function append (stream: string, data: object | string, options: Options = {}): Promise<void> {
  const { type = 'CallCompleted', revision = 0n, contentType = 'application/json' } = options
  const bytes = Buffer.from(typeof data === 'string' ? data : JSON.stringify(data))
  const metadata = Buffer.alloc(0)
  await pipe.append([{
    stream, revision, id: randomUUID(), type, contentType, data: bytes, metadata, created: 0, position: 0n
  }])
  await pipe.drain()
}

async function appendLead (stream: string, data: object): Promise<void> {
  await streams.append(stream, [{ id: randomUUID(), type: 'LeadCreated', data, metadata: {} }], -1n)
}

const report = (callId: string, given: object = {}) =>
  append(`call-${callId}`, call(callId, { assistant_id: assistant, ...given }))
const post = (callId: string, body: object | string) =>
  service.call('POST', `/engine/calls/${callId}/completed`, body, { user: 'engine' })
const rowOf = async (callId: string) => (await pool.query(`
  SELECT status, reason, duplicates FROM ledger.webhook_deliveries WHERE call_id = $1`, [callId])).rows
const setAside = async (stream: string) => (await pool.query(`
  SELECT consumer, error FROM ledger.parked_events WHERE stream = $1 ORDER BY consumer`, [stream])).rows
const seen = async (callId: string) => (await service.call('GET', `/user/call/${callId}`)).status
const skipped = (reason: string, duplicates = 0) => [{ status: 'skipped', reason, duplicates }]
const delivered = (duplicates = 0) => [{ status: 'delivered', reason: null, duplicates }]

function dataOf (callId: string) {
  const found = hook.received.find((received) => callOf(received) === callId)
  return found && JSON.parse(found.body.toString()).data
}

/** A healthy call after the others: once it has arrived, they have all been dispatched and projected. */
async function isFed (): Promise<void> {
  const callId = randomUUID()
  await report(callId)
  await eventually(() => hook.received.some(({ body }) => body.includes(callId)))
  await eventually(async () => await seen(callId) === 200)
}

t.test('an unknown assistant, also one that comes later, is recorded and nobody is told', async (t) => {
  await report('nobody', { assistant_id: 999_999 })
  await report('early', { assistant_id: 5_000 })
  await append('assistant-5000', assistantCreated(5_000, on).data, { type: 'AssistantCreated' })
  await isFed()
  for (const callId of ['nobody', 'early']) {
    t.same(await rowOf(callId), skipped('unknown_assistant'))
    t.equal(await seen(callId), 404)
  }
})

t.test('a lead that is unknown, of another user, or later is null, and operators see it', async (t) => {
  await report('lost-lead', { lead_id: 999_999 })
  await report('strange-lead', { lead_id: strange })
  await report('early-lead', { lead_id: 6_000 })
  await appendLead('lead-1-early', leadCreated(6_000, 1).data)
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

t.test('a malformed call has a row that says so, operators see why, and no correction counts', async (t) => {
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

t.test('the first report of a call counts, whatever comes later by either way', async (t) => {
  await report('twice')
  await append('call-twice', call('twice', { assistant_id: assistant }), { revision: 1n })
  await append('call-twice', call('twice', { assistant_id: assistant, duration: 99 }), { revision: 2n })
  await append('call-twice', '{}', { revision: 3n })
  await isFed()
  await eventually(async () => (await rowOf('twice'))[0]?.status === 'delivered')
  t.same(await rowOf('twice'), delivered(3))
  await post('late-damage', callReport(assistant))
  await append('call-late-damage', '{"call_id": "broken"', { revision: 1n })
  t.equal((await post('late-damage', callReport(assistant))).status, 202, 'came before, the same')
  t.equal((await post('late-damage', callReport(assistant, { duration: 99 }))).status, 409)
  t.equal((await service.call('GET', '/user/call/twice')).body.data.duration, 60)
  t.equal(hook.received.filter(({ body }) => body.includes('"twice"')).length, 1)
})

t.test('what an engine keeps in the stream of a call before its report changes nothing', async (t) => {
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
    const consumers = await eventually(async () => { // leads are not in a hurry for a call without one
      const all = (await setAside(`call-${callId}`)).map(({ consumer }) => consumer)
      return all.length === 6 && all
    })
    t.match(consumers, ['dispatcher', /assistants/, /calls/, /calls/, /leads/, /leads/])
  }
})

t.test('a call before its assistant or lead is refused; a campaign may come later', async (t) => {
  t.equal((await post('soon', callReport(9_000))).status, 422)
  await append('assistant-9000', assistantCreated(9_000, on).data, { type: 'AssistantCreated' })
  t.equal((await post('soon', callReport(9_000, { lead_id: 9_001 }))).status, 422)
  await appendLead('lead-9000-x', leadCreated(9_001, 9_000).data)
  t.equal((await post('soon', callReport(9_000, { lead_id: 9_001 }))).status, 202)
  await append('campaign-9000', campaign('CampaignCreated', 9_000, 'Late').data, { type: 'CampaignCreated' })
  t.equal((await post('later', callReport(9_000, { lead_id: 9_001 }))).status, 202)
  await eventually(() => ['soon', 'later'].every(dataOf))
  t.same(['soon', 'later'].map((callId) => dataOf(callId).lead.campaign), [
    { id: 9_000, name: '' }, { id: 9_000, name: 'Late' }
  ])
})

t.test('a call is reported once, however often the sample repeats it; another report of it is told', async (t) => {
  const { client } = service
  const told = call('by-sample', { assistant_id: assistant })
  t.equal(await reportCall(client, told), true)
  t.equal(await reportCall(client, told), true, 'a repeat is a success')
  await eventually(() => dataOf('by-sample') !== undefined)
  await eventually(async () => (await rowOf('by-sample'))[0]?.status === 'delivered')
  t.same(await rowOf('by-sample'), delivered(), 'and one webhook')

  const { call_id: _, ...body } = call('by-http', { assistant_id: assistant })
  t.equal((await post('by-http', body)).status, 202)
  t.equal(await reportCall(client, call('by-http', { assistant_id: assistant })), false)

  await reportCall(client, call('without-colon', { assistant_id: assistant, ended_at: '2026-01-01T10:00:00+0200' }))
  await isFed()
  t.same(await rowOf('without-colon'), skipped('invalid'), 'an offset has a colon')
})

t.test('every webhook that left fits its schema', async (t) => {
  for (const { body } of hook.received) t.same(webhookProblems(body), [])
})
