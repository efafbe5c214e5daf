// Each request is one line in the log, which says what was asked and by whom, and holds nothing of theirs.
import { once } from 'node:events'
import { connect } from 'node:net'
import pino from 'pino'
import t from 'tap'
import { startRoles } from '../../src/services/roles.js'
import { userHash } from '../../src/http/request-log.js'
import { eventually } from '../support/eventually.js'
import { caller } from '../support/running-service.js'
import { configOf, newAssistant, testService } from '../support/service.js'

const service = await testService(t, ['projector'])
const lines: string[] = []
const log = pino({ level: 'info' }, { write: (line: string) => { lines.push(line) } })
const running = await startRoles(['api'], configOf({}), service.urls, log)
t.teardown(() => running.stop())
const call = caller(running.url)

/** The lines of one request, those with its correlation id, as soon as a later request has its own. */
async function linesOf (method: string, path: string, request: { token?: string, body?: unknown } = {}, id = 'c-1') {
  lines.length = 0
  await call(method, path, { ...request, headers: { 'x-correlation-id': id } })
  await call('GET', '/nowhere', { headers: { 'x-correlation-id': 'last' } })
  await eventually(async () => lines.some((line) => line.includes('"correlationId":"last"')))
  return lines.filter((line) => line.includes(`"correlationId":"${id}"`))
}

const user = 'ada@example.com'
const token = await service.token(user)

t.test('a client that hangs up within its body is no outage of a back end', async (t) => {
  lines.length = 0
  const { hostname, port } = new URL(running.url)
  const head = ['POST /user/lead HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`, 'X-Correlation-Id: gone']
  const body = ['Content-Type: application/json', 'Content-Length: 100', '', '{']
  await once(connect(Number(port), hostname).on('error', () => {}).resume().end([...head, ...body].join('\r\n')), 'close')
  await call('GET', '/nowhere', { headers: { 'x-correlation-id': 'last' } })
  await eventually(async () => lines.some((line) => line.includes('"correlationId":"last"')))
  t.strictSame(lines.filter((line) => JSON.parse(line).level > 30), [])
})

t.test('a request is one line with method, route, status, time and user', async (t) => {
  const cases: Array<[method: string, path: string, route: string, status: number, body?: object]> = [
    ['POST', '/user/assistant', '/user/assistant', 201, newAssistant],
    ['PUT', '/user/assistant/987654321?secret=query', '/user/assistant/:id', 404, {}],
    ['POST', '/user/lead', '/user/lead', 422, { phone_number: '+15559998877' }],
    ['GET', '/user/leads?phone_number=%2B15559998877', '/user/leads', 200],
    ['GET', '/user/call/call-of-secret', '/user/call/:id', 404],
    ['GET', '/user/leads?page=x', '/user/leads', 422],
    ['POST', '/engine/calls/call-of-secret/completed', '/engine/calls/:call_id/completed', 403, {}],
    ['DELETE', '/user/leads', '/user/leads', 405],
    ['GET', '/nowhere/secret?secret=1', 'none', 404]
  ]
  for (const [method, path, route, status, body] of cases) {
    const found = await linesOf(method, path, { token, ...(body && { body }) })
    t.equal(found.length, 1, `${method} ${route}`)
    t.match(JSON.parse(found[0] ?? ''), {
      level: 30,
      msg: 'request',
      correlationId: 'c-1',
      method,
      route,
      status,
      ms: Number,
      ...(status !== 405 && route !== 'none' && { user: userHash(user) })
    })
    t.notMatch(found.join(), /ada@|secret|nowhere|987654321|9998877|eyJ/, 'and nothing of theirs')
  }
})

t.test('an API key is told by its id, and never by itself', async (t) => {
  const lines = await linesOf('POST', '/user/api-key', { token, body: { name: 'x', scopes: ['read'] } })
  t.notMatch(lines.join(), /rl_/)
  const { body } = await call('POST', '/user/api-key', { token, body: { name: 'x', scopes: ['read'] } })
  const { id, key } = body.data
  for (const [sent, told] of [
    [key, { user: userHash(user), api_key: id, status: 200 }], [`rl_${'A'.repeat(43)}`, { refused: 'key-unknown', status: 401 }],
    ['rl_x', { refused: 'key-unknown', status: 401 }]
  ]) {
    const [line = ''] = await linesOf('GET', '/user/me', { token: sent })
    t.match(JSON.parse(line), told)
    t.notMatch(line, /rl_/)
  }
})

t.test('probes are not in the log', async (t) => {
  for (const path of ['/health/live', '/health/ready']) t.strictSame(await linesOf('GET', path), [])
})
