// Every refusal while all back ends are up, on every route: its status, and a body of `{message}` and at most `errors`.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { callReport, newAssistant, newLead } from '../support/bodies.js'
import { told } from '../support/http-assistant.js'
import { isRefusal } from '../support/is-refusal.js'
import { documentedOperations } from '../support/operations.js'
import { testService } from '../support/service.js'
import type { Answer } from '../support/answer.js'

const service = await testService(t)
const { call, token } = service
const as = async (user: string, role?: string) => ({ authorization: `Bearer ${await token(user, role)}` })
const [engine, ops, other] = [await as('engine', 'engine'), await as('ops', 'ops'), await as('2')]
const { id } = (await call('POST', '/user/assistant', newAssistant())).body.data
const lead = (await call('POST', '/user/lead', newLead())).body.data
const reported = await call('POST', '/engine/calls/c-1/completed', callReport(id), { headers: engine })
const delivery = randomUUID()
await service.parts.pool.query(`
  INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, position, last_position, status,
    reason)
  VALUES ($1, 'c-1', 'call.completed', '1', $2, 1, 1, 'skipped', 'webhook_off')`, [delivery, id])
await call('GET', '/user/calls', undefined, {
  headers: { 'x-read-position': reported.headers.get('x-read-position') ?? '' }
})

const operations = (await documentedOperations(service))
  .map((operation) => ({ ...operation, path: operation.path.replace('{id}', String(id)).replace('{call_id}', 'c-1') }))
const withBody = operations.filter(({ takesBody }) => takesBody)
const tokenFor = (path: string) => path.startsWith('/engine/') ? engine : {}

t.test('the document has every route of the interface', async (t) => {
  const named = operations.map(({ method, path }) => `${method} ${path}`)
  for (const route of ['POST /user/assistant', `PUT /user/assistant/${id}`, 'POST /user/lead', 'GET /user/assistants', `GET /user/lead/${id}`, 'POST /engine/calls/c-1/completed']) {
    t.ok(named.includes(route), route)
  }
  t.equal(withBody.length, 4)
})

t.test('without a token that verifies every route is a 401, whatever else is wrong', async (t) => {
  const answers: Array<[string, number, Answer]> = []
  for (const { method, path } of operations) {
    for (const authorization of ['', 'x', 'Bearer', 'Bearer x', 'Basic YTpi', `bearer.${id}`]) {
      answers.push([
      `${method} ${path} ${authorization}`, 401, await call(method, path, undefined, { headers: { authorization } })
      ])
    }
  }
  for (const { method, path } of withBody) {
    for (const [body, type] of [
      ['{', 'application/json'],
      ['x', 'text/plain'],
      ['[]', 'application/json'],
      [`"${'x'.repeat(2 ** 20)}"`, 'application/json']
    ] as const) {
      answers.push([
        `${method} ${path} ${type}`, 401,
        await call(method, path, body, { headers: { authorization: 'Bearer x', 'content-type': type } })
      ])
    }
  }
  for (const [title, status, answer] of answers) {
    isRefusal(t, answer, status, title)
    t.strictSame(answer.body, { message: 'Unauthenticated.' })
  }
})

t.test('a token of another role is a 403 on every route', async (t) => {
  for (const { method, path } of operations) {
    const wrong = path.startsWith('/engine/') ? [other, ops] : [engine, ops, await as('1', 'admin')]
    for (const headers of wrong) {
      isRefusal(t, await call(method, path, undefined, { headers }), 403, `${method} ${path}`)
    }
  }
})

t.test('a body that is not JSON, or has a key that is never accepted, is a 400', async (t) => {
  const bodies = [
    '{', '', 'x', '{"a":1,}', "{'a':1}", 'NaN', '{"a":01}', '{}{}', '{"__proto__":{}}', '{"variables":{"__proto__":1}}',
    '{"a":{"constructor":{"prototype":{}}}}'
  ]
  for (const { method, path } of withBody) {
    for (const body of bodies) {
      isRefusal(t, await call(method, path, body, { headers: tokenFor(path) }), 400, `${method} ${path} ${body}`)
    }
  }
})

t.test('where no body is asked for, an empty one may be declared as JSON, and one that is none is a 400', async (t) => {
  const without = operations.filter(({ method, takesBody }) => method === 'POST' && !takesBody)
  t.equal(without.length, 4)
  for (const { method, path } of without) {
    const statusOf = async (body: string | undefined, type: string) =>
      (await call(method, path, body, { headers: { 'content-type': type } })).status
    const types = ['application/json', 'application/json; charset=utf-8', 'Application/JSON']
    for (const type of types) t.ok([200, 404, 409].includes(await statusOf(undefined, type)), `${path} ${type}`)
    t.ok([200, 404, 409].includes(await statusOf('{}', 'application/json')))
    t.equal(await statusOf('{', 'application/json'), 400)
  }
})

t.test('a body that is not declared as JSON is a 415', async (t) => {
  for (const { method, path } of withBody) {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml', 'application/json, text/plain', 'json']) {
      isRefusal(
        t,
        await call(method, path, '{}', { headers: { ...tokenFor(path), 'content-type': type } }),
        415,
        `${method} ${path} ${type}`
      )
    }
  }
})

t.test('a body over the limit is a 413', async (t) => {
  for (const { method, path } of withBody) {
    const limit = path.startsWith('/engine/') ? 2 ** 20 : 2 ** 19
    isRefusal(
      t, await call(method, path, `{${' '.repeat(limit - 1)}}`, { headers: tokenFor(path) }), 413, `${method} ${path}`
    )
    t.ok(
      [200, 422].includes((await call(method, path, `{${' '.repeat(limit - 2)}}`, { headers: tokenFor(path) })).status),
      'at the limit it is read'
    )
  }
})

t.test('a body of another kind than an object is a 422 on `body` alone', async (t) => {
  for (const { method, path } of withBody) {
    for (const body of ['[]', 'null', '5', '"x"', 'false', undefined]) {
      const answer = await call(method, path, body, { headers: tokenFor(path) })
      isRefusal(t, answer, 422, `${method} ${path} ${body}`)
      t.strictSame(answer.body.errors, { body: ['must be a JSON object'] })
    }
  }
})

t.test('what no id can be, or nobody has, or another user has, is a 404 in the same words', async (t) => {
  const odd = [
    'abc', '1.5', '-1', '0', '%201', '1%20', '1e3', '0x1', '01', '+1', '%00', '%E2%82%AC', '%2F', '1;x', 'null',
    '9007199254740991', '9007199254740992', '9007199254740993', '9'.repeat(400), 'x'.repeat(8_000), ''
  ]
  const things = [
    ['PUT', '/user/assistant/', 'Assistant', '', 200], ['GET', '/user/assistant/', 'Assistant', '', 200],
    ['GET', '/user/assistant/', 'Assistant', '/history', 200], ['GET', '/user/lead/', 'Lead', '', 200],
    ['GET', '/user/call/', 'Call', '', 200], ['GET', '/user/webhook-deliveries/', 'Delivery', '', 200],
    ['POST', '/user/webhook-deliveries/', 'Delivery', '/redeliver', 409],
    ['POST', '/user/assistant/', 'Assistant', '/webhook-test', 409],
    ['POST', '/user/assistant/', 'Assistant', '/webhook-resume', 409]
  ] as const
  const owned = { Assistant: id, Lead: lead.id, Call: 'c-1', Delivery: delivery }
  for (const [method, path, what, rest, status] of things) {
    const own = owned[what]
    const ask = async (it: string, headers = {}) =>
      await call(method, `${path}${it}${rest}`, method === 'PUT' ? {} : undefined, { headers })
    for (const it of odd) {
      const answer = await ask(it)
      isRefusal(t, answer, 404, `${method} ${path}${it.slice(0, 30)}${rest}`)
      t.equal(answer.body.message, `${what} not found or does not belong to the authenticated user`)
    }
    const headersOf = ({ headers }: Answer) => [...headers.keys()].sort()
    const [nobodys, another] = [await ask('999999'), await ask(String(own), other)]
    t.strictSame(
      [told(another), headersOf(another)], [told(nobodys), headersOf(nobodys)], 'nobody learns which ids there are'
    )
    t.equal((await ask(String(own))).status, status)
  }
  t.equal(
    (await call('PUT', `/user/assistant/%3${String(id).slice(0, 1)}${String(id).slice(1)}`, {})).status,
    200,
    'an id may be percent-encoded'
  )
})

t.test('an assistant of another user is not found; errors of the body come first', async (t) => {
  const sent: Array<[body: unknown, headers: Record<string, string>, status: number]> = [
    [{ voice_id: 99 }, {}, 422],
    [{ speech_speed: 9, is_webhook_active: true }, {}, 422],
    [{ is_webhook_active: true, webhook_url: null }, {}, 422],
    [[], {}, 422],
    [{}, { 'idempotency-key': '' }, 422],
    [{ is_webhook_active: true }, {}, 404],
    [{}, { 'if-match': '"0"' }, 404],
    [{}, { 'if-match': '"7"' }, 404],
    [{}, { 'idempotency-key': 'k' }, 404]
  ]
  for (const [body, headers, status] of sent) {
    const ask = async (it: number) =>
      await call('PUT', `/user/assistant/${it}`, body, { headers: { ...other, ...headers } })
    const [another, nobodys] = [await ask(id), await ask(999_999)]
    isRefusal(t, another, status, JSON.stringify([body, headers]))
    t.strictSame(told(another), told(nobodys))
  }
})

t.test('a false If-Match is a 412, another report of a call a 409, a key in flight a 409 with Retry-After', async (t) => {
  for (const etag of ['"9"', 'W/"0"', '0', '"x"', '"9", "8"', '']) {
    isRefusal(
      t,
      await call('PUT', `/user/assistant/${id}`, { assistant_name: 'x' }, { headers: { 'if-match': etag } }),
      412,
    `If-Match: ${etag}`
    )
  }
  isRefusal(
    t,
    await call('POST', '/engine/calls/c-1/completed', callReport(id, { duration: 1 }), { headers: engine }),
    409,
    'another report'
  )
  const retry = async () =>
    await call('POST', '/user/assistant', newAssistant(), { headers: { 'idempotency-key': 'in flight' } })
  t.equal((await retry()).status, 201)
  await service.parts.pool.query(`
    UPDATE ledger.idempotency_keys SET committed_at = NULL, leased_until = now() + interval '1 hour'
    WHERE key = 'in flight'`)
  const answer = await retry()
  isRefusal(t, answer, 409, 'key in flight')
  t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/)
})

t.test('an Idempotency-Key that is none, or was used for something else, is a 422 on it', async (t) => {
  for (const key of ['', 'x'.repeat(256), 'ü', 'a\tb']) {
    const answer = await call('POST', '/user/assistant', newAssistant(), { headers: { 'idempotency-key': key } })
    isRefusal(t, answer, 422, JSON.stringify(key))
    t.strictSame(Object.keys(answer.body.errors), ['Idempotency-Key'])
  }
  const headers = { 'idempotency-key': `${'k'.repeat(254)}~` }
  t.equal((await call('POST', '/user/assistant', newAssistant(), { headers })).status, 201)
  isRefusal(
    t,
    await call('POST', '/user/assistant', newAssistant({ assistant_name: 'Other' }), { headers }),
    422,
    'another body'
  )
})

t.test('more requests than allowed are a 429 with Retry-After', async (t) => {
  const { url } = await service.start(['api'], { RATE_LIMIT_PER_MINUTE: '2' })
  const ask = async (): Promise<Answer> => {
    const response = await fetch(`${url}/user/assistants`, { headers: await as('1') })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  t.strictSame([(await ask()).status, (await ask()).status], [200, 200])
  const answer = await ask()
  isRefusal(t, answer, 429, 'the third')
  t.match(answer.headers.get('retry-after'), /^([1-9]|[1-5]\d|60)$/)
})
