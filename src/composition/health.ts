// What a process has to reach, and how its feeds have to get on, to be ready.
import { brakes } from '../../projections/parking/circuit-breaker.js'
import { activeGeneration } from '../../projections/replay/generations.js'
import type { Projection } from '../../projections/engine/projection.js'
import type { Role } from './role.js'
import type { RestoreGuard } from '../recovery/restore-guard.js'
import type { LagMonitor } from '../subscriptions/lag.js'
import type { HealthChecks, Told } from '../http/health.js'
import type { Connections } from './connections.js'
import { projections } from '../../projections/index.js'

/** `lagMonitor` is that of the role projector. */
export function healthChecks ({ pool, streams }: Connections, restoreGuard: RestoreGuard, roles: readonly Role[], lagMonitor: LagMonitor | undefined): HealthChecks {
  const ofLags = lagMonitor ? projections.map((projection) => [`projection ${projection.name}`, () => isFed({ pool }, projection, lagMonitor)] as const) : []
  return { postgres: () => pool.query('SELECT 1'), eventStore: () => streams.head(), ledger: () => isWithTheLog(restoreGuard, roles), ...Object.fromEntries(ofLags) }
}

/** An API that gives out no ids still answers reads and updates, so it only tells; a worker that sends nothing is not ready. */
async function isWithTheLog (restoreGuard: RestoreGuard, roles: readonly Role[]): Promise<Told> {
  const { maySend, mayGiveIds } = await restoreGuard.check()
  if (roles.includes('api')) return maySend && mayGiveIds ? undefined : 'behind the log'
  if (roles.includes('worker') && !maySend) await restoreGuard.assertMaySend()
  return undefined
}

/** @throws when what readers see stands still, or falls behind: being behind and coming closer is fine */
async function isFed ({ pool }: Pick<Connections, 'pool'>, projection: Projection, lagMonitor: LagMonitor): Promise<void> {
  const [on, generation] = await Promise.all([brakes(pool, [projection]), activeGeneration(pool, projection)])
  const brake = on.find((one) => one.generation === generation)
  if (brake) throw new Error(`it stands still since ${brake.since}, as it refused ${brake.streams} streams within a minute: ${brake.error}`)
  const state = lagMonitor.lags().find(({ name }) => name === projection.name)
  if (state?.isKeepingUp === false) throw new Error(`the log is ${state.lag} positions ahead for ${state.lagSeconds.toFixed(0)} s, and the read model ${state.isAlive ? 'does not come closer' : 'stands still'}`)
}
