// Who is let in to the pages for operators, for how long, and what a browser may send by itself.
import t from 'tap'
import { SignJWT } from 'jose'
import { signSession } from '../../src/ops/operator.js'
import { post, session } from '../support/ops/operator.js'
import { sendRaw } from '../support/http/open-connections.js'
import { secrets } from '../support/auth/secrets.js'
import { testService } from '../support/service.js'

const { url, token, start } = await testService(t, ['api'])
const ops = await token('operator', 'ops')
const cookieOf = (answer: Response) => answer.headers.get('set-cookie') ?? ''

t.test('a stranger sees the form to log in, and nothing else', async (t) => {
  for (const path of ['/ops', '/ops/deliveries', '/ops/projections/leads', '/ops/endpoints']) {
    const answer = await fetch(url + path)
    t.equal(answer.status, 401, path)
    const page = await answer.text()
    t.match(page, /<h1>Log in<\/h1>/)
    t.match(page, `name="next" value="${path}"`, 'which leads on to where they wanted to go')
  }
  const api = await fetch(`${url}/ops/api/projections`)
  t.equal(api.status, 401)
  t.same(await api.json(), { message: 'Unauthenticated.' })
})

t.test('a token of the role ops opens a session of an hour at most', async (t) => {
  const answer = await post(`${url}/ops/login`, { token: ` ${ops}\n`, next: '/ops/endpoints' })
  t.equal(answer.status, 303)
  t.equal(answer.headers.get('location'), '/ops/endpoints')
  t.match(cookieOf(answer), /^ringledger_ops=[^;]+; Max-Age=3(600|59\d); Path=\/ops; HttpOnly; SameSite=Strict$/)
  const secure = await post(`${url}/ops/login`, { token: ops }, { 'x-forwarded-proto': 'https' })
  t.match(cookieOf(secure), /; Secure/)
})

t.test('a session ends with the token that it was made with', async (t) => {
  const short = await new SignJWT({ role: 'ops' }).setProtectedHeader({ alg: 'HS256' }).setSubject('operator')
    .setExpirationTime('60s').sign(new TextEncoder().encode(secrets.JWT_SECRET))
  t.match(cookieOf(await post(`${url}/ops/login`, { token: short })), /Max-Age=(60|5\d);/)
})

t.test('other tokens open none, and say nothing of why', async (t) => {
  const expired = await new SignJWT({ role: 'ops' }).setProtectedHeader({ alg: 'HS256' }).setSubject('operator')
    .setExpirationTime(1).sign(new TextEncoder().encode(secrets.JWT_SECRET))
  const { url: other } = await start(['api'])
  for (const wrong of [await token('1'), await token('engine', 'engine'), expired, 'x', '']) {
    const answer = await post(`${other}/ops/login`, { token: wrong })
    t.equal(answer.status, 401)
    t.equal(cookieOf(answer), '')
    t.match(await answer.text(), 'This is no valid token with the role ops.')
  }
})

t.test('attempts to log in are limited by address', async (t) => {
  const { url: other } = await start(['api'])
  for (let n = 0; n < 10; n++) t.equal((await post(`${other}/ops/login`, { token: 'x' })).status, 401)
  const late = await post(`${other}/ops/login`, { token: ops })
  t.equal(late.status, 429, 'a good token, too: a guess is not told from it')
  t.match(late.headers.get('retry-after'), /^\d+$/)
  const unsent = await sendRaw(other, 'POST /ops/login HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n' +
    'Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n')
  t.equal(unsent.status, 429, 'and an attempt counts before its body comes')
})

t.test('no body of an attempt is longer than 16 KiB', async (t) => {
  const { url: other } = await start(['api'])
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token: 'x'.repeat(16_500) }) }
  t.equal((await fetch(`${other}/ops/login`, json)).status, 413)
  t.equal((await post(`${other}/ops/login`, { token: 'x'.repeat(16_500) })).status, 413)
})

t.test('nobody is led away from the pages', async (t) => {
  const { url: other } = await start(['api'])
  for (const next of ['https://example.com/', '//example.com/ops', '/ops\\@example.com', '/opsx', '/user/me', '/ops/\r\nx: y']) {
    const answer = await post(`${other}/ops/login`, { token: ops, next })
    t.equal(answer.headers.get('location'), '/ops', next)
  }
})

t.test('the cookie is accepted on no route of the API, wherever it is sent', async (t) => {
  const { url: other } = await start(['api'])
  const { cookie } = await session(other, ops)
  for (const path of ['/user/me', '/user/assistants', '/metrics', '/ops/api/projections']) {
    t.equal((await fetch(other + path, { headers: { cookie } })).status, 401, path)
  }
  const { checks } = await (await fetch(`${other}/health/ready`, { headers: { cookie } })).json() as { checks?: object }
  t.equal(checks, undefined, 'nor are the details of the readiness told')
})

t.test('what was not signed with the key of this service is no session', async (t) => {
  const cookie = `ringledger_ops=${await signSession(new Uint8Array(32), 'operator', 600)}`
  t.equal((await fetch(`${url}/ops`, { headers: { cookie } })).status, 401)
})

t.test('a form of another page changes nothing: it does not know the token of the session', async (t) => {
  const { url: other } = await start(['api'])
  const { cookie, csrf } = await session(other, ops)
  const pause = `${other}/ops/projections/leads/pause`
  for (const given of ['', 'x'.repeat(csrf.length)]) {
    const answer = await post(pause, { csrf: given }, { cookie })
    t.equal(answer.status, 403)
    t.match(await answer.text(), 'This form is from another session')
  }
})

t.test('the address of the form leads to the pages', async (t) => {
  const answer = await fetch(`${url}/ops/login`, { redirect: 'manual' })
  t.same([answer.status, answer.headers.get('location')], [303, '/ops'])
})

t.test('to log out ends the session in the browser', async (t) => {
  const { url: other } = await start(['api'])
  const { cookie, csrf } = await session(other, ops)
  const answer = await post(`${other}/ops/logout`, { csrf }, { cookie })
  t.equal(answer.status, 303)
  t.match(cookieOf(answer), /^ringledger_ops=; .*Path=\/ops.*(Max-Age=0|Expires=Thu, 01 Jan 1970)/)
})
