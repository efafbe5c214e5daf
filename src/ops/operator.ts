// Lets operators in: with a token of the role ops, or with the session that they logged in to.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { jwtVerify, SignJWT } from 'jose'
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { only } from '../http/auth.js'
import { note, userHash } from '../http/request-log.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of an operator in a browser; null of one with a token. */
    opsSession: Session | null
  }
}

const asOperator = only('ops')

/**
 * A hook. A browser sends its cookie by itself, so what changes something also needs the token of the session: in the
 * header `x-csrf-token`. Forms are checked once their body is read, by `assertOwnForm`.
 * @throws an error with status 401 or 403
 */
export function operatorsOnly (sessionKey: Uint8Array) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.opsSession = null
    const cookie = request.cookies[cookieName]
    if (request.headers.authorization !== undefined || cookie === undefined) return await asOperator(request, reply)
    const session = await readSession(sessionKey, cookie)
    if (!session || await isEnded(session, request)) return await asOperator(request, reply)
    request.opsSession = session
    request.user = { id: session.user, role: 'ops' }
    note(request, { user: userHash(session.user), role: 'ops' })
  }
}

/** The token that opened it was revoked. */
const isEnded = async ({ jti }: Session, { server: { credentials } }: FastifyRequest) =>
  jti !== undefined && await credentials.isTokenRevoked(jti)

/** For requests that change something. @throws an error with status 403 */
export function assertOwnForm ({ opsSession, headers, body }: FastifyRequest): void {
  if (!opsSession) return // a token in a header is sent by nobody but its owner
  const given = headers['x-csrf-token'] ?? (body as { csrf?: unknown } | undefined)?.csrf
  if (isCsrfOf(opsSession, given)) return
  const words = 'This form is from another session: load the page again, and send it once more.'
  throw Object.assign(new Error(words), { statusCode: 403 })
}

export interface Session {
  /** Who logged in: the subject of the token. */
  user: string
  /** A form that changes something sends it back: no other page knows it. */
  csrf: string
  /** The id of the token, where it has one: revoking the token ends the session. */
  jti?: string | undefined
}

/** A session is a signed cookie that lasts an hour at most, with a token for its forms. */
export const cookieName = 'ringledger_ops'
export const longestSessionSeconds = 3_600

const audience = 'ringledger ops'
const algorithm = 'HS256'

/** @param key 32 bytes @param seconds until the session ends, an hour at most @param jti of the token that opened it */
export async function signSession (key: Uint8Array, user: string, seconds: number, jti?: string): Promise<string> {
  const ends = Math.floor(Date.now() / 1_000) + Math.min(Math.floor(seconds), longestSessionSeconds)
  return await new SignJWT({ csrf: randomBytes(24).toString('base64url'), ...(jti !== undefined && { token: jti }) })
    .setProtectedHeader({ alg: algorithm }).setAudience(audience).setSubject(user).setExpirationTime(ends).sign(key)
}

/** Nothing when it is over, or was not signed here. */
async function readSession (key: Uint8Array, cookie: string): Promise<Session | undefined> {
  try {
    const { payload } = await jwtVerify(cookie, key, { algorithms: [algorithm], audience, requiredClaims: ['sub', 'exp', 'csrf'] })
    const { sub, csrf, token } = payload
    return { user: String(sub), csrf: String(csrf), ...(typeof token === 'string' && { jti: token }) }
  } catch {
    return undefined
  }
}

function isCsrfOf ({ csrf }: Session, given: unknown): boolean {
  const [known, sent] = [Buffer.from(csrf), Buffer.from(typeof given === 'string' ? given : '')]
  return known.length === sent.length && timingSafeEqual(known, sent)
}

export class Refused extends Error {
  override readonly name = 'Refused'
  constructor (message: string, readonly statusCode: 404 | 409 = 409) {
    super(message)
  }
}
