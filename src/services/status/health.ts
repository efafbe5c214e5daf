// Decides whether a process is ready: what it must reach, and how its projections must get on.
import { projections } from '../../../projections/index.js'
import type { Projection } from '../../../projections/engine/projection.js'
import { openBreakers, type OpenBreaker } from '../../../projections/parking/circuit-breaker.js'
import { generationsOf } from '../../../projections/generations/generations.js'
import { incomplete } from '../../../projections/generations/complete.js'
import type { HealthChecks, Remark } from '../../http/health.js'
import type { Lag, LagMonitor } from '../../subscriptions/lag.js'
import type { Connections } from '../connections.js'
import type { Services } from '../services.js'
import type { DiskMonitor } from './disk.js'

export interface Monitors {
  disk: DiskMonitor
  /** Rejects when the queue of the role worker does not answer. */
  assertWorker: () => Promise<void>
  /** A process without the role projector has none. */
  lag: LagMonitor | undefined
}

export function healthChecks (
  context: Services, { disk, assertWorker, lag: lagMonitor }: Monitors
): HealthChecks {
  const { roles, connections: { pool, eventStore } } = context
  const checks: HealthChecks = {
    postgres: () => pool.query('SELECT 1'),
    disk: () => disk.assertRoom(),
    eventStore: () => eventStore.assertAnswers(),
    ledger: () => isLevelWithLog(context),
    log: () => context.logGuard.assert()
  }
  if (roles.includes('api') || roles.includes('worker')) checks.eventStoreWrites = () => eventStore.assertTakesWrites()
  if (roles.includes('api') || roles.includes('projector')) checks.readModels = () => assertFilled(context)
  if (roles.includes('worker')) checks.webhookQueue = assertWorker
  if (!lagMonitor) return checks
  for (const projection of projections) {
    checks[`projection ${projection.name}`] = () => assertKeepsUp({ pool }, projection, lagMonitor)
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
async function assertFilled ({ connections: { pool } }: Services): Promise<void> {
  const filling = await incomplete(pool, projections)
  if (filling.length > 0) throw new Error(`still to be filled from the log: ${filling.join(', ')}`)
}

/**
 * A projection that is behind and comes closer is fine, and so is one that an operator has paused.
 * @throws when what readers see stands still, or falls behind
 */
async function assertKeepsUp (
  { pool }: Pick<Connections, 'pool'>, projection: Projection, lagMonitor: LagMonitor
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
