// What a process tells of itself: its feeds, leases, connections, and what waits in the database.
import type { Pool } from 'pg'
import { brakes } from '../../projections/parking/circuit-breaker.js'
import { countersByConsumer, type Counters } from '../subscriptions/counters.js'
import type { Lag, LagMonitor } from '../subscriptions/lag.js'
import type { Metrics, Sample } from '../http/metrics.js'
import type { Connections } from './connections.js'
import { projections } from '../../projections/index.js'

/** Of every role: what its consumers have done, the leases that it holds, its connections. */
export function measureProcess (metrics: Metrics, { pool, consumerPool }: Connections, holder: string): void {
  const ofCounters = (pick: (counters: Counters) => number) => () => [...countersByConsumer].map(([consumer, counters]) => ({ labels: { consumer }, value: pick(counters) }))
  metrics.counter('consumer_commits_total', 'Batches that a consumer of this process has committed.', ['consumer'], ofCounters(({ commits }) => commits))
  metrics.counter('consumer_events_total', 'Events in those batches.', ['consumer'], ofCounters(({ events }) => events))
  metrics.counter('consumer_failures_total', 'How often a consumer of this process stopped, to resume from its checkpoint.', ['consumer'], ofCounters(({ failures }) => failures))
  metrics.gauge('lease_held', '1 for each lease that this process holds.', ['lease'], () => heldLeases(pool, holder))
  metrics.gauge('postgres_connections', 'Connections to Postgres by pool, and requests that wait for one.', ['pool', 'state'],
    () => [...connectionsOf('answers', pool), ...connectionsOf('consumers', consumerPool)])
}

/** Of the role projector: how the read models get on, whichever process feeds them. */
export function measureProjections (metrics: Metrics, { pool }: Connections, lagMonitor: LagMonitor): void {
  const ofLags = (pick: (lag: Lag) => number) => () => lagMonitor.lags().map((state) => ({ labels: { projection: state.name }, value: pick(state) }))
  metrics.gauge('projection_position', 'Checkpoint of what readers see, as a position of the log.', ['projection'], ofLags(({ position }) => Number(position)))
  metrics.gauge('projection_lag_positions', 'How far the log is ahead of it, in positions.', ['projection'], ofLags(({ lag }) => Number(lag)))
  metrics.gauge('projection_lag_seconds', 'Since when the log is ahead of it, as far as this process has seen.', ['projection'], ofLags(({ lagSeconds }) => lagSeconds))
  metrics.gauge('projection_feed_alive', '0 when it stands still though the log is ahead.', ['projection'], ofLags(({ isAlive }) => Number(isAlive)))
  metrics.gauge('projection_quarantined_streams', 'Streams that wait in quarantine.', ['projection', 'generation'], () => quarantinedStreams(pool))
  metrics.gauge('projection_brake_on', '1 for each generation that stands still because it refused too many streams.', ['projection', 'generation'],
    async () => (await brakes(pool, projections)).map(({ projection, generation }) => ({ labels: { projection, generation }, value: 1 })))
}

/** Of the role worker; `account` counts the calls of the log and their rows. */
export function measureDeliveries (metrics: Metrics, { pool }: Pick<Connections, 'pool'>, account: () => Promise<{ unaccounted: number }>): void {
  metrics.gauge('webhook_deliveries_pending', 'Deliveries without an end, by status.', ['status'], async () => {
    const { rows } = await pool.query<{ status: string, count: number }>("SELECT status, count(*)::int AS count FROM ledger.webhook_deliveries WHERE status IN ('scheduled', 'held') GROUP BY status")
    return rows.map(({ status, count }) => ({ labels: { status }, value: count }))
  })
  metrics.gauge('webhook_attempts_recent', 'Attempts that began within the last five minutes, by outcome; `running` has none yet.', ['outcome'], async () => {
    const { rows } = await pool.query<{ outcome: string, count: number }>("SELECT coalesce(outcome, 'running') AS outcome, count(*)::int AS count FROM ledger.webhook_attempts WHERE started_at > now() - interval '5 minutes' GROUP BY outcome")
    return rows.map(({ outcome, count }) => ({ labels: { outcome }, value: count }))
  })
  metrics.gauge('webhook_calls_unaccounted', 'Calls in the log that the dispatcher has passed, less their rows in the ledger: always 0.', [], beside(async () => [{ labels: {}, value: (await account()).unaccounted }]))
}

/** For what may take longer than a scrape, or cost too much for each: answers what was found last, and begins to look again at most once a minute. */
export function beside (read: () => Promise<Sample[]>, everyMs = 60_000): () => Sample[] {
  let found: Sample[] = []
  let failure: Error | undefined
  let lookedAt = -Infinity
  let isLooking = false
  return () => {
    if (!isLooking && performance.now() - lookedAt >= everyMs) look()
    if (failure) throw failure
    return found
  }

  function look (): void {
    isLooking = true
    lookedAt = performance.now()
    read().then((samples) => { [found, failure] = [samples, undefined] }, (error: Error) => { failure = error }).finally(() => { isLooking = false })
  }
}

async function heldLeases (pool: Pool, holder: string): Promise<Sample[]> {
  const { rows } = await pool.query<{ name: string }>('SELECT name FROM ledger.leases WHERE holder = $1 AND expires_at > clock_timestamp()', [holder])
  return rows.map(({ name }) => ({ labels: { lease: name }, value: 1 }))
}

async function quarantinedStreams (pool: Pool): Promise<Sample[]> {
  const { rows } = await pool.query<{ name: [string, string], streams: number }>(`
    SELECT regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name, count(DISTINCT stream)::int AS streams FROM ledger.quarantine
    WHERE consumer ~ '^read_\\w+_g\\d+$' GROUP BY consumer`)
  return rows.map(({ name: [projection, generation], streams }) => ({ labels: { projection, generation }, value: streams }))
}

const connectionsOf = (name: string, pool: Pool): Sample[] => Object.entries({ busy: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount })
  .map(([state, value]) => ({ labels: { pool: name, state }, value }))
