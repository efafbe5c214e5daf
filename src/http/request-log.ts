// What is noted of each request: its correlation id, one line in the log, and a span where tracing is on.
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Span, traceOf, traceParent, type Tracer, tracing } from '../tracing/tracing.js'
import type { App } from './app-types.js'
import type { Refusal } from './credentials.js'

/** The caller's id where it is fit to be logged and stored, else one of ours. */
export function correlationId ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-correlation-id']
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID()
}

interface Note {
  /** Stands for the user; see `userHash`. Of a refused token, the one that it names. */
  user?: string | undefined
  role?: string
  /** The id of the API key that came instead of a token. */
  api_key?: number
  /** Id of its trace, where it is traced. */
  trace?: string
  /** Why the token or key was refused. */
  refused?: Refusal
}

const notes = new WeakMap<FastifyRequest, Note>()

/** Adds to the line of this request. */
export function note (request: FastifyRequest, more: Note): void {
  notes.set(request, { ...notes.get(request), ...more })
}

/** Tells users apart in the log, where ids may be e-mail addresses: the first 16 digits of their SHA-256. */
export const userHash = (userId: string) => createHash('sha256').update(userId).digest('hex').slice(0, 16)

/** Never a path, a query string or a value: they hold ids, phone numbers and secrets. */
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

// A span for each request, where tracing is on: in the trace of its caller, if the caller has one.

const spans = new WeakMap<FastifyRequest, Span>()

/** What the events of a request are to carry; nothing where tracing is off. */
export const traceParentOf = (request: FastifyRequest): string | undefined => spans.get(request)?.traceparent

/** Adds nothing to an app where tracing is off. Probes and scrapes are not traced. */
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
