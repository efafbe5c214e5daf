// Which pages of other origins may call the API from a browser: those of CORS_ORIGINS, none by default.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app-types.js'
import { answerHeaders, requestHeaders } from './docs/describe.js'

/** `*` for every origin. Tokens are sent by the page itself, so cookies and the like are never asked for. */
export type CorsOrigins = '*' | readonly string[]

/** How long a browser may keep the answer to its question, in seconds. */
const keptSeconds = 600

const exposed = [...Object.keys(answerHeaders), 'Allow', 'Content-Disposition'].join(', ')
const allowed = ['Authorization', 'Content-Type', ...Object.keys(requestHeaders)].join(', ')

/** Of the entries of the setting: origins, or `*` alone. */
export const corsOrigins = (entries: string[]): CorsOrigins => isEvery(entries) ? '*' : entries

/** The first entry that is no origin, as a browser would send it. */
export const noOriginIn = (entries: string[]): string | undefined =>
  isEvery(entries) ? undefined : entries.find((origin) => !isOrigin(origin))

const isEvery = (entries: string[]) => entries.length === 1 && entries[0] === '*'

function isOrigin (text: string): boolean {
  if (!/^https?:[^*]+$/.test(text) || !URL.canParse(text)) return false
  return new URL(text).origin === text
}

/** Register it before everything that may refuse: a page can read no refusal without these headers. */
export function allowOrigins (app: App, origins: CorsOrigins): void {
  if (origins.length === 0) return
  app.addHook('onRequest', async (request, reply) => {
    if (origins !== '*') addToVary(reply, 'Origin') // also of answers to others, which are not for these pages
    const { origin } = request.headers
    if (origin === undefined || (origins !== '*' && !origins.includes(origin))) return
    reply.header('access-control-allow-origin', origins === '*' ? '*' : origin)
    reply.header('access-control-expose-headers', exposed)
    const { allow } = request.routeOptions.config
    if (allow !== undefined && isQuestion(request)) return await answerQuestion(reply, allow)
  })
}

/** A browser asks before it sends what a page of its own origin only could send. */
const isQuestion = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

async function answerQuestion (reply: FastifyReply, allow: string): Promise<FastifyReply> {
  return await reply.code(204).headers({
    'access-control-allow-methods': allow,
    'access-control-allow-headers': allowed,
    'access-control-max-age': keptSeconds
  }).send()
}

/** What else the answer depends on: a cache keeps one for each. */
export function addToVary (reply: FastifyReply, name: string): void {
  reply.header('vary', [reply.getHeader('vary'), name].flat().filter(Boolean).join(', '))
}
