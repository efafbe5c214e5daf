// What users and operators trust the service with never stands in its log, at any level, whatever goes wrong.
import { newAssistant, newLead, callReport } from '../support/bodies/bodies.js'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { jsonEvent } from '@eventstore/db-client'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { answers, receiver } from '../support/receivers/receiver.js'
import { caller, localWebhooks, token, type Request } from '../support/running-service.js'
import { secrets } from '../support/auth/secrets.js'
import { testService } from '../support/service.js'

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

const { phone, email, name, query, inPath } = personal

type Sent = [method: string, path: string, body?: unknown, headers?: Record<string, string>]

/** Each is refused, or leads to nothing that anybody waits for. */
const refusedRequests: Sent[] = [
  ['POST', '/user/lead', newLead({ phone_number: `${phone}x` })],
  ['POST', '/user/lead', newLead({ phone_number: phone })],
  ['POST', '/user/lead', `{"phone_number":"${phone}",`],
  ['POST', '/user/lead', newLead({ phone_number: phone, variables: { name: `${name}\0` } })],
  ['POST', '/user/lead', newLead({ phone_number: phone, variables: { filler: email.repeat(40_000) } })],
  ['POST', '/user/lead', newLead(), { 'content-type': `text/${query}` }],
  ['POST', '/user/lead', newLead(), { 'idempotency-key': phone, 'x-correlation-id': email, 'if-match': phone }],
  ['PUT', `/user/lead/${phone}`, {}],
  ['GET', `/user/call/${email}`],
  ['GET', `/${inPath}/${phone}?${query}=1`],
  ['DELETE', `/user/assistant/${name}`],
  [
    'POST', '/user/assistant',
    newAssistant({ webhook_url: `http://10.0.0.1/${inPath}?key=${query}`, is_webhook_active: true })
  ],
  ['GET', `/metrics?token=${personal.metrics}`]
]

const hook = await receiver(t, answers(200))
const failing = await receiver(t, answers(500, {}, `no such user ${email} ${phone}`))
const service = await testService(t, ['api', 'projector', 'worker'], {
  ...localWebhooks,
  METRICS_TOKEN: personal.metrics,
  ALERT_WEBHOOK_URL: `http://127.0.0.1:9/${personal.alert}?key=${query}`,
  ALERT_WEBHOOK_SECRET: `whsec_${Buffer.from('alert secret of the test run').toString('base64')}`
})
service.neverLogs(...Object.values(personal))
const ids = { assistant: 0, failing: 0, lead: 0 }
const [user, engine] = [await service.token('1'), await service.token('engine', 'engine')]
const send = caller(service.url)
const call = (method: string, path: string, body?: unknown, more: Request = {}) =>
  send(method, path, { token: user, body, ...more })

t.test('commands that are taken, with everything that they can hold', async (t) => {
  const withHook = (to: string) =>
    newAssistant({ is_webhook_active: true, webhook_url: `${to}/${inPath}?key=${query}`, assistant_name: name, initial_message: `Call ${phone}` })
  const good = await call('POST', '/user/assistant', withHook(hook.url))
  const bad = await call('POST', '/user/assistant', withHook(failing.url))
  t.same([good.status, bad.status], [201, 201])
  Object.assign(ids, { assistant: good.body.data?.id, failing: bad.body.data?.id })
  const contact = { phone_number: '+15557654329', variables: { email } }
  const lead = await call(
    'POST', '/user/lead', newLead({ phone_number: phone, variables: { name, email }, secondary_contacts: [contact] })
  )
  t.equal(lead.status, 200)
  ids.lead = Number(lead.body.data?.id)
  t.equal((await call('PUT', `/user/lead/${ids.lead}`, { variables: { email: `x${email}` } })).status, 200)
  t.equal((await call('POST', '/user/campaign', { name: email })).status, 201)
  t.equal((await call('POST', '/user/person/export', { phone_number: phone })).status, 202)
  t.equal((await call('POST', '/user/phone-number', { phone_number: '+15557654328' })).status, 201)
  t.equal((await call('POST', '/user/webhook-secret/rotate', {})).status < 300, true)
})

t.test('what is refused: bodies, tokens, addresses, bytes', async () => {
  const strangers = [
    undefined, 'garbage', `${user.slice(0, -8)}AAAAAAAA`, engine, await token(secrets.JWT_SECRET, email, phone)
  ]
  for (const stranger of strangers) {
    await call('POST', '/user/lead', newLead({ phone_number: phone }), { token: stranger })
    await call('GET', `/user/leads?phone_number=%2B1${personal.digits}&token=${user}`, undefined, { token: stranger })
  }
  for (const [method, path, body, headers = {}] of refusedRequests) {
    await call(method, encodeURI(path), body, { headers })
  }
  await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${personal.metrics}` } })
  await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${personal.metrics}x` } })
  for (const token of [user, 'garbage']) await call('GET', `/ops/api/deliveries?user_id=${phone}&url=${email}`, undefined, { token })
  for (const bytes of [`GET /user/lead?phone=${phone} HTTP/9.9\r\n\r\n`, `${phone}\r\n\r\n`, `GET / HTTP/1.1\r\nHost: ${email}\r\nHost: b\r\n\r\n`]) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => {}).end(bytes)
    await new Promise((resolve) => socket.resume().on('close', resolve))
  }
})

t.test('calls, their webhooks, and receivers that fail', async () => {
  for (const [id, assistant] of [['c-1', ids.assistant], ['c-2', ids.failing], [phone, ids.assistant], ['c-4', 987]] as const) {
    const report = callReport(assistant, {
      lead_id: ids.lead, from: phone, input_variables: { email }, recording_url: `https://recordings.example.com/${inPath}?key=${query}`
    })
    await call('POST', `/engine/calls/${encodeURIComponent(id)}/completed`, report, { token: engine })
  }
  await call(
    'POST', '/engine/calls/c-1/completed', callReport(ids.assistant, { from: '+15557654327' }), { token: engine }
  )
  await eventually(() => hook.received.length > 0 && failing.received.length > 1)
  await call('POST', `/user/assistant/${ids.failing}/webhook-test`)
  const { body } = await call('GET', '/user/webhook-deliveries')
  const before = hook.received.length + failing.received.length
  await call('POST', `/user/webhook-deliveries/${body.data[0].id}/redeliver`)
  await eventually(() => hook.received.length + failing.received.length > before)
})

t.test('events of others that nobody can take', async () => {
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
