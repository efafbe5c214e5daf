// What a process measures of itself: subscriptions, leases, connections, and what waits in the database.
import type { Pool } from 'pg'
import { projections } from '../../../projections/index.js'
import { openBreakers } from '../../../projections/parking/circuit-breaker.js'
import { countParkedStreams } from '../../../projections/parking/count-parked-streams.js'
import type { Metrics, Sample } from '../../http/status/metrics.js'
import { countersByConsumer, type Counters } from '../../subscriptions/counters.js'
import type { Lag, LagMonitor } from '../../subscriptions/lag.js'
import { leasesOf } from '../../subscriptions/lease-row.js'
import type { Connections } from '../connections.js'
import { inBackground } from './in-background.js'
import type { ProcessContext } from '../process-context.js'

/** Of every role: what its consumers have done, the leases that it holds, its connections. */
export function measureProcess (
  metrics: Metrics, { connections: { pool, consumerPool }, holder }: ProcessContext
): void {
  const consumers = (name: string, help: string, pick: (counters: Counters) => number) =>
    metrics.counter(name, help, ['consumer'], () =>
      [...countersByConsumer].map(([consumer, counters]) => ({ labels: { consumer }, value: pick(counters) })))
  consumers('consumer_commits_total', 'Batches that a consumer of this process has committed.',
    ({ commits }) => commits)
  consumers('consumer_events_total', 'Events in those batches.', ({ events }) => events)
  consumers('consumer_failures_total', 'How often a consumer of this process stopped, to resume from its checkpoint.',
    ({ failures }) => failures)
  metrics.gauge('lease_held', '1 for each lease that this process holds.', ['lease'], async () =>
    (await leasesOf(pool, holder)).map((lease) => ({ labels: { lease }, value: 1 })))
  metrics.gauge('postgres_connections', 'Connections to Postgres by pool, and requests that wait for one.',
    ['pool', 'state'], () => [...connectionsIn('answers', pool), ...connectionsIn('consumers', consumerPool)])
}

function connectionsIn (name: string, { totalCount, idleCount, waitingCount }: Pool): Sample[] {
  const counts = { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
  return Object.entries(counts).map(([state, value]) => ({ labels: { pool: name, state }, value }))
}

/** Of the role projector: how far the read models are, whichever process runs their projections. */
export function measureProjections (metrics: Metrics, { pool }: Connections, lagMonitor: LagMonitor): void {
  const projected = (name: string, help: string, pick: (lag: Lag) => number) =>
    metrics.gauge(name, help, ['projection'], () =>
      lagMonitor.lags().map((lag) => ({ labels: { projection: lag.name }, value: pick(lag) })))
  projected('projection_position', 'Checkpoint of what readers see, as a position of the log.',
    ({ position }) => Number(position))
  projected('projection_lag_positions', 'How far the log is ahead of it, in positions.', ({ lag }) => Number(lag))
  projected('projection_lag_seconds', 'Since when the log is ahead of it, as far as this process has seen.',
    ({ lagSeconds }) => lagSeconds)
  projected('projection_alive', '0 when it stands still though the log is ahead.',
    ({ isAlive }) => Number(isAlive))
  metrics.gauge('projection_parked_streams', 'Streams with parked events.',
    ['projection', 'generation'], async () => (await countParkedStreams(pool)).map(({ streams, ...labels }) => ({ labels, value: streams })))
  metrics.gauge('projection_circuit_breaker_open', '1 for each generation whose circuit breaker is open.',
    ['projection', 'generation'], async () =>
      (await openBreakers(pool, projections)).map(({ projection, generation }) =>
        ({ labels: { projection, generation }, value: 1 })))
}

/** What is counted in the delivery log; `audit` compares the calls of the log with their rows. */
export interface DeliveryCounts {
  pending (): Promise<{ status: string, count: number }[]>
  recentAttempts (): Promise<{ outcome: string, count: number }[]>
  audit (): Promise<{ unaccounted: number }>
  /** Of this process, by reason. */
  skipped (): Readonly<Record<string, number>>
}

/** Of the role worker. */
export function measureDeliveries (
  metrics: Metrics, { pending, recentAttempts, audit, skipped }: DeliveryCounts
): void {
  metrics.gauge('webhook_deliveries_pending', 'Deliveries without an end, by status.', ['status'],
    async () => (await pending()).map(({ status, count }) => ({ labels: { status }, value: count })))
  metrics.counter('webhook_calls_skipped_total',
    'Calls that the dispatcher of this process has recorded without a webhook to send, by reason.', ['reason'],
    () => Object.entries(skipped()).map(([reason, value]) => ({ labels: { reason }, value })))
  metrics.gauge('webhook_attempts_recent',
    'Attempts that began within the last five minutes, by outcome; `running` has none yet.', ['outcome'],
    async () => (await recentAttempts()).map(({ outcome, count }) => ({ labels: { outcome }, value: count })))
  metrics.gauge('webhook_calls_unaccounted',
    'Calls in the log that the dispatcher has passed, less their rows in the delivery log: always 0.', [],
    inBackground<Sample[]>([], async () => [{ labels: {}, value: (await audit()).unaccounted }]))
}
