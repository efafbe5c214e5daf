// Lets operators in: with a token of the role ops, or with the session that they logged in to.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { only } from '../http/auth.js'
import { note, userHash } from '../http/request-log.js'
import { cookieName, isCsrfOf, readSession, type Session } from './session.js'

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
