// Sends spans by OpenTelemetry. Its own variables, OTEL_…, say where to, how many and as what.
import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Span, SpanOptions, Tracer } from './tracing.js'

const kinds = {
  server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER
}

interface OpenTracer extends Tracer {
  /** Sends the spans that are left. */
  stop (): Promise<void>
}

interface TracerOptions {
  version: string
  /** Called when spans could not be sent. */
  onProblem? (): void
  /** Absent, it sends them over OTLP. */
  processor?: SpanProcessor
}

/** Reads the environment of the process, as every program with OpenTelemetry does. */
export function openTelemetry ({ version, onProblem = () => {}, processor }: TracerOptions): OpenTracer {
  const quiet = () => {}
  const problem = () => { onProblem() } // its message may hold the address, and secrets in that
  diag.setLogger({ error: problem, warn: problem, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN)
  const own = resourceFromAttributes({ 'service.name': 'ringledger', 'service.version': version })
  const provider = new BasicTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [processor ?? new BatchSpanProcessor(new OTLPTraceExporter())]
  })
  const tracer = provider.getTracer('ringledger', version)
  return {
    start (name, { kind, parent, attributes = {} }) {
      return spanOf(tracer.startSpan(name, { kind: kinds[kind], attributes }, contextOf(parent)))
    },
    stop: () => provider.shutdown()
  }
}

function contextOf (parent: SpanOptions['parent']): Context {
  if (parent === undefined) return ROOT_CONTEXT
  const [, traceId = '', spanId = '', flags = ''] = parent.split('-')
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true })
}

function spanOf (span: ReturnType<ReturnType<BasicTracerProvider['getTracer']>['startSpan']>): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  let isOver = false
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    set (attributes) { span.setAttributes(attributes) },
    end (error) {
      if (isOver) return
      isOver = true
      if (error !== undefined) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        if (error instanceof Error) span.setAttribute('error.type', error.name)
      }
      span.end()
    }
  }
}
