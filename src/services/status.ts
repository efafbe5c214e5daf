// How a process is: whether it is ready, for probes, and what it measures, for Prometheus.
import type { Projection } from '../../projections/engine/projection.js'
import { activePositions, generationsOf } from '../../projections/engine/generations.js'
import { projections } from '../../projections/index.js'
import { openBreakers, type OpenBreaker } from '../../projections/engine/circuit-breaker.js'
import type { HealthChecks, Remark } from '../http/health.js'
import { openMetrics, type Metrics } from '../http/metrics.js'
import { recordMinutes } from '../ops/minute-counts.js'
import { countersByConsumer } from '../subscriptions/run.js'
import { monitorLag, type Lag, type LagMonitor } from '../subscriptions/lag.js'
import { atMostEvery } from '../timing.js'
import { diskOf, openDiskMonitor, type DiskMonitor } from './disk.js'
import { measureDeliveries, measureProcess, measureProjections } from './metrics.js'
import type { Services } from './services.js'

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
export async function openStatus (services: Services, assertWorker: () => Promise<void>): Promise<Status> {
  const { roles, config, urls, pool, streams, holder, log } = services
  const metrics = openMetrics(log)
  measureProcess(metrics, services)
  const lagMonitor = roles.includes('projector')
    ? monitorLag({
      head: () => streams.head(), positions: () => activePositions(pool, projections), lookNow: () => streams.lookNow()
    })
    : undefined
  if (lagMonitor) measureProjections(metrics, services, lagMonitor)
  const stopRecording = recordMinutes({ pool, holder }, () => counted(metrics), log)
  const place = diskOf(urls.dataIn, config.backEnds.eventStoreUrl)
  const disk = openDiskMonitor({ pool, disk: place, log })
  const stopLooking = disk.keepLooking()
  if (roles.includes('worker')) {
    const [{ lastUnaccounted }, { countDue, countPending, countRecentAttempts }, { skippedCalls }] = await Promise.all([
      import('../../workers/operate/audit.js'), import('../../workers/operate/stats.js'),
      import('../../workers/dispatch/effects.js')
    ])
    measureDeliveries(metrics, {
      pending: () => countPending(pool),
      due: atMostEvery(1_000, () => countDue(pool)),
      recentAttempts: () => countRecentAttempts(pool),
      skipped: () => skippedCalls,
      unaccounted: () => lastUnaccounted(pool)
    })
  }
  return {
    healthChecks: healthChecks(services, { disk, assertWorker, lag: lagMonitor }),
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

interface Monitors {
  disk: DiskMonitor
  /** Rejects when the queue of the role worker does not answer. */
  assertWorker: () => Promise<void>
  /** A process without the role projector has none. */
  lag: LagMonitor | undefined
}

function healthChecks (
  services: Services, { disk, assertWorker, lag: lagMonitor }: Monitors
): HealthChecks {
  const { roles, pool, eventStore, logGuard } = services
  const checks: HealthChecks = {
    postgres: () => pool.query('SELECT 1'),
    disk: () => disk.assertRoom(),
    eventStore: () => eventStore.assertAnswers(),
    ledger: () => isLevelWithLog(services),
    log: () => logGuard.assert()
  }
  if (roles.includes('api') || roles.includes('worker')) checks.eventStoreWrites = () => eventStore.assertTakesWrites()
  if (roles.includes('api') || roles.includes('projector')) checks.readModels = () => assertFilled(services)
  if (roles.includes('worker')) checks.webhookQueue = assertWorker
  if (!lagMonitor) return checks
  for (const projection of projections) {
    checks[`projection ${projection.name}`] = () => assertKeepsUp(services, projection, lagMonitor)
  }
  return checks
}

/** An API without ids still answers reads and updates, so it stays ready. A worker that may not send is not ready. */
async function isLevelWithLog ({ roles, restoreGuard }: Services): Promise<Remark> {
  const { maySend, mayGiveIds } = await restoreGuard.check()
  if (roles.includes('api')) return maySend && mayGiveIds ? undefined : 'behind the log'
  if (roles.includes('worker') && !maySend) await restoreGuard.assertMaySend()
  return undefined
}

/** @throws while a read model is filled for the first time: reads of it are refused until then */
async function assertFilled ({ pool }: Services): Promise<void> {
  const found = await activePositions(pool, projections)
  const filling = found.filter(({ isFilling }) => isFilling).map(({ name }) => name)
  if (filling.length > 0) throw new Error(`still to be filled from the log: ${filling.join(', ')}`)
}

/**
 * A projection that is behind and comes closer is fine, and so is one that an operator has paused.
 * @throws when what readers see stands still, or falls behind
 */
async function assertKeepsUp (
  { pool }: Services, projection: Projection, lagMonitor: LagMonitor
): Promise<Remark> {
  const [open, generations] = await Promise.all([openBreakers(pool, [projection]), generationsOf(pool, projection)])
  const active = generations.find(({ state }) => state === 'active')
  if (active?.pausedSince) return `paused since ${active.pausedSince.toISOString()}`
  const breaker = open.find(({ generation }) => generation === active?.generation)
  if (breaker) throw new Error(stopped(breaker))
  const lag = lagMonitor.lags().find(({ name }) => name === projection.name)
  if (lag?.isKeepingUp === false) throw new Error(behind(lag))
  return undefined
}

function stopped ({ since, streams, error }: OpenBreaker): string {
  return `it stands still since ${since}, as it refused ${streams} streams within a minute: ${error}`
}

function behind ({ lag, lagSeconds, isAlive }: Lag): string {
  if (lag < 0n) return `the log ends ${-lag} positions before what was read of it: it has gone back`
  const trend = isAlive ? 'does not come closer' : 'stands still'
  return `the log is ${lag} positions ahead for ${lagSeconds.toFixed(0)} s, and the read model ${trend}`
}
