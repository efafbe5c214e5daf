// Tokens of a test, signed by a shared secret or by an issuer, and an app that verifies them.
import { createHmac } from 'node:crypto'
import fastify from 'fastify'
import { SignJWT, type JWTPayload } from 'jose'
import { only, registerAuth } from '../../../src/http/auth.js'
import type { JwtSettings } from '../../../src/http/jwt-settings.js'
import { registerRateLimits } from '../../../src/http/limits/rate-limit.js'
import { eventually } from '../eventually.js'
import { tokenIssuer, type Issuer } from './issuer.js'
import type { Teardown } from '../teardown.js'

export const now = () => Math.floor(Date.now() / 1000)
export const issuer = 'https://issuer.example.com'
export const audience = 'ringledger'
export const claims = (changes: JWTPayload = {}): JWTPayload =>
  ({ sub: 'user-1', iss: issuer, aud: audience, exp: now() + 60, ...changes })
export const without = (name: string) =>
  Object.fromEntries(Object.entries(claims()).filter(([claim]) => claim !== name))
export const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** An app with one route for users and one for engines. */
export async function guarded (t: Teardown, jwt: JwtSettings) {
  const app = fastify()
  await registerAuth(app, jwt)
  await registerRateLimits(app, { perMinute: 0, strangersPerMinute: Infinity })
  app.get('/user', { onRequest: only('user') }, async ({ user }) => user)
  app.get('/engine', { onRequest: only('engine') }, async ({ user }) => user)
  t.teardown(() => app.close())
  const send = async (authorization: string | undefined, url = '/user') =>
    await app.inject({ url, headers: { ...(authorization !== undefined && { authorization }) } })
  return { send, status: async (token: string, url?: string) => (await send(`Bearer ${token}`, url)).statusCode }
}

/** The same, with the keys that the issuer publishes. */
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
