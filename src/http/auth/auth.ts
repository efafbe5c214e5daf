// Who is calling: bearer tokens, and which role may enter which part.
import fastifyJwt, { type TokenOrHeader } from '@fastify/jwt'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { issuerKeys } from './jwks.js'
import type { JwtSettings } from './jwt-settings.js'
import { roleOf, type Role } from './roles.js'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Record<string, unknown>
    user: { id: string, role: string }
  }
}

const leewayMs = 5_000

/** Verifies tokens with pinned algorithms; `exp`, a printable `sub`, and what is to be checked are required. */
export async function registerAuth (app: FastifyInstance, jwt: JwtSettings): Promise<void> {
  const formatUser = (claims: Record<string, unknown>) =>
    ({ id: subjectOf(claims), role: roleOf(claims[jwt.roleClaim], jwt.roleMap) })
  const { issuer, audience } = jwt
  const verify = {
    // A check alone lets a token pass that lacks the claim.
    requiredClaims: ['exp', 'sub', ...(issuer ? ['iss'] : []), ...(audience ? ['aud'] : [])],
    clockTolerance: leewayMs,
    ...(issuer && { allowedIss: issuer }),
    ...(audience && { allowedAud: audience })
  }
  if ('secret' in jwt) {
    const hs256 = { verify: { ...verify, algorithms: ['HS256' as const] }, sign: { algorithm: 'HS256' as const } }
    await app.register(fastifyJwt, { secret: jwt.secret, formatUser, ...hs256 })
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

/**
 * A hook that lets `role` in: 401 without a valid token, 403 with another role, 429 for a user or a stranger with too
 * many requests.
 */
export function only (role: Role) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { rateLimits } = request.server
    try {
      await request.jwtVerify()
    } catch (cause) {
      await rateLimits.ofStranger(request, reply)
      reply.header('www-authenticate', 'Bearer')
      throw httpError(401, 'Unauthenticated.', cause)
    }
    if (request.user.role !== role) throw httpError(403, `This needs a token ${inWords(role)}.`)
    if (role === 'user') await rateLimits.ofUser(request, reply)
  }
}

/** Whether a token of that role came along. Refuses and counts nothing, and asks nobody where there is no token. */
export async function hasRole (request: FastifyRequest, role: Role): Promise<boolean> {
  if (request.headers.authorization === undefined) return false
  try {
    await request.jwtVerify()
    return request.user.role === role
  } catch {
    return false
  }
}

const inWords = (role: Role) => role === 'user' ? 'without a role' : `with the role ${role}`

/** Whether a token may name this user: 1 to 128 printable characters. */
export const isSubject = (sub: unknown): sub is string => typeof sub === 'string' && /^[^\p{C}]{1,128}$/u.test(sub)

/** @throws when the token names no user */
function subjectOf ({ sub }: Record<string, unknown>): string {
  if (!isSubject(sub)) throw new Error('sub must be 1 to 128 printable characters')
  return sub
}

function httpError (statusCode: number, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { statusCode })
}
