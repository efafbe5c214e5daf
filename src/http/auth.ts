// Finds out who is calling: bearer tokens and API keys, and which role may enter which part.
import fastifyJwt, { type TokenOrHeader } from '@fastify/jwt'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  createRemoteJWKSet, type CryptoKey, customFetch, type FetchImplementation, type JWTHeaderParameters
} from 'jose'
import { createHmac, KeyObject, timingSafeEqual } from 'node:crypto'
import { NotKnownYet } from '../../projections/engine/positions.js'
import { httpError } from '../domain/rejection.js'
import type { Scope } from '../features/api-keys/events.js'
import {
  type ApiKeyUser, challenge, claimedSubject, type Credentials, isSubject, type JwtSettings, keyIn, refusalOf, Refused,
  type Role, roleOf
} from './credentials.js'
import { note, userHash } from './request-log.js'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Record<string, unknown>
    user: Caller
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    credentials: Credentials
  }
  interface FastifyContextConfig {
    /** Refuses API keys. */
    isClosedToKeys?: boolean
    /** Any of these scopes is enough; without them the method decides. */
    scopes?: readonly Scope[]
  }
}

interface Caller {
  id: string
  role: string
  /** The id of the token, if it has one. */
  jti?: string | undefined
  /** The key that came instead of a token. */
  apiKey?: ApiKeyUser | undefined
}

const leewayMs = 5_000

/**
 * Verifies tokens with pinned algorithms; requires `exp`, a printable `sub`, and the claims that are checked.
 * `credentials` knows keys and revoked tokens.
 */
export async function registerAuth (
  app: FastifyInstance, jwt: JwtSettings, credentials: Credentials
): Promise<void> {
  app.decorate('credentials', credentials)
  const formatUser = (claims: Record<string, unknown>): Caller =>
    ({ id: subjectOf(claims), role: roleOf(claims[jwt.roleClaim], jwt.roleMap), jti: jtiOf(claims) })
  const { issuer, audience } = jwt
  const verify = {
    // A check alone passes a token that lacks the claim.
    requiredClaims: ['exp', 'sub', ...(issuer ? ['iss'] : []), ...(audience ? ['aud'] : [])],
    clockTolerance: leewayMs,
    ...(issuer && { allowedIss: issuer }),
    ...(audience && { allowedAud: audience })
  }
  if ('secret' in jwt) {
    const hs256 = { verify: { ...verify, algorithms: ['HS256' as const] }, sign: { algorithm: 'HS256' as const } }
    const { secret, previousSecrets = [] } = jwt
    const signer = async (_request: FastifyRequest, token: TokenOrHeader) =>
      previousSecrets.find((former) => isSignedBy(former, token)) ?? secret
    const several = previousSecrets.length > 0 && { secret: signer, decode: { complete: true } }
    await app.register(fastifyJwt, { secret, formatUser, ...hs256, ...several })
    return
  }
  const keys = issuerKeys(jwt.jwksUrl, app.log, jwt.cooldownMs)
  app.addHook('onClose', async () => keys.close())
  await app.register(fastifyJwt, {
    decode: { complete: true },
    secret: async (_request: FastifyRequest, token: TokenOrHeader) => {
      const { alg, kid } = 'header' in token ? token.header : token
      return await keys.find({ alg: String(alg), ...(kid !== undefined && { kid: String(kid) }) })
    },
    formatUser,
    verify: { ...verify, algorithms: ['RS256', 'ES256'] }
  })
}

/** Finds the secret that signed a token. Whether the token is valid is checked afterwards. */
function isSignedBy (secret: string, token: TokenOrHeader): boolean {
  const { input, signature } = token as { input?: unknown, signature?: unknown }
  if (typeof input !== 'string' || typeof signature !== 'string') return false
  const [own, given] = [createHmac('sha256', secret).update(input).digest(), Buffer.from(signature, 'base64url')]
  return own.length === given.length && timingSafeEqual(own, given)
}

/**
 * A hook that lets `role` in: 401 without a valid token or key, 403 with another role or beyond the scopes of a key,
 * 429 for a user or a stranger with too many requests.
 */
export function only (role: Role) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { rateLimits } = request.server
    try {
      await identify(request)
    } catch (cause) {
      if (cause instanceof NotKnownYet) throw cause
      await refuseToken(request, reply, cause)
    }
    const { id, role: given, apiKey } = request.user
    const byKey = apiKey && { api_key: apiKey.id }
    note(request, { user: userHash(id), role: given, ...byKey, ...(given !== role && { refused: 'role' }) })
    if (given !== role) throw httpError(403, `This needs a token ${inWords(role)}.`)
    if (role === 'user') await rateLimits.ofUser(request, reply)
    refuseBeyondScopes(request)
  }
}

/** @throws Refused, NotKnownYet, and what verifying a token throws */
async function identify (request: FastifyRequest): Promise<void> {
  const { headers: { authorization }, server: { credentials } } = request
  const key = keyIn(authorization)
  if (key === undefined) return await verifyToken(request)
  const found = await credentials.findKey(key)
  if (typeof found === 'string') throw new Refused(found)
  credentials.used(found.id)
  request.user = { id: found.user_id, role: 'user', apiKey: found }
}

async function verifyToken (request: FastifyRequest): Promise<void> {
  await request.jwtVerify()
  const { jti } = request.user
  if (jti !== undefined && await request.server.credentials.isTokenRevoked(jti)) throw new Refused('revoked')
}

/** The body is always the same; the log and the header say why. */
async function refuseToken (request: FastifyRequest, reply: FastifyReply, cause: unknown): Promise<never> {
  const { authorization } = request.headers
  const refused = refusalOf(cause, authorization)
  const subject = claimedSubject(authorization)
  note(request, { refused, ...(subject !== undefined && { user: userHash(subject) }) })
  await request.server.rateLimits.ofStranger(request, reply)
  reply.header('www-authenticate', challenge(refused))
  throw httpError(401, 'Unauthenticated.', cause)
}

/**
 * Whether the request has a valid token of that role; no key has one. Refuses and counts nothing, and without a token
 * it asks no back end.
 */
export async function hasRole (request: FastifyRequest, role: Role): Promise<boolean> {
  if (request.headers.authorization === undefined) return false
  try {
    await verifyToken(request)
    return request.user.role === role
  } catch {
    return false
  }
}

const inWords = (role: Role) => role === 'user' ? 'without a role' : `with the role ${role}`

/** @throws when the token names no user */
function subjectOf ({ sub }: Record<string, unknown>): string {
  if (!isSubject(sub)) throw new Error('sub must be 1 to 128 printable characters')
  return sub
}

/** The id that `ringledger token revoke` takes. */
const jtiOf = ({ jti }: Record<string, unknown>) =>
  typeof jti === 'string' || typeof jti === 'number' ? String(jti) : undefined

/**
 * An API key may do what its scopes say, and never manages keys or the data of persons. Lets every token pass.
 * @throws an error with status 403
 */
function refuseBeyondScopes ({ user: { apiKey }, method, routeOptions: { config } }: FastifyRequest): void {
  if (!apiKey) return
  if (config.isClosedToKeys) throw httpError(403, 'This needs a token: an API key manages neither keys nor the data of persons.')
  const enough: readonly Scope[] = config.scopes ?? [method === 'GET' || method === 'HEAD' ? 'read' : 'write']
  if (apiKey.scopes.some((scope) => enough.includes(scope))) return
  throw httpError(403, `This needs an API key with the scope ${enough.join(' or ')}.`)
}

// Fetches, caches and renews the public keys of an issuer; not every unknown key id fetches them.

/** Renews the keys this often, so that one that was withdrawn stops working. */
const renewEveryMs = 10 * 60_000
const retryMs = 5_000
const timeoutMs = 3_000
/** Bytes. A longer answer is dropped, and its rest is not read. */
const longestAnswer = 512 * 1024

/**
 * Keys stay cached while the issuer cannot be reached. An unknown key id fetches them again, at most once in
 * `cooldownMs`; that is how a rotation is noticed. Plain http is for loopback.
 */
function issuerKeys (address: string, log: FastifyBaseLogger, cooldownMs = 30_000) {
  const url = new URL(address)
  const isLoopback = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !isLoopback) throw new Error('keys are only taken from an https address')
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: timeoutMs,
    cacheMaxAge: Infinity,
    cooldownDuration: cooldownMs,
    [customFetch]: spaced(fetchInBounds, Math.min(cooldownMs, retryMs))
  })
  const pems = new WeakMap<CryptoKey, string>()
  const renew = () => {
    keys.reload().catch((error: unknown) => {
      log.warn({ err: error }, 'the keys of the token issuer could not be fetched')
    })
  }
  const timer = setInterval(renew, renewEveryMs).unref()
  renew()

  return {
    /** The key of a token's header, as PEM. @throws when no key of the issuer fits, or none is known yet */
    async find (header: JWTHeaderParameters): Promise<string> {
      const key = await keys(header)
      const pem = pems.get(key) ?? KeyObject.from(key).export({ type: 'spki', format: 'pem' }).toString()
      pems.set(key, pem)
      return pem
    },
    close: () => clearInterval(timer)
  }
}

/** jose's cooldown begins only with fetched keys; this one also holds while the issuer is away. */
function spaced (fetchKeys: FetchImplementation, everyMs: number): FetchImplementation {
  let notBefore = 0
  return async (url, options) => {
    if (Date.now() < notBefore) throw new Error('the token issuer was asked for its keys a moment ago')
    notBefore = Date.now() + everyMs
    return await fetchKeys(url, options)
  }
}

/** jose follows no redirect and has a deadline for the whole answer, but no limit on its length. */
const fetchInBounds: FetchImplementation = async (url, options) => {
  const { body, status, headers } = await fetch(url, options)
  let length = 0
  const counted = body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({
    transform (chunk, controller) {
      length += chunk.length
      if (length > longestAnswer) controller.error(new Error(`the answer is longer than ${longestAnswer} bytes`))
      else controller.enqueue(chunk)
    }
  }))
  return new Response(counted ?? null, { status, headers })
}
