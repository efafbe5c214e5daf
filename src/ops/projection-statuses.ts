// The status of the projections and of the webhook dispatcher, as operators see it from any process.
import type { Pool } from 'pg'
import { projections } from '../../projections/index.js'
import type { Projection } from '../../projections/engine/projection.js'
import { runningActions } from '../../projections/engine/actions.js'
import { actions, whyNot } from '../../projections/engine/operations.js'
import { countParkedStreams } from '../../projections/engine/parked.js'
import { overview, ownedGenerations, type GenerationStatus } from '../../projections/engine/overview.js'
import { leaseOf, type Generation } from '../../projections/engine/generations.js'
import { eventTypes } from '../../workers/dispatch/dispatch.js'
import { dispatcherCheckpoint } from '../recovery/same-log.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import type { Services } from '../services/services.js'
import type { ProjectionStatus } from './answers.js'
import { ratesByConsumer } from './minute-counts.js'
import { behindLog, type Behind } from '../subscriptions/lag.js'

/** Every projection, and the dispatcher, which has no generations. */
export async function projectionStatuses ({ pool, streams }: Services): Promise<ProjectionStatus[]> {
  const head = await streams.head()
  const seen = await lookAround(pool)
  const ofProjection = async (projection: Projection) => {
    const owned = await ownedGenerations(projection, pool)
    const generations = await overview(projection, owned, pool, head)
    const active = generations.find(({ state }) => state === 'active')
    const position = BigInt(active?.position ?? 0)
    const behind = await behindLog(streams, { position, head }, projection.eventTypes)
    const offers = actions.map((action) => ({ action, why_not: whyNot(action, projection, owned) ?? null }))
    const breaker = owned.find(({ state }) => state === 'active')?.breaker
    return statusOf(projection, { generations, active, breaker, behind, offers }, seen)
  }
  const ofDispatcher = async () => {
    const position = await readCheckpoint(pool, dispatcherCheckpoint)
    return dispatcherStatus(position, await behindLog(streams, { position, head }, eventTypes), seen)
  }
  return await Promise.all([...projections.map(ofProjection), ofDispatcher()])
}

type Seen = Awaited<ReturnType<typeof lookAround>>

async function lookAround (pool: Pool) {
  const [parked, rates, actions] = await Promise.all([
    countParkedStreams(pool), ratesByConsumer(pool), runningActions(pool)
  ])
  return { parked, rates, actions }
}

interface Found extends Pick<ProjectionStatus, 'offers'> {
  generations: GenerationStatus[]
  active: GenerationStatus | undefined
  breaker: Generation['breaker'] | undefined
  behind: Behind
}

function statusOf (
  projection: Projection, { generations, active, breaker, behind, offers }: Found, seen: Seen
): ProjectionStatus {
  const { name } = projection
  const generation = active?.generation ?? 1
  const parked = seen.parked.find((one) => one.projection === name && Number(one.generation) === generation)
  const action = seen.actions.find((one) => one.projection === name) ?? null
  const busy = action && `A ${action.action} runs: wait until it has ended.`
  const state = active?.paused_since ? 'paused' : breaker?.openSince ? 'stopped' : active?.complete === false ? 'filling' : 'running'
  return {
    name,
    state,
    problem: breaker?.openSince ? `it refused ${breaker.streams} streams within a minute: ${breaker.error}` : null,
    position: active?.position ?? '0',
    ...lagOf(behind),
    rate: seen.rates.get(leaseOf(projection, generation)) ?? 0,
    parked_streams: parked?.streams ?? 0,
    generations,
    action,
    offers: busy ? offers.map((offer) => ({ ...offer, why_not: busy })) : offers
  }
}

function dispatcherStatus (position: bigint, behind: Behind, { rates, parked }: Seen): ProjectionStatus {
  return {
    name: 'dispatcher',
    state: 'running',
    problem: null,
    position: String(position),
    ...lagOf(behind),
    rate: rates.get('dispatcher') ?? 0,
    parked_streams: parked.find(({ projection }) => projection === 'dispatcher')?.streams ?? 0,
    generations: [],
    action: null,
    offers: []
  }
}

const lagOf = ({ events, isExact, seconds }: Behind) =>
  ({ lag_events: events, lag_is_exact: isExact, lag_seconds: Math.round(seconds * 10) / 10 })
