// Before a route: checks of Host and method, headers for browsers. And how connections end when the process stops:
// whole requests get whole answers, and nobody waits for a client.
import helmet from '@fastify/helmet'
import {
  errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifyServerOptions
} from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { httpError } from '../domain/rejection.js'
import type { App } from './app-types.js'
import { answerHeaders, requestHeaders } from './docs/describe.js'

type ConnectionError = Parameters<NonNullable<FastifyServerOptions['clientErrorHandler']>>[0]

const answers: Record<string, { status: string, message: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'The address and the headers of the request are too long.'
  }
}
const malformed = { status: '400 Bad Request', message: 'This is not a valid HTTP/1.1 request.' }

const notFound = { status: '404 Not Found', message: 'There is nothing at this address.' }

/**
 * CONNECT asks for a proxy. Node.js passes it to no handler: without a listener it ends the connection silently, and it
 * does not watch the socket for errors.
 */
export function refuseTunnels (app: App): void {
  app.server.on('connect', (_request, socket) => {
    socket.on('error', () => {}).resume().end(answerOf(notFound), () => socket.destroy())
  })
}

/**
 * HTTP/1.1 requires a Host, and no version allows two (RFC 9112, 3.2). With two tokens, the caller could be either.
 * Fastify would accept a query string that cannot be decoded. An unknown expectation may be ignored (RFC 9110, 10.1.1).
 */
export function refuseAmbiguous (app: App): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.addHook('onRequest', async ({ originalUrl: url, raw: { httpVersion, rawHeaders } }) => {
    const hosts = countOf('host', rawHeaders)
    if (hosts > 1 || (httpVersion === '1.1' && hosts === 0)) {
      throw httpError(400, 'A request in HTTP/1.1 must have the header Host, once.')
    }
    if (countOf('authorization', rawHeaders) > 1) throw httpError(400, 'A request must have the header Authorization once.')
    if (!isDecodable(url)) throw new errorCodes.FST_ERR_BAD_URL(url)
  })
}

/** Fastify answers a path that cannot be decoded without any hook, so this escapes it to reach a route. */
export const decodable = ({ url = '/' }: { url?: string }) => isDecodable(url) ? url : url.replaceAll('%', '%25')

function isDecodable (url: string): boolean {
  try {
    return !url.includes('%') || decodeURIComponent(url) !== ''
  } catch {
    return false
  }
}

/** `headers` has only the first of several. `rawHeaders` alternates names and values. */
function countOf (header: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === header).length
}

/** Writes `{message}` to the socket, as far as anybody still listens there, and ends the connection. */
export function answerMalformed (error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) socket.write(answerOf(answers[error.code] ?? malformed))
  socket.destroy(error)
}

function answerOf ({ status, message }: { status: string, message: string }): string {
  const body = JSON.stringify({ message })
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close'
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

// Answers other methods of an address with 405 and `Allow`; a CORS preflight gets the same list.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods of the address, on the route that refuses all others. */
    allow?: string
  }
}

/** Call it before the routes are added, and its result after them: then every address refuses other methods. */
export function noteMethods (app: App): () => void {
  const urls = new Set<string>()
  app.addHook('onRoute', ({ url }) => { urls.add(url) })
  return () => {
    for (const url of [...urls]) {
      const taken = app.supportedMethods.filter((method) => app.hasRoute({ method, url }))
      const others = app.supportedMethods.filter((method) => !taken.includes(method))
      const config = { allow: taken.sort().join(', ') }
      // In a hook, so that it needs neither a token nor a body.
      app.route({ url, method: others, schema: { hide: true }, config, onRequest: refuse, handler: refuse })
    }
  }
}

async function refuse ({ method, routeOptions: { config } }: FastifyRequest, reply: FastifyReply): Promise<never> {
  const { allow = '' } = config
  reply.header('allow', allow)
  throw httpError(405, `This address does not take ${method}, only ${allow}.`)
}

// What browsers may do with an answer: show it to nobody else, keep it nowhere, run nothing in it.

/**
 * A page runs our scripts, calls our API and loads nothing from elsewhere. It does not upgrade to https, so it also
 * works where TLS ends at a proxy, or nowhere. Mantine and Swagger UI write style elements.
 */
export const pagePolicy = [
  "default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:",
  "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"
].join('; ')

/** For an API; a route that serves a page sets `pagePolicy`. */
export async function registerSecurityHeaders (app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] }
    },
    xFrameOptions: { action: 'deny' },
    // For Internet Explorer, Flash and other old browsers: they mean nothing for an API.
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    xDnsPrefetchControl: false
  })
  // Answers hold personal data. What may be cached, such as the files of the documentation, sets its own header.
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
}

export interface ClosingTimes {
  /** Milliseconds from the stop on for requests that have begun to arrive. */
  arriveWithinMs?: number
  /** Milliseconds from the stop on until clients must have their answers. */
  answerWithinMs?: number
}

interface Connection {
  /** Not answered yet. */
  requests: IncomingMessage[]
  isNew: boolean
}

/**
 * close() waits for every connection; for a silent one forever, as Node no longer enforces `requestTimeout` then. While
 * the process is leaving, each answer ends its connection, unless a pipelined request follows.
 */
export function closeInTime (
  app: App, leaving?: AbortSignal, { arriveWithinMs = 3_000, answerWithinMs = 10_000 }: ClosingTimes = {}
): void {
  const connections = new Map<Socket, Connection>()
  let isClosing = false
  const timers: NodeJS.Timeout[] = []
  const endWhere = (isOver: (connection: Connection) => boolean, end: (socket: Socket) => void) => {
    for (const [socket, connection] of connections) if (isOver(connection)) end(socket)
  }
  app.server.closeIdleConnections = () => {} // Node's would cut off an answer that is still in the socket's buffer
  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { requests: [], isNew: true })
    socket.once('close', () => connections.delete(socket))
  })
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket)
    if (!connection) return
    connection.isNew = false
    connection.requests.push(request)
    response.once('close', () => {
      connection.requests.splice(connection.requests.indexOf(request), 1)
      if (isClosing && connection.requests.length === 0) request.socket.destroySoon()
    })
  })
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!isClosing && !leaving?.aborted) return
    const isLast = connections.get(raw.socket)?.requests.at(-1) === raw
    reply.header('connection', isLast ? 'close' : 'keep-alive')
  })
  app.addHook('preClose', async () => {
    isClosing = true
    endWhere(({ requests, isNew }) => requests.length === 0 && !isNew, (socket) => socket.destroySoon())
    const isNotWhole = ({ requests }: Connection) => !requests.some(({ complete }) => complete)
    timers.push(
      setTimeout(() => endWhere(isNotWhole, (socket) => socket.destroy()), arriveWithinMs),
      setTimeout(() => endWhere(() => true, (socket) => socket.destroy()), answerWithinMs)
    )
  })
  app.addHook('onClose', async () => { for (const timer of timers) clearTimeout(timer) })
}

/** `*` for every origin. The page itself sends tokens, so cookies and the like are never allowed. */
export type CorsOrigins = '*' | readonly string[]

/** How long a browser may cache a preflight, in seconds. */
const keptSeconds = 600

const exposed = [...Object.keys(answerHeaders), 'Allow', 'Content-Disposition'].join(', ')
const allowed = ['Authorization', 'Content-Type', ...Object.keys(requestHeaders)].join(', ')

/** Register it before everything that may refuse: without these headers a page cannot read a refusal. */
export function allowOrigins (app: App, origins: CorsOrigins): void {
  if (origins.length === 0) return
  app.addHook('onRequest', async (request, reply) => {
    if (origins !== '*') addToVary(reply, 'Origin') // also on answers that lack the headers below
    const { origin } = request.headers
    if (origin === undefined || (origins !== '*' && !origins.includes(origin))) return
    reply.header('access-control-allow-origin', origins === '*' ? '*' : origin)
    reply.header('access-control-expose-headers', exposed)
    // The rest answers a preflight.
    const { method, headers, routeOptions: { config: { allow } } } = request
    if (allow === undefined || method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return
    return await reply.code(204).headers({
      'access-control-allow-methods': allow,
      'access-control-allow-headers': allowed,
      'access-control-max-age': keptSeconds
    }).send()
  })
}

/** Whether `Accept` names this type. With `q=0` it is not wanted (RFC 9110, 12.4.2). */
export const accepts = ({ headers: { accept = '' } }: FastifyRequest, type: string): boolean =>
  accept.toLowerCase().split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim())
    return name === type && !parameters.some((each) => /^q=0(\.0*)?$/.test(each))
  })

/** Names a request header that the answer depends on: a cache keeps one answer for each value. */
export function addToVary (reply: FastifyReply, name: string): void {
  reply.header('vary', [reply.getHeader('vary'), name].flat().filter(Boolean).join(', '))
}
