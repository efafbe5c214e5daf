// How a process is: for probes, for Prometheus.
import type { Logger } from 'pino'
import type { Role } from './role.js'
import type { RestoreGuard } from '../recovery/restore-guard.js'
import { monitorLag } from '../subscriptions/lag.js'
import { activePositions } from '../../projections/engine/active-positions.js'
import type { HealthChecks } from '../http/health.js'
import type { Metrics } from '../http/metrics.js'
import type { CompleteConfig } from './complete-config.js'
import { healthChecks } from './health.js'
import { measureDeliveries, measureProcess, measureProjections } from './metrics.js'
import type { Connections } from './connections.js'
import { projections } from '../../projections/index.js'

export interface Status {
  healthChecks: HealthChecks
  metrics: Metrics
  metricsToken?: string | undefined
}

/** Watches the read models where the role projector runs, whichever process feeds them; `stop` ends that. */
export async function openStatus (roles: readonly Role[], { metricsToken }: CompleteConfig, connections: Connections, restoreGuard: RestoreGuard, holder: string, log: Logger): Promise<Status & { stop (): Promise<void> }> {
  const { openMetrics } = await import('../http/metrics.js')
  const metrics = openMetrics(log)
  const lagMonitor = roles.includes('projector')
    ? monitorLag({ head: () => connections.streams.head(), positions: () => activePositions(connections.pool, projections) })
    : undefined
  measureProcess(metrics, connections, holder)
  if (lagMonitor) measureProjections(metrics, connections, lagMonitor)
  const stopping = new AbortController()
  if (roles.includes('worker')) {
    const { openAudit } = await import('../../workers/operate/audit.js')
    measureDeliveries(metrics, connections, openAudit({ ...connections, signal: stopping.signal }))
  }
  return {
    healthChecks: healthChecks(connections, restoreGuard, roles, lagMonitor),
    metrics,
    metricsToken,
    async stop () {
      stopping.abort()
      await lagMonitor?.stop()
    }
  }
}
