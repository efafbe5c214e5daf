// How a process is: for probes, for Prometheus.
import type { Logger } from 'pino'
import type { Role } from './roles.js'
import type { Gate } from '../recovery/restore-guard.js'
import { watchFeeds } from '../subscriptions/lag.js'
import { activePositions } from '../../projections/engine/active-positions.js'
import type { HealthChecks } from '../http/health.js'
import type { Metrics } from '../http/metrics.js'
import type { CompleteConfig } from './complete-config.js'
import { healthChecks } from './health.js'
import { measureDeliveries, measureProcess, measureProjections } from './metrics.js'
import type { Parts } from './connections.js'
import { projections } from './projector.js'

export interface Status {
  healthChecks: HealthChecks
  metrics: Metrics
  metricsToken?: string | undefined
}

/** Watches the read models where the role projector runs, whichever process feeds them; `stop` ends that. */
export async function openStatus (roles: readonly Role[], { metricsToken }: CompleteConfig, parts: Parts, gate: Gate, holder: string, log: Logger): Promise<Status & { stop (): Promise<void> }> {
  const { openMetrics } = await import('../http/metrics.js')
  const metrics = openMetrics(log)
  const watch = roles.includes('projector')
    ? watchFeeds({ head: () => parts.streams.head(), positions: () => activePositions(parts.pool, projections) })
    : undefined
  measureProcess(metrics, parts, holder)
  if (watch) measureProjections(metrics, parts, watch)
  const stopping = new AbortController()
  if (roles.includes('worker')) {
    const { openAccounts } = await import('../../workers/operate/audit.js')
    measureDeliveries(metrics, parts, openAccounts({ ...parts, signal: stopping.signal }))
  }
  return {
    healthChecks: healthChecks(parts, gate, roles, watch),
    metrics,
    metricsToken,
    async stop () {
      stopping.abort()
      await watch?.stop()
    }
  }
}
