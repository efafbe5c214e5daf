// Tokens of a test, signed by a shared secret or by an issuer, and an app that verifies them.
import { createHmac } from 'node:crypto'
import fastify from 'fastify'
import {
  SignJWT, type JWTPayload, exportJWK, exportSPKI, generateKeyPair, type GenerateKeyPairResult, type JWK
} from 'jose'
import { only, registerAuth } from '../../../src/http/auth.js'
import type { Credentials, JwtSettings } from '../../../src/http/credentials.js'
import pino from 'pino'
import { requestLogger } from '../../../src/http/logging.js'
import { RequestLog } from '../../../src/http/request-log.js'
import { registerRateLimits } from '../../../src/http/limits.js'
import { eventually } from '../../support/eventually.js'
import type { Teardown } from '../../support/teardown.js'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'

export const now = () => Math.floor(Date.now() / 1000)
export const issuer = 'https://issuer.example.com'
export const audience = 'ringledger'
export const claims = (changes: JWTPayload = {}): JWTPayload =>
  ({ sub: 'user-1', iss: issuer, aud: audience, exp: now() + 60, ...changes })
export const without = (name: string) =>
  Object.fromEntries(Object.entries(claims()).filter(([claim]) => claim !== name))
export const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** No keys, and no token was revoked. */
export const tokensAlone: Credentials =
  { findKey: async () => 'key-unknown', used () {}, isTokenRevoked: async () => false }

/** An app with one route for users and one for engines. */
export async function guarded (t: Teardown, jwt: JwtSettings) {
  const lines: string[] = []
  const loggerInstance = requestLogger(pino({ level: 'info' }, { write: (line: string) => { lines.push(line) } }))
  const app = fastify({ loggerInstance, logController: new RequestLog() })
  await registerAuth(app, jwt, tokensAlone)
  await registerRateLimits(app, { perMinute: 0, strangersPerMinute: Infinity })
  app.get('/user/:id', { onRequest: only('user') }, async ({ user }) => user)
  app.get('/engine', { onRequest: only('engine') }, async ({ user }) => user)
  t.teardown(() => app.close())
  const send = async (authorization: string | undefined, url = '/user/4711?q=secret') =>
    await app.inject({ url, headers: { ...(authorization !== undefined && { authorization }) } })
  return {
    send,
    status: async (token: string, url?: string) => (await send(`Bearer ${token}`, url)).statusCode,
    /** What came back, and the one line in the log. */
    async ask (authorization: string | undefined) {
      lines.length = 0
      const { statusCode, headers, body } = await send(authorization)
      const [told = '', ...more] = lines.filter((line) => line.includes('"msg":"request"'))
      if (more.length > 0 || /4711|secret|user-1|Bearer|eyJ/.test(told)) throw new Error(`in the log: ${told} ${more}`)
      return { statusCode, challenge: headers['www-authenticate'], body, line: JSON.parse(told) }
    }
  }
}

export const guardedBy = (t: Teardown, { jwksUrl }: Issuer, cooldownMs = 300) =>
  guarded(t, { roleClaim: 'role', jwksUrl, issuer, audience, cooldownMs })

/** An issuer with the keys `rsa` and `ec`, and an app that it guards. */
export async function issuerAndApp (t: Teardown, cooldownMs?: number) {
  const keys = await tokenIssuer(t)
  await keys.rotate('rsa')
  await keys.rotate('ec', 'ES256')
  return { keys, ...await guardedBy(t, keys, cooldownMs) }
}

/** Resolves when the token is valid; its key may have to be fetched first. */
export async function isLetIn (status: (token: string) => Promise<number>, token: string): Promise<void> {
  await eventually(async () => { if (await status(token) !== 200) throw new Error('not yet') })
}

export const secret = 's'.repeat(40)
export const signed = (payload: JWTPayload, alg = 'HS256', key = secret) =>
  new SignJWT(payload).setProtectedHeader({ alg }).sign(new TextEncoder().encode(key))

/** The claims as they are, also those that a library would refuse to sign. */
export function signedAsIs (payload: object, header: object = { alg: 'HS256' }, key = secret): string {
  const token = `${base64url(header)}.${base64url(payload)}`
  return `${token}.${createHmac('sha256', key).update(token).digest('base64url')}`
}

type Issuer = Awaited<ReturnType<typeof tokenIssuer>>
type Pair = GenerateKeyPairResult & { alg: string, form?: object }

export async function tokenIssuer (t: Teardown) {
  const pairs = new Map<string, Pair>()
  let shared: GenerateKeyPairResult | undefined
  let fetches = 0
  const published = () => Promise.all([...pairs].map(async ([kid, { publicKey, alg, form }]) =>
    form ?? { ...await exportJWK(publicKey), kid, alg, use: 'sig' }))
  /** The pair of that name, or any other, so that a token can name a key that is not published. */
  const pairOf = (kid: string): Pair => {
    const pair = pairs.get(kid) ?? [...pairs.values()][0]
    if (!pair) throw new Error(`the issuer has no key, and none named ${kid}`)
    return pair
  }
  const server = createServer((request, response) => {
    fetches++
    if (issuer.state === 'down') request.socket.destroy()
    else if (issuer.state === 'broken') sendJson(response, '{"keys": 5}')
    else if (issuer.answer) issuer.answer(response)
    else void published().then((keys) => sendJson(response, JSON.stringify({ keys })))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  const issuer = {
    jwksUrl: `http://127.0.0.1:${address.port}/jwks.json`,
    fetches: () => fetches,
    /** Answers instead of the issuer, while it is set. */
    answer: undefined as ((response: ServerResponse) => void) | undefined,
    /** `down`: every connection is cut; `broken`: the answers hold no keys. */
    state: 'up' as 'up' | 'down' | 'broken',
    /** Publishes a new key, in place of all others when `alone`. */
    async rotate (kid: string, alg: 'RS256' | 'ES256' = 'RS256', alone = false): Promise<void> {
      const pair = await generateKeyPair(alg, { extractable: true })
      if (alone) pairs.clear()
      pairs.set(kid, { ...pair, alg })
    },
    /** Publishes one RSA key for all names, in another form; `formOf` gets the usual form and the private one. */
    async publish (kid: string, formOf: (proper: JWK, privateForm: JWK) => object): Promise<void> {
      const pair = shared ??= await generateKeyPair('RS256', { extractable: true })
      const proper = { ...await exportJWK(pair.publicKey), kid, alg: 'RS256', use: 'sig' }
      const form = formOf(proper, { ...proper, ...await exportJWK(pair.privateKey) })
      pairs.set(kid, { ...pair, alg: 'RS256', form })
    },
    async sign (kid: string, claims: JWTPayload, header: object = {}): Promise<string> {
      const { alg, privateKey } = pairOf(kid)
      return await new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey)
    },
    publicPem: async (kid: string) => await exportSPKI(pairOf(kid).publicKey)
  }
  return issuer
}

function sendJson (response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text)
}
