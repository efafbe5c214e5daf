// Who is calling: bearer tokens, and which role may enter which part.
import { KeyObject } from 'node:crypto'
import fastifyJwt, { type TokenOrHeader } from '@fastify/jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createRemoteJWKSet } from 'jose'

/** How tokens are verified: one shared secret, or the keys that an issuer publishes. */
export type JwtSettings = { roleClaim: string } & (
  | { secret: string }
  | { jwksUrl: string, issuer: string, audience: string })

/** Callers have no role claim. */
export type Role = 'user' | 'engine' | 'ops'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Record<string, unknown>
    user: { id: string, role: string }
  }
}

const leewayMs = 5_000

/** Verifies tokens with pinned algorithms; `exp` and a printable `sub` are required. */
export async function registerAuth (app: FastifyInstance, jwt: JwtSettings): Promise<void> {
  const formatUser = (claims: Record<string, unknown>) => ({ id: subjectOf(claims), role: roleOf(claims[jwt.roleClaim]) })
  const verify = { requiredClaims: ['exp', 'sub'], clockTolerance: leewayMs }
  if ('secret' in jwt) {
    await app.register(fastifyJwt, { secret: jwt.secret, formatUser, verify: { ...verify, algorithms: ['HS256'] }, sign: { algorithm: 'HS256' } })
    return
  }
  const keys = createRemoteJWKSet(new URL(jwt.jwksUrl))
  await app.register(fastifyJwt, {
    decode: { complete: true },
    secret: async (_request: FastifyRequest, token: TokenOrHeader) => {
      const { alg, kid } = 'header' in token ? token.header : token
      const key = await keys({ alg: String(alg), ...(kid && { kid: String(kid) }) })
      return KeyObject.from(key).export({ type: 'spki', format: 'pem' }).toString()
    },
    formatUser,
    verify: { ...verify, algorithms: ['RS256', 'ES256'], allowedIss: jwt.issuer, allowedAud: jwt.audience }
  })
}

/** A hook that lets `role` in: 401 without a valid token, 403 with another role. */
export function only (role: Role) {
  return async (request: FastifyRequest): Promise<void> => {
    try {
      await request.jwtVerify()
    } catch (cause) {
      throw httpError(401, 'Unauthenticated.', cause)
    }
    if (request.user.role !== role) throw httpError(403, `This needs a token ${role === 'user' ? 'without a role' : `with the role ${role}`}.`)
  }
}

/** Whether a token may stand for this user: 1 to 128 printable characters. */
export const isSubject = (sub: unknown): sub is string => typeof sub === 'string' && /^[^\p{C}]{1,128}$/u.test(sub)

/** @throws when the token stands for no user */
function subjectOf ({ sub }: Record<string, unknown>): string {
  if (!isSubject(sub)) throw new Error('sub must be 1 to 128 printable characters')
  return sub
}

/** A claim that is no text fits no role. */
function roleOf (claim: unknown): string {
  if (claim === undefined) return 'user'
  return typeof claim === 'string' && claim !== 'user' ? claim : 'unknown'
}

function httpError (statusCode: number, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { statusCode })
}
