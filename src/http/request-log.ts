// For each request: its correlation id, one line in the log, and a span if tracing is on.
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Span, traceOf, traceParent, type Tracer, tracing } from '../tracing/tracing.js'
import type { App } from './app-types.js'
import type { Refusal } from './credentials.js'

/** The caller's id if it is fit to be logged and stored, else a new one. */
export function correlationId ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-correlation-id']
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID()
}

interface Note {
  /** See `userHash`. For a refused token, the user that it claims. */
  user?: string | undefined
  role?: string
  /** The id of the API key that came instead of a token. */
  api_key?: number
  /** Id of its trace, if it is traced. */
  trace?: string
  /** Why the token or key was refused. */
  refused?: Refusal
}

const notes = new WeakMap<FastifyRequest, Note>()

/** Adds to the line of this request. */
export function note (request: FastifyRequest, more: Note): void {
  notes.set(request, { ...notes.get(request), ...more })
}

/** Identifies a user in the log by 16 hex digits of SHA-256, because ids may be e-mail addresses. */
export const userHash = (userId: string) => createHash('sha256').update(userId).digest('hex').slice(0, 16)

/** Logs no path, query string or value: they hold ids, phone numbers and secrets. */
export class RequestLog extends LogController {
  override incomingRequest (): void {} // the line at the end says it all

  override requestCompleted (error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const line = {
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...notes.get(request)
    }
    if (error) request.log.error({ ...line, err: error }, 'request')
    else request.log.info(line, 'request')
  }
}

// A span for each request if tracing is on, within the caller's trace if there is one.

const spans = new WeakMap<FastifyRequest, Span>()

/** The `traceparent` for the events of a request; undefined if tracing is off. */
export const traceParentOf = (request: FastifyRequest): string | undefined => spans.get(request)?.traceparent

/** Does nothing if tracing is off. Does not trace probes and scrapes. */
export function traceRequests (app: App): void {
  const { tracer } = tracing
  if (!tracer) return
  app.addHook('onRequest', async (request) => begin(tracer, request))
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request)
    span?.set({ 'http.response.status_code': reply.statusCode })
    span?.end(reply.statusCode >= 500 || undefined)
  })
  app.addHook('onRequestAbort', async (request) => { spans.get(request)?.end('aborted') })
}

function begin (tracer: Tracer, request: FastifyRequest): void {
  const { method, routeOptions: { url: route = 'none' }, headers, id } = request
  if (/^\/(health\/|metrics$)/.test(route)) return
  const attributes = { 'http.request.method': method, 'http.route': route, 'ringledger.correlation_id': id }
  const span = tracer.start(`${method} ${route}`, { kind: 'server', parent: traceParent(headers.traceparent), attributes })
  spans.set(request, span)
  note(request, { trace: traceOf(span.traceparent) })
}
