// The state of a process: for probes, and for Prometheus.
import { activePositions } from '../../../projections/engine/positions.js'
import { projections } from '../../../projections/index.js'
import type { HealthChecks } from '../../http/health.js'
import type { Metrics } from '../../http/metrics.js'
import { atMostEvery } from '../../timing/at-most-every.js'
import { countersByConsumer } from '../../subscriptions/counters.js'
import { monitorLag } from '../../subscriptions/lag.js'
import { diskOf, openDiskMonitor } from './disk.js'
import { healthChecks } from './health.js'
import { recordMinutes } from '../../ops/counts/minute-counts.js'
import { measureDeliveries, measureProcess, measureProjections } from './metrics.js'
import type { Services } from '../services.js'

export interface Status {
  healthChecks: HealthChecks
  metrics: Metrics
  metricsToken?: string | undefined
  stop (): Promise<void>
}

/**
 * Where the role projector runs, it monitors the lag of the read models, whichever process runs their projections.
 * `assertWorker` rejects when the queue of the role worker does not answer.
 */
export async function openStatus (context: Services, assertWorker: () => Promise<void>): Promise<Status> {
  const { roles, config, urls, connections, log } = context
  const { openMetrics } = await import('../../http/metrics.js')
  const metrics = openMetrics(log)
  measureProcess(metrics, context)
  const lagMonitor = roles.includes('projector') ? monitorProjections(context) : undefined
  if (lagMonitor) measureProjections(metrics, connections, lagMonitor)
  const { pool } = connections
  const stopRecording = recordMinutes({ pool, holder: context.holder, read: () => counted(metrics), log })
  const place = diskOf(urls.dataIn, config.backEnds.eventStoreUrl)
  const disk = openDiskMonitor({ pool, disk: place, log })
  const stopLooking = disk.keepLooking()
  if (roles.includes('worker')) {
    const [{ lastUnaccounted }, { countDue, countPending, countRecentAttempts }, { skippedCalls }] = await Promise.all([
      import('../../../workers/operate/audit.js'), import('../../../workers/operate/stats.js'),
      import('../../../workers/dispatch/skipped.js')
    ])
    measureDeliveries(metrics, {
      pending: () => countPending(connections.pool),
      due: atMostEvery(1_000, () => countDue(connections.pool)),
      recentAttempts: () => countRecentAttempts(connections.pool),
      skipped: () => skippedCalls,
      unaccounted: () => lastUnaccounted(connections.pool)
    })
  }
  return {
    healthChecks: healthChecks(context, { disk, assertWorker, lag: lagMonitor }),
    metrics,
    metricsToken: config.metricsToken,
    async stop () {
      await Promise.all([stopLooking(), stopRecording(), lagMonitor?.stop()])
    }
  }
}

/** Since the start of this process. */
function counted ({ commands }: Metrics): Map<string, number> {
  const answered = Object.entries(commands).map(([kind, count]): [string, number] => [`commands ${kind}`, count])
  const consumed = [...countersByConsumer].map(([name, { events }]): [string, number] => [`events ${name}`, events])
  return new Map([...answered, ...consumed])
}

function monitorProjections ({ connections: { pool, streams } }: Services) {
  return monitorLag({ head: () => streams.head(), positions: () => activePositions(pool, projections) })
}
