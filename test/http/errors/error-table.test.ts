// Refusals of what is wrong with a request itself, on every route: the status, and a body of `{message}` and `errors`.
import t from 'tap'
import { newLead } from '../../support/bodies/bodies.js'
import { isRefusal, type Answer, caller } from '../../support/running-service.js'
import { documentedOperations } from '../../support/http/openapi.js'
import { refusalScene } from './refusal-scene.js'

const { service, call, as, engine, other, id } = await refusalScene(t)
const ops = await as('ops', 'ops')
const leadId: number = (await service.call('POST', '/user/lead', newLead())).body.data.id
const idFor = (path: string) => String(path.startsWith('/user/lead/') ? leadId : id)
const operations = (await documentedOperations(service)).map((operation) =>
  ({ ...operation, path: operation.path.replace('{id}', idFor(operation.path)).replace('{call_id}', 'c-1') }))
const withBody = operations.filter(({ takesBody }) => takesBody)
const tokenFor = (path: string) => path.startsWith('/engine/') ? engine : {}

t.test('the document has every route of the interface', async (t) => {
  const named = operations.map(({ method, path }) => `${method} ${path}`)
  const routes = [
    'POST /user/assistant', `PUT /user/assistant/${id}`, 'POST /user/lead', 'GET /user/assistants',
    `GET /user/lead/${leadId}`, 'POST /engine/calls/c-1/completed'
  ]
  for (const route of routes) t.ok(named.includes(route), route)
  const bodies = withBody.map(({ method, path }) => `${method} ${path}`)
  for (const route of routes.filter((route) => !route.startsWith('GET '))) t.ok(bodies.includes(route), `${route}: a body`)
})

t.test('without a token that verifies every route is a 401, whatever else is wrong', async (t) => {
  const answers: Array<[string, number, Answer]> = []
  const another = async () => caller((await service.start(['api'])).url) // a process refuses 120 tokens a minute
  for (const authorization of ['', 'x', 'Bearer', 'Bearer x', 'Basic YTpi', `bearer.${id}`]) {
    const call = await another()
    for (const { method, path } of operations) {
      const answer = await call(method, path, { headers: { authorization } })
      answers.push([`${method} ${path} ${authorization}`, 401, answer])
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
  for (const { method, path, isBodyOptional } of withBody) {
    for (const body of bodies.filter((body) => body !== '' || !isBodyOptional)) {
      isRefusal(t, await call(method, path, body, { headers: tokenFor(path) }), 400, `${method} ${path} ${body}`)
    }
  }
})

t.test('on a route that needs no body an empty one may be declared as JSON, and one that is no JSON is a 400', async (t) => {
  const without = operations.filter(({ method, isBodyOptional }) => method === 'POST' && isBodyOptional)
  t.ok(without.length >= 4, 'the routes of webhooks are among them')
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
    for (const type of notJson) {
      isRefusal(
        t,
        await call(method, path, '{}', { headers: { ...tokenFor(path), 'content-type': type } }),
        415,
        `${method} ${path} ${type}`
      )
    }
  }
})

const isImport = (path: string) => path === '/user/leads/import'

t.test('a body over the limit is a 413', async (t) => {
  for (const { method, path } of withBody) {
    const limit = path.startsWith('/engine/') ? 2 ** 20 : isImport(path) ? 2 ** 21 : 2 ** 19
    isRefusal(
      t, await call(method, path, `{${' '.repeat(limit - 1)}}`, { headers: tokenFor(path) }), 413, `${method} ${path}`
    )
    t.ok(
      [200, 409, 422].includes((await call(method, path, `{${' '.repeat(limit - 2)}}`, { headers: tokenFor(path) })).status),
      'at the limit it is read'
    )
  }
})

t.test('a body of another kind than an object is a 422 on `body` alone', async (t) => {
  for (const { method, path, isBodyOptional } of withBody) {
    const none = isBodyOptional ? [] : ['null', undefined]
    for (const body of ['[]', '5', '"x"', 'false', ...none]) {
      const answer = await call(method, path, body, { headers: tokenFor(path) })
      isRefusal(t, answer, 422, `${method} ${path} ${body}`)
      t.strictSame(answer.body.errors, { body: ['must be a JSON object'] })
    }
  }
})
const notJson = [
  'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml',
  'application/json, text/plain', 'json'
]
