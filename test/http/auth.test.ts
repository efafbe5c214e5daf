// Who may enter: signed tokens of the right kind, and the right role for each part.
import { once } from 'node:events'
import { createServer } from 'node:http'
import fastify from 'fastify'
import { SignJWT, exportJWK, generateKeyPair, type JWTPayload } from 'jose'
import t, { type Test } from 'tap'
import { only, registerAuth, type JwtSettings } from '../../src/http/auth.js'

const secret = 'a secret of at least thirty-two bytes'
const key = new TextEncoder().encode(secret)

async function door (t: Test, settings: JwtSettings = { secret, roleClaim: 'role' }) {
  const app = fastify()
  t.teardown(() => app.close())
  await registerAuth(app, settings)
  for (const role of ['user', 'engine', 'ops'] as const) app.get(`/${role}`, { onRequest: only(role) }, (request) => request.user)
  return async (token: string | undefined, role = 'user') => {
    const { statusCode, body } = await app.inject({ url: `/${role}`, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })
    return { status: statusCode, body: JSON.parse(body) as object }
  }
}

interface Made { alg?: string, expires?: string | number | null, by?: Uint8Array }

const token = (claims: JWTPayload = {}, { alg = 'HS256', expires = '1h', by = key }: Made = {}) => {
  const jwt = new SignJWT({ sub: '1', ...claims }).setProtectedHeader({ alg })
  return (expires === null ? jwt : jwt.setExpirationTime(expires)).sign(by)
}

const seconds = (fromNow: number) => Math.floor(Date.now() / 1_000) + fromNow

t.test('a valid token enters as its subject', async (t) => {
  const enter = await door(t)
  t.match(await enter(await token()), { status: 200, body: { id: '1', role: 'user' } })
  t.match(await enter(await token({ sub: 'x'.repeat(128) })), { status: 200 })
})

t.test('anything else does not, and is not told why', async (t) => {
  const enter = await door(t)
  const [head, body] = (await token()).split('.')
  const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${body}.`
  const bad = {
    'no token': undefined,
    'no JWT': 'nonsense',
    'no signature': `${head}.${body}.`,
    'algorithm none': none,
    'another key': await token({}, { by: new TextEncoder().encode('x'.repeat(32)) }),
    'another algorithm': await token({}, { alg: 'HS512', by: new TextEncoder().encode(secret.repeat(2)) }),
    'HS512 with the same secret': await token({}, { alg: 'HS512' }),
    'no expiry': await token({}, { expires: null }),
    expired: await token({}, { expires: seconds(-10) }),
    'not yet valid': await token({ nbf: seconds(60) }),
    'no subject': await token({ sub: undefined }),
    'an empty subject': await token({ sub: '' }),
    'a subject that is too long': await token({ sub: 'x'.repeat(129) }),
    'a subject that does not print': await token({ sub: 'a\u0000b' }),
    'a subject that is a number': await token({ sub: 1 as never })
  }
  for (const [what, wrong] of Object.entries(bad)) t.strictSame(await enter(wrong), { status: 401, body: { statusCode: 401, error: 'Unauthorized', message: 'Unauthenticated.' } }, what)
})

t.test('clocks may differ by five seconds', async (t) => {
  const enter = await door(t)
  t.match(await enter(await token({}, { expires: seconds(-2) })), { status: 200 })
})

t.test('each role enters its own part only', async (t) => {
  const enter = await door(t)
  const roles = { user: undefined, engine: 'engine', ops: 'ops' }
  for (const part of Object.keys(roles)) {
    for (const [name, role] of Object.entries(roles)) t.match(await enter(await token({ role }), part), { status: name === part ? 200 : 403 }, `${name} at ${part}`)
    for (const role of ['user', 'admin', '', null, 1, ['engine']]) t.match(await enter(await token({ role }), part), { status: 403 }, `${JSON.stringify(role)} at ${part}`)
  }
})

t.test('the role may be another claim', async (t) => {
  const enter = await door(t, { secret, roleClaim: 'scope' })
  t.match(await enter(await token({ scope: 'ops' }), 'ops'), { status: 200 })
  t.match(await enter(await token({ role: 'ops' }), 'ops'), { status: 403 })
})

t.test('tokens of an issuer are verified with its published keys, its name and ours', async (t) => {
  const [rsa, ec, stranger] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('ES256'), generateKeyPair('RS256')])
  const keys = [{ ...await exportJWK(rsa.publicKey), kid: 'rsa', alg: 'RS256' }, { ...await exportJWK(ec.publicKey), kid: 'ec', alg: 'ES256' }]
  let fetched = 0
  const issuer = createServer((_request, response) => { fetched += 1; response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys })) }).listen(0, '127.0.0.1')
  t.teardown(() => issuer.close())
  await once(issuer, 'listening')
  const address = issuer.address()
  const jwksUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
  const enter = await door(t, { jwksUrl, issuer: 'issuer', audience: 'ringledger', roleClaim: 'role' })
  const signed = (kid: string, alg: string, by: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'], claims: JWTPayload = {}) =>
    new SignJWT({ sub: '1', iss: 'issuer', aud: 'ringledger', ...claims }).setProtectedHeader({ alg, kid }).setExpirationTime('1h').sign(by)

  t.match(await enter(await signed('rsa', 'RS256', rsa.privateKey)), { status: 200, body: { id: '1' } })
  t.match(await enter(await signed('ec', 'ES256', ec.privateKey)), { status: 200 })
  t.equal(fetched, 1, 'keys are fetched once')
  for (const claims of [{ iss: 'other' }, { aud: 'other' }, { iss: undefined }, { aud: undefined }]) {
    t.match(await enter(await signed('rsa', 'RS256', rsa.privateKey, claims)), { status: 401 }, JSON.stringify(claims))
  }
  t.match(await enter(await signed('rsa', 'RS256', stranger.privateKey)), { status: 401 })
  t.match(await enter(await signed('rsa', 'PS256', (await generateKeyPair('PS256')).privateKey)), { status: 401 })
  t.match(await enter(await token({ iss: 'issuer', aud: 'ringledger' })), { status: 401 }, 'a token signed with a public text')
  for (let index = 0; index < 20; index += 1) await enter(await signed(`unknown-${index}`, 'RS256', stranger.privateKey))
  t.ok(fetched <= 2, 'unknown keys do not make us fetch again and again')
})
