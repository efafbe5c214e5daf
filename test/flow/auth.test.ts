// Who gets in: tokens that do not verify are all the same 401, and a role enters its own part only.
import { createHmac } from 'node:crypto'
import { SignJWT, UnsecuredJWT } from 'jose'
import t from 'tap'
import { newAssistant, callReport } from '../support/bodies/bodies.js'
import { startServiceOnRun, token } from '../support/running-service.js'
import { secrets } from '../support/auth/secrets.js'

const service = await startServiceOnRun(t)
const { call } = service
const key = new TextEncoder().encode(secrets.JWT_SECRET)
const hs256 = (claims: object, secret = key) =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(secret)
const inOneMinute = Math.floor(Date.now() / 1000) + 60
const create = (given?: string) => call('POST', '/user/assistant', { token: given, body: newAssistant() })

t.test('what is no valid token is answered 401, with one body for all', async (t) => {
  const refused: Record<string, string | undefined> = {
    'no token': undefined,
    'an empty one': '',
    garbage: 'garbage',
    'three parts of garbage': 'a.b.c',
    'alg none': new UnsecuredJWT({ sub: '1', exp: inOneMinute }).encode(),
    'alg none, spelled oddly': `${Buffer.from('{"alg":"nOnE"}')
      .toString('base64url')}.${Buffer.from(JSON.stringify({ sub: '1', exp: inOneMinute })).toString('base64url')}.`,
    'HS512 with the right secret': await new SignJWT({ sub: '1', exp: inOneMinute })
      .setProtectedHeader({ alg: 'HS512' }).sign(Buffer.concat([key, key])),
    'another secret': await hs256(
      { sub: '1', exp: inOneMinute }, new TextEncoder().encode('another secret that is long enough too')
    ),
    'a changed payload': changed(await hs256({ sub: '1', exp: inOneMinute })),
    expired: await hs256({ sub: '1', exp: inOneMinute - 120 }),
    'no exp': await hs256({ sub: '1' }),
    'exp that is no number': unchecked({ sub: '1', exp: 'tomorrow' }),
    'not yet valid': await hs256({ sub: '1', exp: inOneMinute, nbf: inOneMinute }),
    'no sub': await hs256({ exp: inOneMinute }),
    'an empty sub': await hs256({ sub: '', exp: inOneMinute }),
    'a sub that is a number': unchecked({ sub: 1, exp: inOneMinute }),
    'a sub with a line break': await hs256({ sub: '1\n2', exp: inOneMinute }),
    'a sub of 129 characters': await hs256({ sub: 'x'.repeat(129), exp: inOneMinute })
  }
  for (const [what, given] of Object.entries(refused)) {
    const { status, body } = await create(given)
    t.equal(status, 401, what)
    t.strictSame(body, { message: 'Unauthenticated.' })
  }
})

t.test('another scheme than Bearer is answered 401 too', async (t) => {
  const { status, body } = await call('POST', '/user/assistant', {
    body: newAssistant(), headers: { authorization: `Basic ${await token(secrets.JWT_SECRET, '1')}` }
  })
  t.equal(status, 401)
  t.strictSame(body, { message: 'Unauthenticated.' })
})

t.test('a token that expired less than 5 s ago still holds, for clocks that differ', async (t) => {
  t.equal((await create(await hs256({ sub: '1', exp: inOneMinute - 62 }))).status, 201)
})

t.test('who asks is checked before what is asked', async (t) => {
  t.equal((await call('POST', '/user/assistant', { body: '{"broken' })).status, 401)
})

t.test('a subject may be any text of up to 128 characters', async (t) => {
  t.equal((await create(await token(secrets.JWT_SECRET, 'ü'.repeat(128)))).status, 201)
})

t.test('a role enters its own part only', async (t) => {
  const engine = await token(secrets.JWT_SECRET, 'engine', 'engine')
  const user = await token(secrets.JWT_SECRET, '1')
  const report = { body: callReport(1) }
  const entries: Array<[string, string, string, object]> = [
    [engine, 'POST', '/user/assistant', { body: newAssistant() }],
    [engine, 'PUT', '/user/assistant/1', { body: {} }],
    [engine, 'POST', '/user/lead', { body: {} }],
    [engine, 'GET', '/user/webhook-secret', {}],
    [user, 'POST', '/engine/calls/c1/completed', report]
  ]
  for (const role of ['ops', 'admin', 'user', '']) {
    const odd = await token(secrets.JWT_SECRET, '1', role)
    entries.push(
      [odd, 'POST', '/user/assistant', { body: newAssistant() }], [odd, 'POST', '/engine/calls/c1/completed', report]
    )
  }
  entries.push([
    await hs256({ sub: '1', exp: inOneMinute, role: null }), 'POST', '/user/assistant', { body: newAssistant() }
  ])
  for (const [token, method, path, request] of entries) {
    const { status, body } = await call(method, path, { ...request, token })
    t.equal(status, 403, `${method} ${path}`)
    t.same(Object.keys(body), ['message'])
  }
})

/** A token with the right signature whatever its claims are. */
function unchecked (claims: object): string {
  const body = [{ alg: 'HS256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`
}

function changed (token: string): string {
  const [head, , signature] = token.split('.')
  return [head, Buffer.from(JSON.stringify({ sub: '2', exp: inOneMinute })).toString('base64url'), signature].join('.')
}
