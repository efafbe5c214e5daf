// Everything under `/ops`: the API answers in JSON, the pages and their forms in HTML.
import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { decodeJwt } from 'jose'
import Type from 'typebox'
import type { App } from '../../http/app-types.js'
import { hasRole } from '../../http/auth.js'
import { assertOwnForm, cookieName, longestSessionSeconds, operatorsOnly, signSession } from '../operator.js'
import { asPage, page, sendPage } from '../pages/layout.js'
import type { OpsServices } from '../services.js'
import { loginPage, problemPage } from '../pages/other.js'
import { live, style } from '../pages/style.js'
import { addForms } from './forms.js'
import { addPages } from './pages.js'
import { addProjections } from './projections.js'
import { addService } from './service.js'
import { addWebhooks } from './webhooks.js'

/** The API for operators: with a token of the role `ops`. */
export function addOps (app: App, deps: OpsServices): void {
  for (const add of [addProjections, addWebhooks, addService]) add(app, deps)
}

/** Register authentication and rate limits before. */
export async function addOpsPages (app: FastifyInstance, deps: OpsServices): Promise<void> {
  await app.register(async (pages: App) => {
    await pages.register(fastifyCookie)
    pages.decorateRequest('opsSession', null)
    addAllPages(pages, deps)
  })
}

function addAllPages (app: App, deps: OpsServices): void {
  const root = `${deps.basePath}/ops`
  takeForms(app)
  answerInHtml(app, root)
  addLogin(app, root, deps.sessionKey)
  addPages(app, deps)
  addForms(app, deps)
  addFile(app, `${root}/style.css`, 'text/css; charset=utf-8', style)
  addFile(app, `${root}/live.js`, 'text/javascript; charset=utf-8', live)
}

function takeForms (app: App): void {
  const type = 'application/x-www-form-urlencoded'
  app.addContentTypeParser(type, { parseAs: 'string', bodyLimit: longestForm }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(String(body))))
  })
}

/** The same for everybody: it shows nothing. */
function addFile (app: App, url: string, type: string, content: string): void {
  const options = { schema: { hide: true }, logLevel: 'warn' as const, onRequest: app.rateLimits.ofStranger }
  app.get(url, options, async (_request, reply) =>
    await reply.type(type).header('cache-control', 'public, max-age=3600').send(content))
}

/**
 * What is answered here in JSON is an error, which is shown as a page. Somebody who is not logged in sees the form that
 * does it, under the status that says so.
 */
function answerInHtml (app: App, root: string): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isJson = String(reply.getHeader('content-type')).startsWith('application/json')
    if (typeof payload !== 'string' || !isJson) return payload
    const isStranger = reply.statusCode === 401
    const main = isStranger
      ? loginPage(root, safeNext(root, request.url), undefined)
      : problemPage(root, wordsOf(payload))
    asPage(reply)
    return page({ root, title: isStranger ? 'Log in' : 'This did not work' }, main)
  })
}

function wordsOf (payload: string): string {
  const { message, errors = {} }: { message: string, errors?: Record<string, string[]> } = JSON.parse(payload)
  const fields = Object.entries(errors).map(([field, problems]) => `${field} ${problems.join(', ')}`)
  return [message, ...fields].join('\n')
}

/** No form of ours is longer than a token. */
const longestForm = 16 * 1024

/** Of one address, in a process. Nobody types a token: more tries than these are guesses. */
const attemptsPerMinute = 10

const Login = Type.Object({
  token: Type.String({ maxLength: 8_192 }),
  next: Type.Optional(Type.String({ maxLength: 2_048 }))
})

/** @param root BASE_PATH and `/ops` */
function addLogin (app: App, root: string, sessionKey: Uint8Array): void {
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
function safeNext (root: string, next: string | undefined): string {
  const isBelow = next === root || next?.startsWith(`${root}/`)
  return isBelow && next !== undefined && /^[A-Za-z0-9/_.~?=&%+-]*$/.test(next) ? next : root
}
