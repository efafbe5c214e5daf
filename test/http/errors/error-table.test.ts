// Answers of every route, and of addresses without one. The examples of the API document fit its schemas, and answers
// are as documented. A refusal of a wrong request has its status, and a body of `{message}` and `errors`.
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { importId } from '../../../src/http/docs/examples.js'
import { action } from '../../../src/ops/answers.js'
import { newLead, callReport, newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { documentedOperations, openApi } from '../../support/http/openapi.js'
import { sendRaw } from '../../support/http/open-connections.js'
import { isRefusal, type Answer } from '../../support/running-service.js'
import { told } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

const api = await openApi()
const service = await testService(t, ['api', 'projector', 'worker'], { WEBHOOK_SCHEDULE: '1h' })
const { call, token } = service

/** Headers of every answer: those of HTTP itself, and those that guard pages of browsers. */
const general = /^(cache-control|connection|content-(length|type|security-policy)|cross-origin-.*|date|keep-alive|origin-agent-cluster|permissions-policy|referrer-policy|strict-transport-security|transfer-encoding|vary|x-(content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/

await t.test('each example of a request, sent in this order to a new service, gets the answer that the document shows', async (t) => {
  await service.parts.pool.query(`
    INSERT INTO ledger.webhook_notices (user_id, type) VALUES ('1', 'delivery_exhausted')`) // it takes three days
  await service.parts.pool.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input, finished_at)
    VALUES ($1, 'lead-import', '1', 'completed', '{}', now())`, [importId]) // a worker does it
  await service.parts.pool.query(
    "INSERT INTO ledger.lead_import_results (import_id, row, outcome) VALUES ($1, 1, 'duplicate')", [importId])
  await service.parts.pool.query(`
    INSERT INTO ledger.projection_actions (id, projection, action) VALUES ('${action.id}', 'leads', 'replay');
    INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
      VALUES ('read_leads_g9', 'lead-9', 1, 1, 'LeadUpdated', 'malformed');
    INSERT INTO ledger.webhooks (assistant_id, user_id, url, suspended_at, suspended_reason)
      VALUES (9, '9', 'https://hooks.example.com', now(), 'gone');
    INSERT INTO ledger.work (id, kind, user_id, state, input) VALUES (gen_random_uuid(), 'of another release', '9', 'accepted', '{}')`)
  let position: string | null = null
  const writes = [
    'createAssistant', 'updateAssistant', 'createLead', 'completeCall', 'createApiKey', 'blacklistPhoneNumber', 'exportPerson'
  ]
  let asked = '' // of the person request: its id is chosen anew each time
  const reads =
    api.operations.flatMap(({ method, operation: { operationId = '' } }) => method === 'GET' && !/^(export|download|is(Live|Ready)$)/.test(operationId) ? [operationId] : [])
  for (const id of [...writes, ...reads]) {
    const found = api.operations.find(({ operation }) => operation.operationId === id)
    if (!found) throw new Error(`${id} is not in the document`)
    const { method, path, operation } = found
    const [, role] = /^\/(engine|ops)\//.exec(path) ?? []
    const headers: Record<string, string> = role ? { authorization: `Bearer ${await token(role, role)}` } : {}
    const url = path.replace(/\{\w+\}/g, (name) =>
      id === 'getPersonRequest' ? asked : String(operation.parameters?.find((parameter) => `{${parameter.name}}` === name)?.example))
    const query = id === 'isBlacklisted' ? '?assistant_id=1' : '' // no other has to be asked more
    if (position) headers['x-read-position'] = position
    const { status, body, headers: answered } =
      await call(method, `${url}${query}`, operation.requestBody?.content['application/json'].example, { headers })
    const media = operation.responses[status]?.content?.['application/json']
    const example = media?.examples?.[id]?.value ?? media?.example
    t.ok(String(status).startsWith('2') && media, `${id} answers ${status}`)
    t.same(keysOf(body), keysOf(example), `${id} has the keys of its example`)
    t.same(api.fits(media?.schema ?? {}, body), [])
    if (id === 'createAssistant' || id === 'updateAssistant') t.same(body, example)
    if (id === 'exportPerson') asked = body.data.id
    if (!reads.includes(id)) position = answered.get('x-read-position')
  }
})

function keysOf (value: unknown): string[] {
  if (Array.isArray(value)) return keysOf(value[0])
  return Object.entries(value ?? {}).flatMap(([key, inner]) => key === 'data' ? keysOf(inner) : [key]).sort()
}

/** The header of that user's or role's token. */
const as = async (user: string, role?: string) => ({ authorization: `Bearer ${await token(user, role)}` })
const [engine, other, { authorization: own }] = [await as('engine', 'engine'), await as('2'), await as('1')]
const { id } = (await call('POST', '/user/assistant', newAssistant())).body.data
const reported = await call('POST', '/engine/calls/c-1/completed', callReport(id), { headers: engine })
await call('GET', '/user/calls', undefined, {
  headers: { 'x-read-position': reported.headers.get('x-read-position') ?? '' }
})
const { id: delivery } = await eventually(async () =>
  (await call('GET', '/user/webhook-deliveries?call_id=c-1')).body.data[0] ?? false)
const ops = await as('ops', 'ops')
const lead = (await call('POST', '/user/lead', newLead({ phone_number: '+15551239001' }))).body.data
const idFor = (path: string) => String(path.startsWith('/user/lead/') ? lead.id : id)
const documented = await documentedOperations(service)
const operations = documented.map((operation) =>
  ({ ...operation, path: operation.path.replace('{id}', idFor(operation.path)).replace('{call_id}', 'c-1') }))
const tokenFor = (path: string) => path.startsWith('/engine/') ? engine : path.startsWith('/ops/') ? ops : {}

t.test('without a token that verifies every route is a 401, and with one of another role a 403', async (t) => {
  for (const { method, path, takesBody } of operations) {
    const headers = { authorization: 'Bearer x', 'content-type': 'text/plain' } // a process refuses 120 tokens a minute
    const unknown = await call(method, path, takesBody ? '{' : undefined, { headers })
    isRefusal(t, unknown, 401, `${method} ${path}`)
    t.strictSame(unknown.body, { message: 'Unauthenticated.' })
    const role = path.startsWith('/engine/') ? ops : path.startsWith('/ops/') ? other : engine
    isRefusal(t, await call(method, path, undefined, { headers: role }), 403, `${method} ${path}`)
  }
})

t.test('no answer has a header that is not in the document', async (t) => {
  const given = { 'content-type': 'application/json', 'idempotency-key': 'k-1', 'x-correlation-id': 'c-1' }
  for (const { name, method, path, operation } of api.operations) {
    const at = `${service.url}${path.replace('{id}', method === 'DELETE' ? '999' : String(id)).replace(/\{\w+\}/, 'c-1')}?bogus=1`
    const headers = { authorization: own, ...path.startsWith('/engine/') ? engine : {}, ...given }
    const answer = await fetch(at, { method, headers, ...method !== 'GET' && { body: '{"bogus": 1}' } })
    await answer.arrayBuffer()
    const declared = Object.keys((operation.responses[answer.status] ?? operation.responses.default)?.headers ?? {})
    const found = [...answer.headers.keys()].filter((header) => !general.test(header))
    t.same(found.filter((header) => !declared.some((each) => each.toLowerCase() === header)), [], `${name}: ${answer.status}`)
  }
})

t.test('a route that needs a body refuses one that is not declared as JSON, or no object; others take an empty one', async (t) => {
  for (const { method, path, takesBody, isBodyOptional } of operations) {
    const send = (body?: string, type = 'application/json') =>
      call(method, path, body, { headers: { ...tokenFor(path), 'content-type': type } })
    if (isBodyOptional && method === 'POST') t.ok([200, 404, 409].includes((await send()).status), path)
    if (!takesBody) continue
    isRefusal(t, await send('{}', 'text/plain'), 415, `${method} ${path}`)
    const answer = await send('[]')
    isRefusal(t, answer, 422, `${method} ${path}`)
    t.strictSame(answer.body.errors, { body: ['must be a JSON object'] })
  }
})

t.test('a body is read up to the limit of its route, and beyond it refused unread', async (t) => {
  for (const [path, limit, headers] of [
    ['/engine/calls/c-1/completed', 2 ** 20, engine], ['/user/leads/import', 2 ** 21, { authorization: own }]
  ] as const) {
    t.equal((await call('POST', path, `{${' '.repeat(limit - 2)}}`, { headers })).status, 422, path)
    const head = [`POST ${path} HTTP/1.1`, 'Host: x', `Authorization: ${headers.authorization}`, 'Content-Type: application/json']
    t.equal((await sendRaw(service.url, [...head, `Content-Length: ${limit + 1}`, '', ''].join('\r\n'))).status, 413, path)
  }
})

t.test('an impossible, an unknown and another user\'s id are a 404 with the same message', async (t) => {
  const odd = ['abc', '0', '-1', '01', '1e3', '%00', '1%20', '9007199254740993', 'x'.repeat(8_000), '']
  const things = [
    ['PUT', '/user/assistant/', 'Assistant', '', 200], ['GET', '/user/assistant/', 'Assistant', '', 200],
    ['GET', '/user/assistant/', 'Assistant', '/history', 200], ['GET', '/user/lead/', 'Lead', '', 200],
    ['GET', '/user/campaign/', 'Campaign', '', 200], ['GET', '/user/call/', 'Call', '', 200], ['GET', '/user/webhook-deliveries/', 'Delivery', '', 200],
    ['POST', '/user/webhook-deliveries/', 'Delivery', '/redeliver', 409],
    ['POST', '/user/assistant/', 'Assistant', '/webhook-test', 409],
    ['POST', '/user/assistant/', 'Assistant', '/webhook-resume', 409]
  ] as const
  const owned = { Assistant: id, Lead: lead.id, Campaign: lead.campaign_id, Call: 'c-1', Delivery: delivery }
  for (const [method, path, what, rest, status] of things) {
    const ask = async (it: string, headers = {}) =>
      await call(method, `${path}${it}${rest}`, method === 'PUT' ? {} : undefined, { headers })
    for (const it of what === 'Lead' ? odd : odd.slice(0, 1)) { // the path of a lead has all that no id may be
      const answer = await ask(it)
      isRefusal(t, answer, 404, `${method} ${path}${it.slice(0, 30)}${rest}`)
      t.equal(answer.body.message, `${what} not found or does not belong to the authenticated user`)
    }
    const headersOf = ({ headers }: Answer) => [...headers.keys()].sort()
    const [nobodys, another] = [await ask('999999'), await ask(String(owned[what]), other)]
    t.strictSame(
      [told(another), headersOf(another)], [told(nobodys), headersOf(nobodys)], 'the answer does not tell which ids there are'
    )
    t.equal((await ask(String(owned[what]))).status, status)
  }
})

t.test('an address that does not exist is a 404, with any method, token or body', async (t) => {
  for (const path of ['/user/', '/user/assistant/1/2', '/user/assistants/', '/User/assistants', '//user/assistants', '/.env']) {
    isRefusal(t, await call('GET', path), 404, path)
    const headers = { authorization: 'Bearer x', 'content-type': 'text/plain' }
    isRefusal(t, await call('POST', path, 'x', { headers }), 404, `${path} without a token`)
  }
})

t.test('a method that an address does not take is a 405 that names those that it does', async (t) => {
  for (const [path, allow, ...refused] of [
    ['/user/lead', 'POST', 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    [`/user/assistant/${id}`, 'DELETE, GET, HEAD, PUT', 'POST'], ['/user/leads', 'GET, HEAD', 'POST'],
    ['/health/live', 'GET, HEAD', 'POST'], ['/docs/json', 'GET, HEAD', 'PATCH'], ['/', 'GET, HEAD', 'DELETE'],
    ['/ops/api/projections', 'GET, HEAD', 'POST'], ['/ops/api/parked/retry', 'POST', 'GET']
  ] as const) {
    for (const method of refused) {
      const answer = await call(method, path, undefined, { headers: { authorization: 'Bearer x' } })
      if (method === 'HEAD') t.equal(answer.status, 405)
      else isRefusal(t, answer, 405, `${method} ${path}`)
      t.equal(answer.headers.get('allow'), allow)
    }
  }
  for (const [path, hasLength] of [['/user/leads', true], ['/user/leads/export', false]] as const) {
    const { status, body, headers } = await call('HEAD', path)
    t.strictSame([status, body, headers.has('content-length')], [200, {}, hasLength], `HEAD ${path}`)
  }
})

t.test('an answer to what is no HTTP request is JSON, too', async (t) => {
  const host = 'Host: x\r\n'
  const token = 'Authorization: Bearer a\r\n'
  for (const [bytes, expected] of [
    ['GARBAGE\r\n\r\n', 400],
    ['GET /user/assistants HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    [`GET /user/assistants HTTP/1.1\r\n${host}HOST: y\r\nConnection: close\r\n\r\n`, 400],
    [`GET /health/live HTTP/1.1\r\n${host}${token}${token.toLowerCase()}Connection: close\r\n\r\n`, 400],
    [`GET /user/assistants HTTP/1.1\r\n${host}Expect: more\r\nConnection: close\r\n\r\n`, 401],
    [`CONNECT example.com:443 HTTP/1.1\r\n${host}\r\nhello`, 404],
    [`POST /user/lead HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    [`GET / HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431]
  ] as const) {
    const { status, contentType, text } = await sendRaw(service.url, bytes)
    t.equal(status, expected, bytes.slice(0, 60))
    t.equal(contentType, 'application/json; charset=utf-8')
    t.strictSame(Object.keys(JSON.parse(text)), ['message'])
  }
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname, () => {
    socket.write(`CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`, () => socket.resetAndDestroy())
  })
  await once(socket, 'close')
  t.equal((await call('GET', '/user/assistants')).status, 200, 'and others are served on')
})
