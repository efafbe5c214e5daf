// Tokens that are signed with the shared secret or by an issuer: which are valid.
import { SignJWT } from 'jose'
import t from 'tap'
import {
  tokenIssuer, audience, base64url, claims, guarded, guardedBy, isLetIn, issuer, issuerAndApp, now, secret, signed,
  signedAsIs, without
} from './tokens.js'
import { roleMapOf } from '../../../src/http/credentials.js'

const { send, status } = await guarded(t, { roleClaim: 'role', secret })

t.test('anything else is a 401, which names the scheme where no token came', async (t) => {
  const { headers } = await send(undefined)
  t.equal(headers['www-authenticate'], 'Bearer')
  t.equal((await send(`Bearer ${await signed(claims())}`)).headers['www-authenticate'], undefined)
  const { headers: ofOps } = await send(`Bearer ${await signed(claims({ role: 'ops' }))}`)
  t.equal(ofOps['www-authenticate'], undefined, 'a token of another role would not help')
  const odd = ['', 'Bearer', 'Bearer ', 'Bearer a b', 'Basic dXNlcjpwYXNz', 'Bearer garbage', 'Bearer a.b.c']
  for (const header of [undefined, ...odd, `Bearer ${'x'.repeat(5_000)}`]) {
    t.equal((await send(header)).statusCode, 401, String(header?.slice(0, 20)))
  }
  const good = await signed(claims())
  const [head, body, signature = ''] = good.split('.')
  const none = `${base64url({ alg: 'none' })}.${body}.`
  for (const [why, token] of Object.entries({
    'alg none': none,
    'alg none with a signature': `${none}${signature}`,
    'no signature': `${head}.${body}.`,
    'another key': await signed(claims(), 'HS256', 'o'.repeat(40)),
    'another algorithm': await signed(claims(), 'HS512'),
    'a changed claim': `${head}.${base64url(claims({ sub: 'user-2' }))}.${signature}`,
    'an unknown critical header': `${base64url({ alg: 'HS256', crit: ['x'], x: 1 })}.${body}.${signature}`
  })) t.equal(await status(token), 401, why)
})

t.test('what a former secret signed is let in, with all checks; what an unknown one signed is not', async (t) => {
  const [former, older] = ['f'.repeat(20) + 'g'.repeat(20), 'o'.repeat(20) + 'p'.repeat(20)]
  const rotated = await guarded(t, { roleClaim: 'role', secret, previousSecrets: [former, older], audience })
  for (const key of [secret, former, older]) {
    const answer = await rotated.send(`Bearer ${await signed(claims(), 'HS256', key)}`)
    t.same([answer.statusCode, answer.json()], [200, { id: 'user-1', role: 'user' }])
    t.equal(await rotated.status(await signed(claims({ exp: now() - 10 }), 'HS256', key)), 401, 'expired')
    t.equal(await rotated.status(await signed(claims({ aud: 'other' }), 'HS256', key)), 401, 'for others')
    t.equal(await rotated.status(await signed(without('exp'), 'HS256', key)), 401, 'never expires')
    t.equal(await rotated.status(await signed(claims(), 'HS512', key)), 401, 'another algorithm')
  }
  const [head, body, signature = ''] = (await signed(claims(), 'HS256', former)).split('.')
  for (const [why, token] of Object.entries({
    'an unknown secret': await signed(claims(), 'HS256', 'u'.repeat(40)),
    'the end of a former one': await signed(claims(), 'HS256', former.slice(8)),
    'a changed claim': `${head}.${base64url(claims({ sub: 'user-2' }))}.${signature}`,
    'no signature': `${head}.${body}.`,
    'alg none': `${base64url({ alg: 'none' })}.${body}.`,
    'no token': 'a.b.c'
  })) t.equal(await rotated.status(token), 401, why)
})

t.test('times count, with five seconds of leeway', async (t) => {
  t.equal(await status(await signed(claims({ exp: now() - 2 }))), 200)
  t.equal(await status(await signed(claims({ nbf: now() + 2 }))), 200)
  for (const exp of ['soon', null, [now() + 60]]) {
    t.equal(await status(signedAsIs({ ...claims(), exp })), 401, `exp ${JSON.stringify(exp)}`)
  }
})

t.test('a subject is 1 to 128 printable characters', async (t) => {
  for (const sub of ['1', 'auth0|5f7c8ec7', 'Zoë Ångström', '日本', 's'.repeat(128), '😀'.repeat(128)]) {
    t.equal(await status(await signed(claims({ sub }))), 200, sub.slice(0, 20))
  }
  for (const sub of ['', 's'.repeat(129), 'a\nb', 'a\0b', 'a\u200bb', 'a\ud800']) {
    t.equal(await status(await signed(claims({ sub }))), 401, JSON.stringify(sub.slice(0, 20)))
  }
  for (const sub of [1, null, true, ['1'], { id: '1' }]) {
    t.equal(await status(signedAsIs({ ...claims(), sub })), 401, `sub ${JSON.stringify(sub)}`)
  }
})

t.test('issuer and audience are required as soon as they are set', async (t) => {
  const { status } = await guarded(t, { roleClaim: 'role', secret, issuer, audience })
  t.equal(await status(await signed(claims())), 200)
  t.equal(await status(await signed(claims({ aud: ['other', audience] }))), 200)
})

t.test('RS256 and ES256 tokens are let in, others are not', async (t) => {
  const { keys, status } = await issuerAndApp(t)
  t.equal(await status(await keys.sign('rsa', claims())), 200)
  t.equal(await status(await keys.sign('ec', claims())), 200)
  const pem = await keys.publicPem('rsa')
  const ofPem = await signed(claims(), 'HS256', pem)
  const [, body] = ofPem.split('.')
  for (const [why, token] of Object.entries({
    'HS256 with the public key': ofPem,
    'HS256 with the public key and its name': signedAsIs(claims(), { alg: 'HS256', kid: 'rsa' }, pem),
    'alg none': `${base64url({ alg: 'none', kid: 'rsa' })}.${body}.`,
    'the name of another key': await keys.sign('rsa', claims(), { kid: 'ec' }),
    'another issuer': await keys.sign('rsa', claims({ iss: 'https://other.example.com' })),
    'another audience': await keys.sign('rsa', claims({ aud: 'other' })),
    'no issuer': await keys.sign('rsa', without('iss')),
    'no audience': await keys.sign('rsa', without('aud')),
    expired: await keys.sign('rsa', claims({ exp: now() - 10 }))
  })) t.equal(await status(token), 401, why)
})

t.test('a key is used for what its issuer says, and never when it is no public key', async (t) => {
  const keys = await tokenIssuer(t)
  await keys.publish('proper', (proper) => proper)
  await keys.publish('plain', ({ kty, n, e, kid }) => ({ kty, n, e, kid }))
  await keys.publish('for encryption', (proper) => ({ ...proper, use: 'enc' }))
  await keys.publish('for other operations', (proper) => ({ ...proper, use: undefined, key_ops: ['wrapKey'] }))
  await keys.publish('of another algorithm', (proper) => ({ ...proper, alg: 'RS512' }))
  await keys.publish('of another type', (proper) => ({ ...proper, kty: 'EC' }))
  await keys.publish('private', (_proper, privateForm) => privateForm)
  await keys.publish('without a modulus', (proper) => ({ ...proper, n: undefined }))
  await keys.publish('symmetric', ({ kid }) =>
    ({ kty: 'oct', k: Buffer.from(secret).toString('base64url'), kid, alg: 'HS256' }))
  const { status } = await guardedBy(t, keys)
  for (const kid of ['proper', 'plain']) t.equal(await status(await keys.sign(kid, claims())), 200, kid)
  const unfit = ['for encryption', 'for other operations', 'of another algorithm', 'of another type', 'private']
  for (const kid of [...unfit, 'without a modulus']) t.equal(await status(await keys.sign(kid, claims())), 401, kid)
  const symmetric = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'symmetric' })
    .sign(Buffer.from(secret))
  t.equal(await status(symmetric), 401, 'symmetric')
})

t.test('a token that names no key is let in only while there is one that fits', async (t) => {
  const keys = await tokenIssuer(t)
  await keys.rotate('rsa')
  await keys.rotate('ec', 'ES256')
  const { status } = await guardedBy(t, keys)
  const nameless = await keys.sign('rsa', claims(), { kid: undefined })
  t.equal(await status(nameless), 200)
  for (const kid of [1, null, {}, '']) {
    t.equal(await status(await keys.sign('rsa', claims(), { kid })), 401, JSON.stringify(kid))
  }
  await keys.rotate('rsa-2')
  await isLetIn(status, await keys.sign('rsa-2', claims()))
  t.equal(await status(nameless), 401)
})

t.test('each role has its own routes', async (t) => {
  t.equal(await status(await signed(claims({ role: 'engine' }))), 403)
  t.equal(await status(await signed(claims({ role: 'engine' })), '/engine'), 200)
  t.equal(await status(await signed(claims()), '/engine'), 403)
  for (const role of ['ops', 'user', '', 'admin', null, 1, ['engine'], {}]) {
    t.equal(await status(await signed(claims({ role }))), 403, `role ${JSON.stringify(role)}`)
    t.equal(await status(await signed(claims({ role })), '/engine'), 403, `role ${JSON.stringify(role)}`)
  }
})

t.test('the role is in the claim that the setting names, and in no other', async (t) => {
  const roleClaim = 'https://example.com/role'
  const { status } = await guarded(t, { roleClaim, secret })
  t.equal(await status(await signed(claims({ [roleClaim]: 'engine' })), '/engine'), 200)
  t.equal(await status(await signed(claims({ [roleClaim]: 'engine' }))), 403)
  t.equal(await status(await signed(claims({ role: 'engine' }))), 200, 'another claim means nothing')
})

t.test('roles of an issuer stand for those of the map; what is in no map is as it was', async (t) => {
  const roleMap = roleMapOf('authenticated=user,service_role=engine,admin=ops,engine=user,=user')
  const { status } = await guarded(t, { roleClaim: 'role', secret, roleMap })
  for (const role of ['authenticated', '', null, 'engine']) {
    t.equal(await status(await signed(claims({ role }))), 200, `${role} is a user`)
    t.equal(await status(await signed(claims({ role })), '/engine'), 403, `${role} is no engine`)
  }
  t.equal(await status(await signed(claims({ role: 'service_role' })), '/engine'), 200)
  for (const role of ['admin', 'ops', 'user', 'anon', 'constructor', '__proto__', 1, [''], ['authenticated'], {}]) {
    t.equal(await status(await signed(claims({ role }))), 403, `role ${JSON.stringify(role)}`)
    t.equal(await status(await signed(claims({ role })), '/engine'), 403, `role ${JSON.stringify(role)}`)
  }
  t.equal(await status(await signed(claims())), 200, 'no claim')
})
