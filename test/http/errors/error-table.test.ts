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

/** Headers of every answer to a user: the document says so once, or a seventeenth of it would be references. */
const ofUsers = /^x-ratelimit-(limit|remaining|reset)$/

const json = { 'content-type': 'application/json' }
const requestsWith = (key: string): Array<[title: string, headers: Record<string, string>, body?: string]> => [
  ['with a key', { ...json, 'idempotency-key': 'k-1', 'x-correlation-id': 'c-1' }, '{}'],
  ['with the key again, and what nobody knows', { ...json, 'idempotency-key': 'k-1' }, '{"bogus": 1}'],
  ['with a body that is encoded', { ...json, 'content-encoding': 'gzip' }, 'x'],
  ['with a key that may only read', { authorization: `Bearer ${key}` }]
]

t.test('every request body has an example that fits', async (t) => {
  for (const { name, operation: { requestBody } } of api.operations) {
    const media = requestBody?.content['application/json']
    if (media) t.same(api.fits(media.schema, media.example), [], name)
  }
})

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

await t.test('whatever is asked, no answer has a header that is not in the document', async (t) => {
  const made = await call('POST', '/user/assistant', newAssistant())
  const { id } = made.body.data
  await call('POST', '/user/lead', newLead())
  const limited = await service.start(['api'], { RATE_LIMIT_PER_MINUTE: '1' })
  const tokens = { user: await token('1'), engine: await token('e', 'engine') }
  const key = (await call('POST', '/user/api-key', { name: 'k', scopes: ['read'] })).body.data.key
  const requests = requestsWith(key)
  const some = api.operations.filter(({ path }) => path.startsWith('/user/lead'))
  const rounds = [[service.url, requests, api.operations], [limited.url, requests.slice(0, 1), some]] as const
  for (const [url, asked, operations] of rounds) {
    for (const { name, method, path, operation } of operations) {
      for (const [title, headers, body] of asked) {
        if (method === 'GET' && title !== asked[0]?.[0]) continue // it reads neither a key of ours nor a body
        const answer = await fetch(addressOf(url, method, path, id), {
          method,
          headers: { authorization: `Bearer ${path.startsWith('/engine/') ? tokens.engine : tokens.user}`, ...headers },
          ...(method !== 'GET' && body !== undefined && { body })
        })
        await answer.arrayBuffer()
        const described = operation.responses[answer.status] ?? operation.responses.default
        const declared = Object.keys(described?.headers ?? {}).map((header) => header.toLowerCase())
        const found = [...answer.headers.keys()].filter((header) => !general.test(header))
        const wanted = found.filter((header) => !ofUsers.test(header) || answer.status >= 400)
        t.same(wanted.filter((header) => !declared.includes(header)), [], `${name} ${title}: ${answer.status}`)
      }
    }
  }
})

/** Leads to what is there, but a DELETE to nothing. */
function addressOf (url: string, method: string, path: string, id: number): string {
  const asked = path.replace('{id}', method === 'DELETE' ? '999' : String(id)).replace(/\{\w+\}/, 'c-1')
  return `${url}${asked}?bogus=1`
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
const withBody = operations.filter(({ takesBody }) => takesBody)
const tokenFor = (path: string) => path.startsWith('/engine/') ? engine : path.startsWith('/ops/') ? ops : {}

t.test('without a token that verifies every route is a 401, whatever else is wrong', async (t) => {
  const headers = { authorization: 'Bearer x', 'content-type': 'text/plain' } // a process refuses 120 tokens a minute
  for (const { method, path, takesBody } of operations) {
    const answer = await call(method, path, takesBody ? '{' : undefined, { headers })
    isRefusal(t, answer, 401, `${method} ${path}`)
    t.strictSame(answer.body, { message: 'Unauthenticated.' })
  }
})

t.test('a token of another role is a 403 on every route', async (t) => {
  for (const [nth, { method, path }] of operations.entries()) {
    const others = path.startsWith('/engine/') ? [other, ops] : path.startsWith('/ops/') ? [other, engine] : [engine, ops]
    isRefusal(t, await call(method, path, undefined, { headers: others[nth % 2] }), 403, `${method} ${path}`)
  }
})

t.test('on a route that needs no body an empty one may be declared as JSON', async (t) => {
  const without = operations.filter(({ method, isBodyOptional }) => method === 'POST' && isBodyOptional)
  t.ok(without.length >= 4, 'the routes of webhooks are among them')
  for (const { method, path } of without) {
    const headers = { ...tokenFor(path), 'content-type': 'application/json' }
    for (const body of [undefined, '{}']) {
      t.ok([200, 404, 409].includes((await call(method, path, body, { headers })).status), `${path} ${body}`)
    }
  }
})

const isImport = (path: string) => path === '/user/leads/import'

t.test('a body that is no JSON, not declared as JSON, too large, or no object is refused on every route', async (t) => {
  for (const { method, path, isBodyOptional } of withBody) {
    const limit = path.startsWith('/engine/') ? 2 ** 20 : isImport(path) ? 2 ** 21 : 2 ** 19
    const padded = (spaces: number) => `{${' '.repeat(spaces)}}`
    const send = (body?: string, more = {}) => call(method, path, body, { headers: { ...tokenFor(path), ...more } })
    for (const [status, body, headers] of [
      [400, '{'], [415, '{}', { 'content-type': 'text/plain' }],
      [422, '[]'], ...isBodyOptional ? [] : [[400, ''], [422, 'null'], [422, undefined]] as const
    ] as const) {
      const answer = await send(body, headers)
      isRefusal(t, answer, status, `${method} ${path} ${body?.slice(0, 30)}`)
      if (status === 422) t.strictSame(answer.body.errors, { body: ['must be a JSON object'] })
    }
    const head = [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: ${(tokenFor(path) as typeof other).authorization ?? own}`]
    const { status, text } = await sendRaw(
      service.url, [...head, 'Content-Type: application/json', `Content-Length: ${limit + 1}`, '', ''].join('\r\n'))
    t.strictSame([status, Object.keys(JSON.parse(text))], [413, ['message']], `${method} ${path}`)
    if (limit > 2 ** 19) t.equal((await send(padded(limit - 2))).status, 422, 'at the limit it is read')
  }
})

t.test('an impossible, an unknown and another user\'s id are a 404 with the same message', async (t) => {
  const odd = [
    'abc', '1.5', '-1', '0', '%201', '1%20', '1e3', '0x1', '01', '+1', '%00', '%E2%82%AC', '%2F', '1;x', 'null',
    '9007199254740991', '9007199254740992', '9007199254740993', '9'.repeat(400), 'x'.repeat(8_000), ''
  ]
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
    const own = owned[what]
    const ask = async (it: string, headers = {}) =>
      await call(method, `${path}${it}${rest}`, method === 'PUT' ? {} : undefined, { headers })
    for (const it of what === 'Lead' ? odd : odd.slice(0, 3)) { // the path of a lead has all that no id may be
      const answer = await ask(it)
      isRefusal(t, answer, 404, `${method} ${path}${it.slice(0, 30)}${rest}`)
      t.equal(answer.body.message, `${what} not found or does not belong to the authenticated user`)
    }
    const headersOf = ({ headers }: Answer) => [...headers.keys()].sort()
    const [nobodys, another] = [await ask('999999'), await ask(String(own), other)]
    t.strictSame(
      [told(another), headersOf(another)], [told(nobodys), headersOf(nobodys)], 'the answer does not tell which ids there are'
    )
    t.equal((await ask(String(own))).status, status)
  }
  const encoded = `%3${String(id).slice(0, 1)}${String(id).slice(1)}`
  t.equal((await call('PUT', `/user/assistant/${encoded}`, {})).status, 200, 'an id may be percent-encoded')
})

t.test('an address that does not exist is a 404, with any method, token or body', async (t) => {
  const nowhere = [
    '/user', '/user/', '/user/nowhere', '/user/assistant/1/2', '/user/assistants/', '/User/assistants',
    '//user/assistants', '/engine', '/v1/user/assistant', '/.env'
  ]
  const headers = { authorization: 'Bearer x', 'content-type': 'text/plain' }
  for (const path of nowhere) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      isRefusal(t, await call(method, path, method === 'GET' ? undefined : '{'), 404, `${method} ${path}`)
    }
    isRefusal(t, await call('POST', path, 'x', { headers }), 404, `${path} without a token`)
  }
})

t.test('a method that an address does not take is a 405 that names those that it does', async (t) => {
  for (const [nth, path] of [...new Set(documented.map((operation) => operation.path))].entries()) {
    const methods = documented.filter((operation) => operation.path === path).map(({ method }) => method)
    const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods
    const refused = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !allowed.includes(method))
    for (const method of refused.slice(0, nth === 0 ? 6 : 1)) { // one route of Fastify answers them all
      const answer = await call(method, path, method === 'GET' ? undefined : '{', {
        headers: { authorization: 'Bearer x' }
      })
      isRefusal(t, answer, 405, `${method} ${path}`)
      t.equal(answer.headers.get('allow'), allowed.sort().join(', '))
    }
    const { status, body, headers } = await call('HEAD', path)
    const read = /^\/(engine|ops)\//.test(path) ? 403 : path.includes('{') ? 404 : 200
    t.strictSame([status, body], [methods.includes('GET') ? read : 405, {}], `HEAD ${path}`)
    t.equal(headers.get('content-length') === null, /s\/export$/.test(path), `the length of ${path} is told where it is known`)
  }
})

t.test('pages, probes and routes of operators refuse other methods alike', async (t) => {
  const reads = ['/', '/health/live', '/health/ready', '/metrics', '/docs', '/docs/', '/docs/json', '/docs/static/index.css']
  const ofOperators = ['/ops/api/projections', '/ops/api/actions/1']
  for (const path of [...reads, ...ofOperators]) {
    for (const method of ['POST', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await call(method, path, undefined, { headers: { authorization: 'Bearer x' } })
      isRefusal(t, answer, 405, `${method} ${path}`)
      t.equal(answer.headers.get('allow'), 'GET, HEAD')
    }
  }
  t.equal((await call('GET', '/ops/api/parked/retry')).headers.get('allow'), 'POST')
})

t.test('an answer to what is no HTTP request is JSON, too', async (t) => {
  const host = 'Host: x\r\n'
  const token = 'Authorization: Bearer a\r\n'
  const sent: Array<[bytes: string, status: number]> = [
    ['GARBAGE\r\n\r\n', 400],
    [`GET /user/assistants HTTP/9.9\r\n${host}\r\n`, 400],
    [`FOO /user/assistants HTTP/1.1\r\n${host}\r\n`, 400],
    ['GET /user/assistants HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    [`GET /user/assistants HTTP/1.1\r\n${host}${host}Connection: close\r\n\r\n`, 400],
    [`GET /user/assistants HTTP/1.1\r\n${host}HOST: y\r\nConnection: close\r\n\r\n`, 400],
    [`GET /health/live HTTP/1.1\r\n${host}${token}${token.toLowerCase()}Connection: close\r\n\r\n`, 400],
    [`GET /health/live HTTP/1.0\r\n${host}${host}\r\n`, 400],
    [`GET /user/assistants HTTP/1.1\r\n${host}Expect: more\r\nConnection: close\r\n\r\n`, 401],
    [`CONNECT example.com:443 HTTP/1.1\r\n${host}\r\nhello`, 404],
    [`GET / HTTP/1.1\r\n${host}no colon\r\n\r\n`, 400],
    [`GET /\u0001 HTTP/1.1\r\n${host}\r\n`, 400],
    [`POST /user/lead HTTP/1.1\r\n${host}Content-Length: x\r\n\r\n`, 400],
    [`POST /user/lead HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    [`GET / HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    [`GET /user/assistant/${'1'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 431]
  ]
  for (const [bytes, expected] of sent) {
    const { status, contentType, text } = await sendRaw(service.url, bytes)
    t.equal(status, expected, bytes.slice(0, 60))
    t.equal(contentType, 'application/json; charset=utf-8')
    t.strictSame(Object.keys(JSON.parse(text)), ['message'])
  }
  for (let nth = 0; nth < 20; nth += 1) {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname, () => {
      socket.write(`CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`, () => socket.resetAndDestroy())
    })
    await once(socket, 'close')
  }
  t.equal((await call('GET', '/user/assistants')).status, 200, 'and others are served on')
})
