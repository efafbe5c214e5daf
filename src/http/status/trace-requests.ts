// A span for each request, where tracing is on: in the trace of its caller, if the caller has one.
import type { FastifyRequest } from 'fastify'
import { traceOf, traceParent, tracing, type Span, type Tracer } from '../../tracing/tracing.js'
import type { App } from '../app-types.js'
import { note } from '../request-log.js'

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
