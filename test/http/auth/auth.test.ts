// Tokens that are signed with the shared secret or by an issuer: which are valid, and what a refusal says.
import { SignJWT } from 'jose'
import t from 'tap'
import {
  tokenIssuer, audience, base64url, claims, guarded, guardedBy, isLetIn, issuer, issuerAndApp, now, secret, signed,
  signedAsIs, without
} from './tokens.js'
import { roleMapOf } from '../../../src/config.js'
import { userHash } from '../../../src/http/request-log.js'

const { ask, status } = await guarded(t, { roleClaim: 'role', secret })
const [user, engine] = [userHash('user-1'), '/engine']
const invalid = (description: string) => `Bearer error="invalid_token", error_description="${description}"`

t.test('a refusal says why in a header and in the log, and nothing in the body', async (t) => {
  const { ask, status } = await guarded(t, { roleClaim: 'role', secret, issuer, audience })
  for (const aud of [audience, ['other', audience]]) t.equal(await status(await signed(claims({ aud }))), 200)
  const good = await signed(claims())
  const [head, body, signature = ''] = good.split('.')
  const none = `${base64url({ alg: 'none' })}.${body}.`
  const cases: Array<[refused: string, why: string, named: string | undefined, ...tokens: string[]]> = [
    ['malformed', 'The token cannot be read', undefined, 'garbage', 'a.b.c'],
    ['signature', 'The signature of the token does not verify', user,
      `${head}.${body}.`, await signed(claims(), 'HS256', 'o'.repeat(40)),
      `${head}.${base64url(claims({ exp: now() + 61 }))}.${signature}`],
    ['algorithm', 'The algorithm of the token is not accepted', user, await signed(claims(), 'HS512')],
    ['expired', 'The token has expired', user, await signed(claims({ exp: now() - 60 }))],
    ['not-yet-valid', 'The token is not valid yet', user, await signed(claims({ nbf: now() + 60 }))],
    ['issuer', 'The issuer of the token is not accepted', user,
      await signed(claims({ iss: 'https://other.example.com' })), await signed(without('iss'))],
    ['audience', 'The audience of the token is not accepted', user,
      await signed(claims({ aud: 'other' })), await signed(without('aud'))],
    ['claims', 'A claim about the time of the token is missing or wrong', user, await signed(without('exp')),
      signedAsIs({ ...claims(), exp: 'soon' })],
    ['subject', 'The subject of the token is missing or wrong', undefined,
      await signed(without('sub')), await signed(claims({ sub: 'a\nb' })), signedAsIs({ ...claims(), sub: 1 })]
  ]
  for (const [refused, why, named, ...tokens] of cases) {
    for (const token of tokens) {
      const { statusCode, challenge, line, body } = await ask(`Bearer ${token}`)
      t.equal(statusCode, 401, refused)
      t.equal(challenge, invalid(why))
      t.notMatch(body, why)
      t.match(line, { method: 'GET', route: '/user/:id', status: 401, refused, reqId: /./, ms: Number })
      t.equal(line.user, named, refused)
    }
  }
  const critical = `${base64url({ alg: 'HS256', crit: ['x'], x: 1 })}.${body}.${signature}`
  for (const token of [none, `${none}${signature}`, critical]) t.equal(await status(token), 401)
})

t.test('a request without a token is asked for one, and the log says that it was missing', async (t) => {
  for (const authorization of [undefined, '', 'Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ']) {
    const { statusCode, challenge, line } = await ask(authorization)
    t.strictSame(
      [statusCode, challenge, line.refused, line.user], [401, 'Bearer', 'missing', undefined], String(authorization)
    )
  }
  t.equal((await ask('Bearer a b')).statusCode, 401)
})

t.test('the log names the role of a token that does not fit, and the user of one that does', async (t) => {
  const other = await ask(`Bearer ${await signed(claims({ role: 'ops' }))}`)
  t.match(other, { statusCode: 403, challenge: undefined, line: { status: 403, refused: 'role', role: 'ops', user } })
  const { line, challenge } = await ask(`Bearer ${await signed(claims())}`)
  t.match(line, { method: 'GET', route: '/user/:id', status: 200, role: 'user', user })
  t.notOk('refused' in line || challenge)
  t.equal(userHash('1'), '6b86b273ff34fce1', 'an operator makes it by: printf %s 1 | sha256sum | cut -c1-16')
})

t.test('a token that a former secret signed is let in, with all checks; one of an unknown secret is not', async (t) => {
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
  for (const key of ['u'.repeat(40), former.slice(8)]) {
    t.equal(await rotated.status(await signed(claims(), 'HS256', key)), 401, key)
  }
})

t.test('times count with five seconds of leeway, and a subject is 1 to 128 printable characters', async (t) => {
  for (const changes of [{ exp: now() - 2 }, { nbf: now() + 2 }, { sub: 'Zoë Ångström' }, { sub: '😀'.repeat(128) }]) {
    t.equal(await status(await signed(claims(changes))), 200, JSON.stringify(changes).slice(0, 20))
  }
  for (const sub of ['', 's'.repeat(129), 'a\nb', 'a\u200bb', 'a\ud800', null, ['1']]) {
    t.equal(await status(signedAsIs({ ...claims(), sub })), 401, JSON.stringify(sub)?.slice(0, 20))
  }
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
    'the name of another key': await keys.sign('rsa', claims(), { kid: 'ec' })
  })) t.equal(await status(token), 401, why)
})

t.test('a key is used for what its issuer says, and never when it is no public key', async (t) => {
  const keys = await tokenIssuer(t)
  await keys.publish('proper', (proper) => proper)
  await keys.publish('plain', ({ kty, n, e, kid }) => ({ kty, n, e, kid }))
  await keys.publish('for encryption', (proper) => ({ ...proper, use: 'enc' }))
  await keys.publish('of another type', (proper) => ({ ...proper, kty: 'EC' }))
  await keys.publish('private', (_proper, privateForm) => privateForm)
  await keys.publish('symmetric', ({ kid }) =>
    ({ kty: 'oct', k: Buffer.from(secret).toString('base64url'), kid, alg: 'HS256' }))
  const { status } = await guardedBy(t, keys)
  for (const kid of ['proper', 'plain']) t.equal(await status(await keys.sign(kid, claims())), 200, kid)
  for (const kid of ['for encryption', 'of another type', 'private']) t.equal(await status(await keys.sign(kid, claims())), 401, kid)
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
  await keys.rotate('rsa-2')
  await isLetIn(status, await keys.sign('rsa-2', claims()))
  t.equal(await status(nameless), 401)
})

t.test('each role has its own routes, by the claim of the setting and in the words of the issuer', async (t) => {
  const claim = 'https://example.com/role'
  const roleMap = roleMapOf('authenticated=user,service_role=engine,admin=ops,engine=user,=user')
  const plain = { status }
  const [named, mapped] = [await guarded(t, { roleClaim: claim, secret }), await guarded(t, { roleClaim: 'role', secret, roleMap })]
  const [isUser, isEngine, isNeither] = [[200, 403], [403, 200], [403, 403]]
  for (const [on, given, expected] of [
    [plain, {}, isUser], [plain, { role: 'engine' }, isEngine],
    ...['ops', 'user', '', null, ['engine']].map((role) => [plain, { role }, isNeither] as const),
    [named, { [claim]: 'engine' }, isEngine], [named, { role: 'engine' }, isUser],
    [mapped, {}, isUser], [mapped, { role: 'service_role' }, isEngine],
    ...['authenticated', '', null, 'engine'].map((role) => [mapped, { role }, isUser] as const),
    ...['admin', 'ops', 'anon', '__proto__', ['authenticated']].map((role) => [mapped, { role }, isNeither] as const)
  ] as const) {
    const token = await signed(claims(given))
    t.strictSame([await on.status(token), await on.status(token, engine)], expected, JSON.stringify(given))
  }
})

t.test('a key that the issuer does not have, or an issuer that is away, is a reason of its own', async (t) => {
  const { keys, ask } = await issuerAndApp(t)
  const unknown = `Bearer ${await keys.sign('rsa', claims(), { kid: 'unknown' })}`
  t.match(await ask(unknown), { statusCode: 401, line: { refused: 'key', user } })
  keys.state = 'down'
  t.match(await ask(unknown), { statusCode: 401, challenge: invalid('No key of the issuer fits the token') })
})
