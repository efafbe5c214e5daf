// A span of a consumer in each trace that a batch has events of, where tracing is on.
import type { Batch } from '../event-store/reads/batch.js'
import { traceOf, traceParent, tracing, type Span, type Tracer } from '../tracing/tracing.js'

/** Of one batch: after a long outage it may hold the events of thousands of requests. */
const mostTraces = 64

/** Does the work. Where tracing is on it is a span in each of those traces, with the events of all of them. */
export async function traceBatch (consumer: string, batch: Batch, work: () => Promise<void>): Promise<void> {
  if (!tracing.tracer) return await work()
  const spans = spansOf(tracing.tracer, consumer, batch)
  try {
    await work()
    for (const span of spans) span.end()
  } catch (error) {
    for (const span of spans) span.end(error)
    throw error
  }
}

function spansOf (tracer: Tracer, consumer: string, { events }: Batch): Span[] {
  const parents = new Map<string, string>()
  for (const { metadata } of events) {
    const parent = traceParent(metadata.traceparent)
    if (parent !== undefined) parents.set(traceOf(parent), parent)
    if (parents.size === mostTraces) break
  }
  const attributes = { 'ringledger.consumer': consumer, 'ringledger.events': events.length }
  return [...parents.values()].map((parent) => tracer.start(consumer, { kind: 'consumer', parent, attributes }))
}
