// The service fetches the keys of an issuer: from its address alone, not too often, and again after it was away.
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { loadConfig } from '../../../src/config.js'
import { eventually } from '../../support/eventually.js'
import { tokenIssuer, audience, claims, guarded, guardedBy, isLetIn, issuer, issuerAndApp } from './tokens.js'

t.test('keys are taken from a plain, short, quick answer of that address only', async (t) => {
  const keys = await tokenIssuer(t)
  await keys.rotate('rsa')
  const elsewhere = await tokenIssuer(t)
  await elsewhere.rotate('elsewhere')
  const { status } = await guardedBy(t, keys, 10)
  const known = await keys.sign('rsa', claims())
  await isLetIn(status, known)
  let sent = 0
  const answers: Record<string, (response: ServerResponse) => void> = {
    'a redirect': (response) => response.writeHead(302, { location: elsewhere.jwksUrl }).end(),
    'an endless answer': (response) => endless(response, () => { sent++ }),
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
})

t.test('a new key is found while running, and a withdrawn one stops working', async (t) => {
  const { keys, status } = await issuerAndApp(t)
  const old = await keys.sign('rsa', claims())
  t.equal(await status(old), 200)
  await keys.rotate('next', 'RS256', true)
  const fresh = await keys.sign('next', claims())
  await isLetIn(status, fresh)
  t.equal(await status(old), 401)
})

t.test('unknown key ids do not cause a fetch each', async (t) => {
  const { keys, status } = await issuerAndApp(t, 60_000)
  t.equal(await status(await keys.sign('rsa', claims())), 200)
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, n) => keys.sign(`unknown-${n}`, claims())))
  t.same(new Set(await Promise.all(tokens.map((token) => status(token)))), new Set([401]))
  t.equal(keys.fetches(), 1)
})

t.test('while the issuer is away, broken or silent known keys go on, and unknown ones are a 401', async (t) => {
  const { keys, status } = await issuerAndApp(t, 10)
  const known = await keys.sign('rsa', claims())
  t.equal(await status(known), 200)
  for (const state of ['down', 'broken', 'silent'] as const) {
    if (state === 'silent') Object.assign(keys, { state: 'up', answer: () => {} })
    else keys.state = state
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
  const { status } = await guardedBy(t, keys)
  const token = await keys.sign('rsa', claims())
  t.equal(await status(token), 401)
  keys.state = 'up'
  await isLetIn(status, token)
})

t.test('keys are not taken from plain http, but for loopback, and never by a setting', async (t) => {
  const settings = { JWT_JWKS_URL: 'http://127.0.0.1/jwks.json', JWT_ISSUER: issuer, JWT_AUDIENCE: audience }
  t.throws(() => loadConfig(settings), { message: /^JWT_JWKS_URL must be/ })
  await t.rejects(
    guarded(t, { roleClaim: 'role', jwksUrl: 'http://issuer.example.com/jwks.json', issuer, audience }),
    { message: /https/ }
  )
})

function endless (response: ServerResponse, onPiece: () => void): void {
  const more = () => {
    if (response.destroyed) return
    onPiece()
    response.write(' '.repeat(64 * 1024), () => setImmediate(more))
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  more()
}
