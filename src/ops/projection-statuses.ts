// The status of the projections and of the webhook dispatcher, as operators see it from any process.
import { projections } from '../../projections/index.js'
import type { Projection } from '../../projections/engine/projection.js'
import { runningActions } from '../../projections/engine/actions.js'
import { actions, whyNot } from '../../projections/engine/operations.js'
import { countParkedStreams } from '../../projections/engine/parked.js'
import { overview, ownedGenerations } from '../../projections/engine/overview.js'
import { leaseOf } from '../../projections/engine/generations.js'
import { eventTypes } from '../../workers/dispatch/dispatch.js'
import { dispatcherCheckpoint } from '../recovery/same-log.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import type { Services } from '../services/services.js'
import type { ProjectionStatus } from './answers.js'
import { ratesByConsumer } from './minute-counts.js'
import { behindLog } from '../subscriptions/lag.js'

/** Every projection, and the dispatcher, which has no generations. */
export async function projectionStatuses ({ pool, streams }: Services): Promise<ProjectionStatus[]> {
  const head = await streams.head()
  const [parked, rates, running] = await Promise.all([
    countParkedStreams(pool), ratesByConsumer(pool), runningActions(pool)
  ])
  return await Promise.all([...projections.map(ofProjection), ofDispatcher()])

  async function ofProjection (projection: Projection): Promise<ProjectionStatus> {
    const { name } = projection
    const owned = await ownedGenerations(projection, pool)
    const generations = await overview(projection, owned, pool, head)
    const active = generations.find(({ state }) => state === 'active')
    const breaker = owned.find(({ state }) => state === 'active')?.breaker
    const generation = active?.generation ?? 1
    const action = running.find((one) => one.projection === name) ?? null
    const busy = action && `A ${action.action} runs: wait until it has ended.`
    const state = active?.paused_since ? 'paused' : breaker?.openSince ? 'stopped' : active?.complete === false ? 'filling' : 'running'
    return {
      name,
      state,
      problem: breaker?.openSince ? `it refused ${breaker.streams} streams within a minute: ${breaker.error}` : null,
      ...await lagAt(BigInt(active?.position ?? 0), projection.eventTypes),
      rate: rates.get(leaseOf(projection, generation)) ?? 0,
      parked_streams: parkedIn(name, String(generation)),
      generations,
      action,
      offers: actions.map((action) => ({ action, why_not: busy ?? whyNot(action, projection, owned) ?? null }))
    }
  }

  async function ofDispatcher (): Promise<ProjectionStatus> {
    return {
      name: 'dispatcher',
      state: 'running',
      problem: null,
      ...await lagAt(await readCheckpoint(pool, dispatcherCheckpoint), eventTypes),
      rate: rates.get('dispatcher') ?? 0,
      parked_streams: parkedIn('dispatcher', ''),
      generations: [],
      action: null,
      offers: []
    }
  }

  async function lagAt (position: bigint, eventTypes: readonly string[]) {
    const { events, isExact, seconds } = await behindLog(streams, { position, head }, eventTypes)
    const lag_seconds = Math.round(seconds * 10) / 10
    return { position: String(position), lag_events: events, lag_is_exact: isExact, lag_seconds }
  }

  function parkedIn (name: string, generation: string): number {
    return parked.find((one) => one.projection === name && one.generation === generation)?.streams ?? 0
  }
}
