// Tracing without the types of OpenTelemetry, so that nothing of it is loaded while tracing is off.

type Attributes = Record<string, string | number>

export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'consumer'
  /** The `traceparent` of the span that led to this one. Absent, it begins a trace of its own. */
  parent?: string | undefined
  attributes?: Attributes
}

export interface Span {
  /** As W3C Trace Context writes it: for headers, and for the metadata of events. */
  traceparent: string
  set (attributes: Attributes): void
  /** Takes what went wrong, but sends only the name of an error: messages may hold data. A second end does nothing. */
  end (error?: unknown): void
}

export interface Tracer { start (name: string, options: SpanOptions): Span }

/** `tracing.tracer?.start(…)` costs one check while tracing is off: its arguments are not even made. */
export const tracing: { tracer?: Tracer | undefined } = {}

/** The given traceparent, if it is one of version 00. Callers and other writers of events may send anything. */
export function traceParent (given: unknown): string | undefined {
  return typeof given === 'string' && given.length === 55 && pattern.test(given) ? given : undefined
}

const pattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The part of a traceparent that all spans of one trace share. */
export const traceOf = (traceparent: string): string => traceparent.slice(3, 35)
