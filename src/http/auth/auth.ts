// Who is calling: bearer tokens, and which role may enter which part.
import fastifyJwt, { type TokenOrHeader } from '@fastify/jwt'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { note, userHash } from '../request-log.js'
import { issuerKeys } from './jwks.js'
import type { JwtSettings } from './jwt-settings.js'
import { challenge, claimedSubject, refusalOf } from './refusal.js'
import { roleOf, type Role } from './roles.js'
import { isSubject } from './subject.js'

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
      await refuseToken(request, reply, cause)
    }
    const { id, role: given } = request.user
    note(request, { user: userHash(id), role: given, ...(given !== role && { refused: 'role' }) })
    if (given !== role) throw httpError(403, `This needs a token ${inWords(role)}.`)
    if (role === 'user') await rateLimits.ofUser(request, reply)
  }
}

/** The body is the same whatever is wrong; the log and the header say why. */
async function refuseToken (request: FastifyRequest, reply: FastifyReply, cause: unknown): Promise<never> {
  const { authorization } = request.headers
  const refused = refusalOf(cause, authorization)
  const subject = claimedSubject(authorization)
  note(request, { refused, ...(subject !== undefined && { user: userHash(subject) }) })
  await request.server.rateLimits.ofStranger(request, reply)
  reply.header('www-authenticate', challenge(refused))
  throw httpError(401, 'Unauthenticated.', cause)
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

/** @throws when the token names no user */
function subjectOf ({ sub }: Record<string, unknown>): string {
  if (!isSubject(sub)) throw new Error('sub must be 1 to 128 printable characters')
  return sub
}

function httpError (statusCode: number, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { statusCode })
}
