// Logging in to the pages with a token of the role ops, and out again.
import { decodeJwt } from 'jose'
import Type from 'typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { hasRole } from '../../http/auth.js'
import type { App } from '../../http/app-types.js'
import { sendPage, page } from '../pages/layout.js'
import { assertOwnForm, operatorsOnly, cookieName, longestSessionSeconds, signSession } from '../operator.js'
import { loginPage } from '../pages/other.js'

/** No form of ours is longer than a token. */
export const longestForm = 16 * 1024

/** Of one address, in a process. Nobody types a token: more tries than these are guesses. */
const attemptsPerMinute = 10

const Login = Type.Object({
  token: Type.String({ maxLength: 8_192 }),
  next: Type.Optional(Type.String({ maxLength: 2_048 }))
})

/** @param root BASE_PATH and `/ops` */
export function addLogin (app: App, root: string, sessionKey: Uint8Array): void {
  const attempt = app.rateLimits.ofAddress(attemptsPerMinute)
  const cookie = { path: root, httpOnly: true, sameSite: 'strict' as const }

  // An attempt counts before its body is read.
  const login = { schema: { hide: true, body: Login }, bodyLimit: longestForm, onRequest: attempt }
  app.post(`${root}/login`, login, async (request, reply) => {
    const next = safeNext(root, request.body.next)
    const token = request.body.token.trim()
    request.headers.authorization = `Bearer ${token}` // verified as every other token is
    if (!await hasRole(request, 'ops')) return refuse(reply, 401, next, 'This is no valid token with the role ops.')
    const seconds = secondsLeft(token)
    reply.setCookie(cookieName, await signSession(sessionKey, request.user.id, seconds, request.user.jti), {
      ...cookie, secure: isEncrypted(request), maxAge: seconds
    })
    return await reply.redirect(next, 303)
  })

  // Where the browser stands after an attempt that was refused.
  app.get(`${root}/login`, { schema: { hide: true } }, async (_request, reply) => await reply.redirect(root, 303))

  app.post(`${root}/logout`, { schema: { hide: true }, onRequest: operatorsOnly(sessionKey) }, async (request, reply) => {
    assertOwnForm(request)
    return await reply.clearCookie(cookieName, cookie).redirect(root, 303)
  })

  const refuse = (reply: FastifyReply, status: number, next: string, words: string) =>
    sendPage(reply, status, page({ root, title: 'Log in' }, loginPage(root, next, words)))
}

/** A session is never longer than the token that it was made with. */
function secondsLeft (token: string): number {
  const { exp = 0 } = decodeJwt(token)
  return Math.max(1, Math.min(longestSessionSeconds, exp - Math.floor(Date.now() / 1_000)))
}

/** By what a proxy says: to believe it wrongly makes a cookie that is only sent encrypted. */
const isEncrypted = ({ protocol, headers }: FastifyRequest) =>
  protocol === 'https' || String(headers['x-forwarded-proto']).split(',')[0]?.trim() === 'https'

/** Only to a page of ours. */
export function safeNext (root: string, next: string | undefined): string {
  const isBelow = next === root || next?.startsWith(`${root}/`)
  return isBelow && next !== undefined && /^[A-Za-z0-9/_.~?=&%+-]*$/.test(next) ? next : root
}
