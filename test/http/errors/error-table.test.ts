// Refusals of what is wrong with a request itself, on every route and where there is none, and by what is stored: the
// status, and a body of `{message}` and `errors`.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { newLead, callReport, newAssistant } from '../../support/bodies/bodies.js'
import { isRefusal, type Answer } from '../../support/running-service.js'
import { sendRaw } from '../../support/http/open-connections.js'
import { documentedOperations } from '../../support/http/openapi.js'
import { testService } from '../../support/service.js'
import { told } from '../../support/scenes/scenes.js'

const service = await testService(t)
const { call, token } = service
/** The header of that user's or role's token. */
const as = async (user: string, role?: string) => ({ authorization: `Bearer ${await token(user, role)}` })
const [engine, other, { authorization: own }] = [await as('engine', 'engine'), await as('2'), await as('1')]
const { id } = (await call('POST', '/user/assistant', newAssistant())).body.data
const reported = await call('POST', '/engine/calls/c-1/completed', callReport(id), { headers: engine })
const delivery = randomUUID()
await service.parts.pool.query(`
  INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, position, last_position, status, reason)
  VALUES ($1, 'c-1', 'call.completed', '1', $2, 1, 1, 'skipped', 'webhook_off')`, [delivery, id])
await call('GET', '/user/calls', undefined, {
  headers: { 'x-read-position': reported.headers.get('x-read-position') ?? '' }
})
const ops = await as('ops', 'ops')
const lead = (await service.call('POST', '/user/lead', newLead())).body.data
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
  for (const { method, path } of operations) {
    const others = path.startsWith('/engine/') ? [other, ops] : path.startsWith('/ops/') ? [other, engine] : [engine, ops]
    for (const headers of others) isRefusal(t, await call(method, path, undefined, { headers }), 403, `${method} ${path}`)
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
      [400, '{'], [400, '{"variables":{"__proto__":1}}'], [415, '{}', { 'content-type': 'text/plain' }],
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

t.test('so it is at addresses that are none of the interface', async (t) => {
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

t.test('what is no HTTP request is told so in JSON too', async (t) => {
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
