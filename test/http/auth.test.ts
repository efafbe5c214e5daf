import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import fastify from 'fastify'
import { SignJWT, type JWTPayload } from 'jose'
import t from 'tap'
import { loadConfig } from '../../src/config.js'
import { only, registerAuth, type JwtSettings } from '../../src/http/auth/auth.js'
import { registerRateLimits } from '../../src/http/rate-limit.js'
import { eventually } from '../support/eventually.js'
import { tokenIssuer } from '../support/issuer.js'
import type { Teardown } from '../support/teardown.js'

const now = () => Math.floor(Date.now() / 1000)
const issuer = 'https://issuer.example.com'
const audience = 'ringledger'
const claims = (changes: JWTPayload = {}): JWTPayload => ({ sub: 'user-1', iss: issuer, aud: audience, exp: now() + 60, ...changes })
const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([claim]) => claim !== name))
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** An app with one route for users; what it answers to a token, or to a whole Authorization header. */
async function guarded (t: Teardown, jwt: JwtSettings) {
  const app = fastify()
  await registerAuth(app, jwt)
  await registerRateLimits(app, { perMinute: 0 })
  app.get('/user', { onRequest: only('user') }, async ({ user }) => user)
  app.get('/engine', { onRequest: only('engine') }, async ({ user }) => user)
  t.teardown(() => app.close())
  const send = async (authorization: string | undefined, url = '/user') => await app.inject({ url, headers: { ...(authorization !== undefined && { authorization }) } })
  return { send, status: async (token: string, url?: string) => (await send(`Bearer ${token}`, url)).statusCode }
}

const secret = 's'.repeat(40)
const signed = (payload: JWTPayload, alg = 'HS256', key = secret) => new SignJWT(payload).setProtectedHeader({ alg }).sign(new TextEncoder().encode(key))

t.test('a shared secret', async (t) => {
  const { send, status } = await guarded(t, { roleClaim: 'role', secret })

  t.test('a token that verifies lets its subject in', async (t) => {
    const answer = await send(`Bearer ${await signed(claims())}`)
    t.equal(answer.statusCode, 200)
    t.same(answer.json(), { id: 'user-1', role: 'user' })
  })

  t.test('anything else is a 401 that says how to say who is asking', async (t) => {
    const { headers } = await send(undefined)
    t.equal(headers['www-authenticate'], 'Bearer')
    t.equal((await send(`Bearer ${await signed(claims())}`)).headers['www-authenticate'], undefined)
    t.equal((await send(`Bearer ${await signed(claims({ role: 'ops' }))}`)).headers['www-authenticate'], undefined, 'a token of another role would not help')
    for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Bearer a b', 'Basic dXNlcjpwYXNz', 'Bearer garbage', 'Bearer a.b.c', `Bearer ${'x'.repeat(5_000)}`]) {
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
      'a critical header that nobody knows': `${base64url({ alg: 'HS256', crit: ['x'], x: 1 })}.${body}.${signature}`
    })) t.equal(await status(token), 401, why)
  })

  t.test('times are kept to, with five seconds of leeway', async (t) => {
    t.equal(await status(await signed(claims({ exp: now() - 2 }))), 200)
    t.equal(await status(await signed(claims({ exp: now() - 10 }))), 401, 'expired')
    t.equal(await status(await signed(claims({ nbf: now() + 2 }))), 200)
    t.equal(await status(await signed(claims({ nbf: now() + 10 }))), 401, 'not yet valid')
    t.equal(await status(await signed(without('exp'))), 401, 'never expires')
    for (const exp of ['soon', null, [now() + 60]]) {
      const token = `${base64url({ alg: 'HS256' })}.${base64url({ ...claims(), exp })}`
      t.equal(await status(`${token}.${createHmac('sha256', secret).update(token).digest('base64url')}`), 401, `exp ${JSON.stringify(exp)}`)
    }
  })

  t.test('a subject is 1 to 128 printable characters', async (t) => {
    for (const sub of ['1', 'auth0|5f7c8ec7', 'Zoë Ångström', '日本', 's'.repeat(128), '😀'.repeat(128)]) t.equal(await status(await signed(claims({ sub }))), 200, sub.slice(0, 20))
    t.equal(await status(await signed(without('sub'))), 401, 'no subject')
    for (const sub of ['', 's'.repeat(129), 'a\nb', 'a\0b', 'a\u200bb', 'a\ud800']) t.equal(await status(await signed(claims({ sub }))), 401, JSON.stringify(sub.slice(0, 20)))
    for (const sub of [1, null, true, ['1'], { id: '1' }]) {
      const token = `${base64url({ alg: 'HS256' })}.${base64url({ ...claims(), sub })}`
      t.equal(await status(`${token}.${createHmac('sha256', secret).update(token).digest('base64url')}`), 401, `sub ${JSON.stringify(sub)}`)
    }
  })

  t.test('each role has its part', async (t) => {
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

  t.test('issuer and audience are required as soon as they are set', async (t) => {
    const { status } = await guarded(t, { roleClaim: 'role', secret, issuer, audience })
    t.equal(await status(await signed(claims())), 200)
    t.equal(await status(await signed(claims({ aud: ['other', audience] }))), 200)
    for (const token of [without('iss'), without('aud'), claims({ iss: 'https://other.example.com' }), claims({ aud: 'other' })]) t.equal(await status(await signed(token)), 401)
  })
})

t.test('keys of an issuer', async (t) => {
  const cooldownMs = 300
  const start = async (t: Teardown, wait = cooldownMs) => {
    const keys = await tokenIssuer(t)
    await keys.rotate('rsa')
    await keys.rotate('ec', 'ES256')
    return { keys, ...await guarded(t, { roleClaim: 'role', jwksUrl: keys.jwksUrl, issuer, audience, cooldownMs: wait }) }
  }

  t.test('RS256 and ES256 tokens are let in, others are not', async (t) => {
    const { keys, status } = await start(t)
    t.equal(await status(await keys.sign('rsa', claims())), 200)
    t.equal(await status(await keys.sign('ec', claims())), 200)
    const ofPem = await signed(claims(), 'HS256', await keys.publicPem('rsa'))
    const [, body] = ofPem.split('.')
    const byName = `${base64url({ alg: 'HS256', kid: 'rsa' })}.${body}`
    for (const [why, token] of Object.entries({
      'HS256 with the public key': ofPem,
      'HS256 with the public key and its name': `${byName}.${createHmac('sha256', await keys.publicPem('rsa')).update(byName).digest('base64url')}`,
      'alg none': `${base64url({ alg: 'none', kid: 'rsa' })}.${body}.`,
      'the name of another key': await keys.sign('rsa', claims(), { kid: 'ec' }),
      'another issuer': await keys.sign('rsa', claims({ iss: 'https://other.example.com' })),
      'another audience': await keys.sign('rsa', claims({ aud: 'other' })),
      'no issuer': await keys.sign('rsa', without('iss')),
      'no audience': await keys.sign('rsa', without('aud')),
      expired: await keys.sign('rsa', claims({ exp: now() - 10 })),
      'no exp': await keys.sign('rsa', without('exp'))
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
    await keys.publish('symmetric', ({ kid }) => ({ kty: 'oct', k: Buffer.from(secret).toString('base64url'), kid, alg: 'HS256' }))
    const { status } = await guarded(t, { roleClaim: 'role', jwksUrl: keys.jwksUrl, issuer, audience, cooldownMs })
    for (const kid of ['proper', 'plain']) t.equal(await status(await keys.sign(kid, claims())), 200, kid)
    for (const kid of ['for encryption', 'for other operations', 'of another algorithm', 'of another type', 'private', 'without a modulus']) t.equal(await status(await keys.sign(kid, claims())), 401, kid)
    const symmetric = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'symmetric' }).sign(Buffer.from(secret))
    t.equal(await status(symmetric), 401, 'symmetric')
  })

  t.test('a token that names no key is let in only while there is one that fits', async (t) => {
    const keys = await tokenIssuer(t)
    await keys.rotate('rsa')
    await keys.rotate('ec', 'ES256')
    const { status } = await guarded(t, { roleClaim: 'role', jwksUrl: keys.jwksUrl, issuer, audience, cooldownMs })
    const nameless = await keys.sign('rsa', claims(), { kid: undefined })
    t.equal(await status(nameless), 200)
    for (const kid of [1, null, {}, '']) t.equal(await status(await keys.sign('rsa', claims(), { kid })), 401, JSON.stringify(kid))
    await keys.rotate('rsa-2')
    await eventually(async () => { if (await status(await keys.sign('rsa-2', claims())) !== 200) throw new Error('not yet') })
    t.equal(await status(nameless), 401)
  })

  t.test('keys are taken from a plain, short, quick answer of that address only', async (t) => {
    const keys = await tokenIssuer(t)
    await keys.rotate('rsa')
    const elsewhere = await tokenIssuer(t)
    await elsewhere.rotate('elsewhere')
    const { status } = await guarded(t, { roleClaim: 'role', jwksUrl: keys.jwksUrl, issuer, audience, cooldownMs: 10 })
    const known = await keys.sign('rsa', claims())
    await eventually(async () => { if (await status(known) !== 200) throw new Error('not yet') })
    let sent = 0
    const answers: Record<string, (response: ServerResponse) => void> = {
      'a redirect': (response) => response.writeHead(302, { location: elsewhere.jwksUrl }).end(),
      'an endless answer': (response) => {
        const more = () => { if (!response.destroyed) { sent++; response.write(' '.repeat(64 * 1024), () => setImmediate(more)) } }
        response.writeHead(200, { 'content-type': 'application/json' })
        more()
      },
      'no content': (response) => response.writeHead(204).end(),
      'a page': (response) => response.end('<html>')
    }
    for (const [name, answer] of Object.entries(answers)) {
      keys.answer = answer
      const before = keys.fetches()
      await eventually(async () => {
        t.equal(await status(await keys.sign('elsewhere', claims())), 401, name)
        if (keys.fetches() < before + 2) throw new Error('it was not asked and asked again yet')
      })
      t.equal(await status(known), 200, name)
    }
    t.equal(elsewhere.fetches(), 0)
    t.ok(sent < 200, `read ${sent} pieces of the endless answer`)
    keys.answer = () => {} // never
    const fresh = await keys.sign('unknown', claims())
    const began = performance.now()
    await eventually(async () => {
      t.equal(await status(fresh), 401)
      if (performance.now() - began < 1_000) throw new Error('the issuer was not waited for yet')
    })
    t.ok(performance.now() - began < 5_000, 'a silent issuer is given up')
    t.equal(await status(known), 200)
  })

  t.test('a new key is found while running, and a withdrawn one stops working', async (t) => {
    const { keys, status } = await start(t)
    const old = await keys.sign('rsa', claims())
    t.equal(await status(old), 200)
    await keys.rotate('next', 'RS256', true)
    const fresh = await keys.sign('next', claims())
    await eventually(async () => { if (await status(fresh) !== 200) throw new Error('not yet') })
    t.equal(await status(old), 401)
  })

  t.test('unknown key ids do not cause a fetch each', async (t) => {
    const { keys, status } = await start(t, 60_000)
    const known = await keys.sign('rsa', claims())
    t.equal(await status(known), 200)
    const tokens = await Promise.all(Array.from({ length: 100 }, (_, n) => keys.sign(`unknown-${n}`, claims())))
    t.same(new Set(await Promise.all(tokens.map((token) => status(token)))), new Set([401]))
    t.equal(keys.fetches(), 1)
    t.equal(await status(known), 200)
  })

  t.test('while the issuer is away known keys go on, and unknown ones are a 401', async (t) => {
    const { keys, status } = await start(t, 10)
    const known = await keys.sign('rsa', claims())
    t.equal(await status(known), 200)
    for (const state of ['down', 'broken'] as const) {
      keys.state = state
      const before = keys.fetches()
      await eventually(async () => {
        t.equal(await status(await keys.sign('unknown', claims())), 401, state)
        if (keys.fetches() === before) throw new Error('the issuer was not asked yet')
      })
      t.equal(await status(known), 200, state)
    }
  })

  t.test('an issuer that is away at the start is asked again', async (t) => {
    const keys = await tokenIssuer(t)
    await keys.rotate('rsa')
    keys.state = 'down'
    const { status } = await guarded(t, { roleClaim: 'role', jwksUrl: keys.jwksUrl, issuer, audience, cooldownMs })
    const token = await keys.sign('rsa', claims())
    t.equal(await status(token), 401)
    keys.state = 'up'
    await eventually(async () => { if (await status(token) !== 200) throw new Error('not yet') })
  })

  t.test('keys are not taken from plain http, but for loopback, and never by a setting', async (t) => {
    t.throws(() => loadConfig({ JWT_JWKS_URL: 'http://127.0.0.1/jwks.json', JWT_ISSUER: issuer, JWT_AUDIENCE: audience }), { message: /^JWT_JWKS_URL must be/ })
    await t.rejects(guarded(t, { roleClaim: 'role', jwksUrl: 'http://issuer.example.com/jwks.json', issuer, audience }), { message: /https/ })
  })
})
