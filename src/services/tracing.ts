// Turns tracing on, where the settings ask for it.
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import { packageVersion } from '../package-root.js'
import { endsWithin } from '../timing.js'
import { tracing } from '../tracing/tracing.js'

/** A collector that is away delays no stop for longer. */
const lastSpansMs = 2_000
const tellEveryMs = 60_000

/** @returns what turns it off, after the last spans are sent. Nothing of OpenTelemetry is loaded where it is off. */
export async function openTracing ({ traces }: Pick<Config, 'traces'>, log: Logger): Promise<() => Promise<void>> {
  if (!traces) return async () => {}
  const { openTelemetry } = await import('../tracing/open-telemetry.js')
  let quietUntil = 0
  const onProblem = () => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + tellEveryMs
    log.warn('traces could not be sent: check OTEL_EXPORTER_OTLP_ENDPOINT and the collector behind it')
  }
  const tracer = openTelemetry({ version: packageVersion, onProblem })
  tracing.tracer = tracer
  return async () => {
    if (tracing.tracer === tracer) tracing.tracer = undefined
    await endsWithin(lastSpansMs, tracer.stop().catch(() => {}))
  }
}
