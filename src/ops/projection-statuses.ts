// How the projections and the webhook dispatcher are, as operators see it from any process.
import type { Pool } from 'pg'
import { projections } from '../../projections/index.js'
import type { Projection } from '../../projections/engine/projection.js'
import { runningActions, type ActionReport } from '../../projections/engine/actions.js'
import { openBreakers, type OpenBreaker } from '../../projections/engine/circuit-breaker.js'
import { countParkedStreams } from '../../projections/engine/parked.js'
import { overview, type GenerationStatus } from '../../projections/engine/overview.js'
import { leaseOf } from '../../projections/engine/generations.js'
import { eventTypes } from '../../workers/dispatch/dispatch.js'
import { dispatcherCheckpoint } from '../recovery/same-log.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import type { Services } from '../services/services.js'
import { ratesByConsumer } from './minute-counts.js'
import { behindLog, type Behind } from '../subscriptions/lag.js'

/** A projection, or the webhook dispatcher, as an operator sees it. */
export interface ProjectionStatus {
  name: string
  /** Of what readers see. */
  state: 'running' | 'paused' | 'stopped' | 'filling'
  /** Why it is stopped. */
  problem: string | null
  /** As text: a position of the log may be larger than a number of JSON. */
  position: string
  /** How far the log is ahead. Beyond 10,000 events it is not exact. */
  lag_events: number
  lag_is_exact: boolean
  lag_seconds: number
  /** Events a second, in the last full minute. */
  rate: number
  parked_streams: number
  /** None of the dispatcher. */
  generations: GenerationStatus[]
  /** What runs on it just now. */
  action: ActionReport | null
}

interface Seen {
  breakers: OpenBreaker[]
  parked: { projection: string, generation: string, streams: number }[]
  rates: Map<string, number>
  actions: ActionReport[]
}

/** Every projection, and the dispatcher, which has no generations. */
export async function projectionStatuses ({ pool, streams }: Services): Promise<ProjectionStatus[]> {
  const head = await streams.head()
  const seen = await lookAround(pool)
  const ofProjection = async (projection: Projection) => {
    const generations = await overview(projection, pool, head)
    const active = generations.find(({ state }) => state === 'active')
    const position = BigInt(active?.position ?? 0)
    const behind = await behindLog(streams, { position, head }, projection.eventTypes)
    return statusOf(projection, { generations, active, behind }, seen)
  }
  const ofDispatcher = async () => {
    const position = await readCheckpoint(pool, dispatcherCheckpoint)
    return dispatcherStatus(position, await behindLog(streams, { position, head }, eventTypes), seen)
  }
  return await Promise.all([...projections.map(ofProjection), ofDispatcher()])
}

async function lookAround (pool: Pool): Promise<Seen> {
  const [breakers, parked, rates, actions] = await Promise.all([
    openBreakers(pool, projections), countParkedStreams(pool), ratesByConsumer(pool), runningActions(pool)
  ])
  return { breakers, parked, rates, actions }
}

interface Found { generations: GenerationStatus[], active: GenerationStatus | undefined, behind: Behind }

function statusOf (projection: Projection, { generations, active, behind }: Found, seen: Seen): ProjectionStatus {
  const { name } = projection
  const generation = active?.generation ?? 1
  const breaker = seen.breakers.find((one) => one.projection === name && one.generation === generation)
  const parked = seen.parked.find((one) => one.projection === name && Number(one.generation) === generation)
  const state = active?.paused_since ? 'paused' : breaker ? 'stopped' : active?.complete === false ? 'filling' : 'running'
  return {
    name,
    state,
    problem: breaker ? `it refused ${breaker.streams} streams within a minute: ${breaker.error}` : null,
    position: active?.position ?? '0',
    ...lagOf(behind),
    rate: seen.rates.get(leaseOf(projection, generation)) ?? 0,
    parked_streams: parked?.streams ?? 0,
    generations,
    action: seen.actions.find((one) => one.projection === name) ?? null
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
    action: null
  }
}

const lagOf = ({ events, isExact, seconds }: Behind) =>
  ({ lag_events: events, lag_is_exact: isExact, lag_seconds: Math.round(seconds * 10) / 10 })
