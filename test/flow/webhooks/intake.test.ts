// Calls come in by event and by HTTP: whatever is wrong with one has an outcome of its own, and holds up no other. The
// log of the service never has, at any level, what users and operators trust it with, whatever goes wrong.
import { jsonEvent } from '@eventstore/db-client'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import t from 'tap'
import { Store } from '@ringledger/event-transfer'
import { reportCall } from '../../../docs/call-engine/report-call.js'
import { lentClient } from '../../../src/log/connection.js'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { assistantCreated, call, campaign, leadCreated, webhookTo } from '../../support/events/call-events.js'
import { webhookProblems } from '../../support/documents/webhook-schemas.js'
import { eventually } from '../../support/eventually.js'
import { answers, callOf, receiver } from '../../support/receivers/receiver.js'
import { caller, localWebhooks, token, type Request } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'
import { testService } from '../../support/service.js'

/** Made up here, and sent wherever something is taken. */
const personal = {
  phone: '+15557654321',
  digits: '5557654321',
  email: 'ada.byron@hidden.example',
  name: 'Augusta Zanzibar',
  query: 'hidden-in-the-query',
  inPath: 'hidden-in-the-path',
  metrics: 'hidden-metrics-token-that-is-long-enough',
  alert: 'hidden-in-the-alert-url'
}

const service = await testService(t, ['api', 'projector', 'worker'], {
  ...localWebhooks,
  METRICS_TOKEN: personal.metrics,
  ALERT_WEBHOOK_URL: `http://127.0.0.1:9/${personal.alert}?key=${personal.query}`,
  ALERT_WEBHOOK_SECRET: `whsec_${Buffer.from('alert secret of the test run').toString('base64')}`
})
service.neverLogs(...Object.values(personal))
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

t.test('a call of an unknown assistant, also of one that comes later, is recorded as skipped', async (t) => {
  await report('nobody', { assistant_id: 999_999 })
  await report('early', { assistant_id: 5_000 })
  await append('assistant-5000', assistantCreated(5_000, on).data, { type: 'AssistantCreated' })
  await isFed()
  for (const callId of ['nobody', 'early']) {
    t.same(await rowOf(callId), skipped('unknown_assistant'))
    t.equal(await seen(callId), 404)
  }
})

t.test('a call with a lead that is unknown, of another user, or comes later has none, and operators see why', async (t) => {
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

t.test('a malformed call is skipped as invalid, operators see why, and no correction counts', async (t) => {
  const { status: _status, ...incomplete } = call('incomplete', { assistant_id: assistant })
  await append('call-incomplete', incomplete)
  await append('call-bytes', '\x00\x01', { contentType: 'application/octet-stream' })
  await append('call-elsewhere', call('another', { assistant_id: assistant }))
  await append('call-incomplete', call('incomplete', { assistant_id: assistant }), { revision: 1n })
  await isFed()
  for (const callId of ['incomplete', 'bytes', 'elsewhere']) {
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
  t.equal((await service.call('GET', '/user/call/twice')).body.data.duration, 60)
  t.equal(hook.received.filter(({ body }) => body.includes('"twice"')).length, 1)
})

t.test('other events in the stream of a call before its report change nothing', async (t) => {
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

t.test('a call whose stream begins with an event of ours is sent, and projections park the stream', async (t) => {
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

t.test('the sample reports a call once, and says when another report came first', async (t) => {
  const told = call('by-sample', { assistant_id: assistant })
  for (let time = 0; time < 2; time++) t.equal(await reportCall(service.client, told), true)
  await eventually(async () => (await rowOf('by-sample'))[0]?.status === 'delivered')
  t.same(await rowOf('by-sample'), delivered())
  t.equal(await reportCall(service.client, call('twice', { assistant_id: assistant, duration: 1 })), false)
})

t.test('every webhook that left fits its schema', async (t) => {
  for (const { body } of hook.received) t.same(webhookProblems(body), [])
})

const { phone, email, name, query, inPath } = personal

type Sent = [method: string, path: string, body?: unknown, headers?: Record<string, string>]

/** Each is refused, or leads to nothing that anybody waits for. */
const refusedRequests: Sent[] = [
  ['POST', '/user/lead', newLead({ phone_number: `${phone}x` })],
  ['POST', '/user/lead', newLead({ phone_number: phone })],
  ['POST', '/user/lead', `{"phone_number":"${phone}",`],
  ['POST', '/user/lead', newLead({ phone_number: phone, variables: { filler: email.repeat(40_000) } })],
  ['POST', '/user/lead', newLead(), { 'idempotency-key': phone, 'x-correlation-id': email, 'if-match': phone }],
  ['PUT', `/user/lead/${phone}`, {}],
  ['GET', `/${inPath}/${phone}?${query}=1`],
  [
    'POST', '/user/assistant',
    newAssistant({ webhook_url: `http://10.0.0.1/${inPath}?key=${query}`, is_webhook_active: true })
  ],
  ['GET', `/metrics?token=${personal.metrics}`]
]

const [quiet, failing] = [await receiver(t, answers(200)), await receiver(t, answers(500, {}, `no such user ${email} ${phone}`))]
const ids = { assistant: 0, failing: 0, lead: 0 }
const [user, engine] = [await service.token('1'), await service.token('engine', 'engine')]
const send = caller(service.url)
const ask = (method: string, path: string, body?: unknown, more: Request = {}) =>
  send(method, path, { token: user, body, ...more })

t.test('the log has nothing of accepted commands, whatever they hold', async (t) => {
  const withHook = (to: string) =>
    newAssistant({ is_webhook_active: true, webhook_url: `${to}/${inPath}?key=${query}`, assistant_name: name, initial_message: `Call ${phone}` })
  const good = await ask('POST', '/user/assistant', withHook(quiet.url))
  const bad = await ask('POST', '/user/assistant', withHook(failing.url))
  t.same([good.status, bad.status], [201, 201])
  Object.assign(ids, { assistant: good.body.data?.id, failing: bad.body.data?.id })
  const contact = { phone_number: '+15557654329', variables: { email } }
  const lead = await ask(
    'POST', '/user/lead', newLead({ phone_number: phone, variables: { name, email }, secondary_contacts: [contact] })
  )
  t.equal(lead.status, 200)
  ids.lead = Number(lead.body.data?.id)
  t.equal((await ask('PUT', `/user/lead/${ids.lead}`, { variables: { email: `x${email}` } })).status, 200)
  t.equal((await ask('POST', '/user/campaign', { name: email })).status, 201)
  t.equal((await ask('POST', '/user/person/export', { phone_number: phone })).status, 202)
})

t.test('the log has nothing of refused bodies, tokens, addresses and bytes', async () => {
  const strangers = [
    undefined, 'garbage', `${user.slice(0, -8)}AAAAAAAA`, engine, await token(secrets.JWT_SECRET, email, phone)
  ]
  for (const stranger of strangers) {
    await ask('POST', '/user/lead', newLead({ phone_number: phone }), { token: stranger })
    await ask('GET', `/user/leads?phone_number=%2B1${personal.digits}&token=${user}`, undefined, { token: stranger })
  }
  for (const [method, path, body, headers = {}] of refusedRequests) {
    await ask(method, encodeURI(path), body, { headers })
  }
  await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${personal.metrics}` } })
  await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${personal.metrics}x` } })
  for (const token of [user, 'garbage']) await ask('GET', `/ops/api/deliveries?user_id=${phone}&url=${email}`, undefined, { token })
  for (const bytes of [`GET /user/lead?phone=${phone} HTTP/9.9\r\n\r\n`, `${phone}\r\n\r\n`, `GET / HTTP/1.1\r\nHost: ${email}\r\nHost: b\r\n\r\n`]) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => {}).end(bytes)
    await new Promise((resolve) => socket.resume().on('close', resolve))
  }
})

t.test('the log has nothing of calls, their webhooks, and receivers that fail', async () => {
  for (const [id, assistant] of [['c-1', ids.assistant], ['c-2', ids.failing], [phone, ids.assistant], ['c-4', 987]] as const) {
    const report = callReport(assistant, {
      lead_id: ids.lead, from: phone, input_variables: { email }, recording_url: `https://recordings.example.com/${inPath}?key=${query}`
    })
    await ask('POST', `/engine/calls/${encodeURIComponent(id)}/completed`, report, { token: engine })
  }
  await eventually(() => quiet.received.length > 0 && failing.received.length > 1)
  await ask('POST', `/user/assistant/${ids.failing}/webhook-test`)
  const { body } = await ask('GET', '/user/webhook-deliveries')
  const before = quiet.received.length + failing.received.length
  await ask('POST', `/user/webhook-deliveries/${body.data[0].id}/redeliver`)
  await eventually(() => quiet.received.length + failing.received.length > before)
})

t.test('the log has nothing of events that nobody can read', async () => {
  const events = [
    ['lead-1-odd', 'LeadCreated', { lead_id: phone, user_id: 1, phone_number: [phone], campaign_id: email }],
    ['assistant-77', 'AssistantUpdated', { assistant_id: 77, user_id: email, changes: { assistant_name: `${name}\0` } }],
    ['call-odd', 'CallCompleted', { call_id: 'odd', from: phone, assistant_id: name }]
  ] as const
  for (const [stream, type, data] of events) {
    const event = jsonEvent({ id: randomUUID(), type, data, metadata: { user_id: email } })
    await service.client.appendToStream(stream, event)
  }
  const parked = "SELECT FROM ledger.parked_events WHERE stream IN ('lead-1-odd', 'assistant-77', 'call-odd')"
  await eventually(async () => ((await service.parts.pool.query(parked)).rowCount ?? 0) >= 3)
})
