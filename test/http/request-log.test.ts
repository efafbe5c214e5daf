// The log has one line for each request, which says what was asked and by whom, and holds nothing of theirs.
import { once } from 'node:events'
import { connect } from 'node:net'
import pino from 'pino'
import t from 'tap'
import { userHash } from '../../src/http/request-log.js'
import { secrets } from '../support/auth/secrets.js'
import { eventually } from '../support/eventually.js'
import { appAlone } from '../support/http/openapi.js'
import { caller, token as tokenOf } from '../support/running-service.js'
import { tokensAlone } from './auth/tokens.js'

const user = 'ada@example.com'
const key = `rl_${'k'.repeat(43)}`
const ofKey = { id: 7, user_id: user, name: 'x', scopes: ['read' as const] }
const lines: string[] = []
const app = await appAlone({
  logger: pino({ level: 'info' }, { write: (line: string) => { lines.push(line) } }),
  credentials: { ...tokensAlone, findKey: async (sent) => sent === key ? ofKey : 'key-unknown' },
  routes: { config: { rateLimitPerMinute: 0 } }
})
t.teardown(() => app.close())
const url = await app.listen({ host: '127.0.0.1', port: 0 })
const call = caller(url)
const token = await tokenOf(secrets.JWT_SECRET, user)

/** Makes a later request, and resolves when it has its line. */
async function isWritten (): Promise<void> {
  await call('GET', '/nowhere', { headers: { 'x-correlation-id': 'last' } })
  await eventually(async () => lines.some((line) => line.includes('"correlationId":"last"')))
}

/** The lines of one request: those with its correlation id. */
async function linesOf (method: string, path: string, request: { token?: string, body?: unknown } = {}, id = 'c-1') {
  lines.length = 0
  await call(method, path, { ...request, headers: { 'x-correlation-id': id } })
  await isWritten()
  return lines.filter((line) => line.includes(`"correlationId":"${id}"`))
}

t.test('a client that hangs up within its body is no outage of a back end', async (t) => {
  lines.length = 0
  const { hostname, port } = new URL(url)
  const head = ['POST /user/lead HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`, 'X-Correlation-Id: gone']
  const body = ['Content-Type: application/json', 'Content-Length: 100', '', '{']
  await once(connect(Number(port), hostname).on('error', () => {}).resume().end([...head, ...body].join('\r\n')), 'close')
  await isWritten()
  t.strictSame(lines.filter((line) => JSON.parse(line).level > 30), [])
})

t.test('a request is one line with method, route, status, time and user', async (t) => {
  for (const [method, path, route, status, body] of [
    ['GET', '/user/me?secret=query', '/user/me', 200],
    ['POST', '/user/lead', '/user/lead', 400, '{"phone_number": "+15559998877",'],
    ['GET', '/user/leads?phone_number=%2B15559998877&page=x', '/user/leads', 422],
    ['POST', '/engine/calls/call-of-secret/completed', '/engine/calls/:call_id/completed', 403, {}],
    ['GET', '/nowhere/secret?secret=1', 'none', 404]
  ] as const) {
    const found = await linesOf(method, path, { token, ...(body && { body }) })
    t.equal(found.length, 1, `${method} ${route}`)
    const whose = route !== 'none' && { user: userHash(user) }
    t.match(JSON.parse(found[0] ?? ''), { level: 30, msg: 'request', correlationId: 'c-1', method, route, status, ms: Number, ...whose })
    t.notMatch(found.join(), /ada@|secret|nowhere|9998877|eyJ/, 'and nothing of theirs')
  }
})

t.test('the line of a request with an API key has the id of the key, and never the key', async (t) => {
  for (const [sent, told] of [
    [key, { user: userHash(user), api_key: 7, status: 200 }], ['rl_x', { refused: 'key-unknown', status: 401 }]
  ] as const) {
    const [line = ''] = await linesOf('GET', '/user/me', { token: sent })
    t.match(JSON.parse(line), told)
    t.notMatch(line, /rl_/)
  }
})
