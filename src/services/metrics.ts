// Registers the metrics of a process: consumers, leases, connections, and pending work in the database.
import type { Pool } from 'pg'
import type { Ended } from '../../workers/deliveries/outcome.js'
import { skippedCalls } from '../../workers/dispatch/effects.js'
import { lastUnaccounted } from '../../workers/operate/audit.js'
import { countDue, countPending, countRecentAttempts } from '../../workers/operate/stats.js'
import { type UnfinishedRequests, type unfinishedByKind } from '../../workers/work/requests.js'
import { projections } from '../../projections/index.js'
import { openBreakers } from '../../projections/engine/circuit-breaker.js'
import { countParkedStreams } from '../../projections/engine/parked.js'
import { packageVersion } from '../package-root.js'
import type { Metrics, Sample } from '../http/metrics.js'
import { countersByConsumer, type Counters } from '../subscriptions/run.js'
import { behindLog, type Lag, type LagMonitor } from '../subscriptions/lag.js'
import { leasesOf } from '../subscriptions/lease.js'
import { atMostEvery } from '../timing.js'
import type { Services } from './services.js'

/** Metrics of every role: its consumers, leases and connections. */
export function measureProcess (metrics: Metrics, { pool, consumerPool, holder }: Services): void {
  const consumers = (name: string, help: string, pick: (counters: Counters) => number) =>
    metrics.counter(name, help, ['consumer'], () =>
      [...countersByConsumer].map(([consumer, counters]) => ({ labels: { consumer }, value: pick(counters) })))
  consumers('consumer_commits_total', 'Batches that a consumer of this process has committed.',
    ({ commits }) => commits)
  consumers('consumer_events_total', 'Events in those batches.', ({ events }) => events)
  consumers('consumer_failures_total', 'How often a consumer of this process stopped, to resume from its checkpoint.',
    ({ failures }) => failures)
  metrics.gauge('build_info', '1, for the versions that this process runs.', ['version', 'node'],
    () => [{ labels: { version: packageVersion, node: process.versions.node }, value: 1 }])
  metrics.gauge('lease_held', '1 for each lease that this process holds.', ['lease'], async () =>
    (await leasesOf(pool, holder)).map((lease) => ({ labels: { lease }, value: 1 })))
  metrics.gauge('postgres_connections', 'Connections to Postgres by pool, and requests that wait for one.',
    ['pool', 'state'], () => [...connectionsIn('answers', pool), ...connectionsIn('consumers', consumerPool)])
}

function connectionsIn (name: string, { totalCount, idleCount, waitingCount }: Pool): Sample[] {
  const waiting = Math.max(0, waitingCount - idleCount) // others have a connection in the next tick
  const counts = { busy: totalCount - idleCount, idle: idleCount, waiting }
  return Object.entries(counts).map(([state, value]) => ({ labels: { pool: name, state }, value }))
}

/** Metrics of the projector role: the lag of all read models, whichever process runs their projections. */
export function measureProjections (metrics: Metrics, { pool, streams }: Services, lagMonitor: LagMonitor): void {
  const projected = (name: string, help: string, pick: (lag: Lag) => number) =>
    metrics.gauge(name, help, ['projection'], () =>
      lagMonitor.freshLags().map((lag) => ({ labels: { projection: lag.name }, value: pick(lag) })))
  projected('projection_position', 'Checkpoint of what readers see, as a position of the log.',
    ({ position }) => Number(position))
  projected('projection_lag_positions', 'How far the log is ahead of it, in positions.', ({ lag }) => Number(lag))
  metrics.gauge('projection_lag_events', 'Events that it has yet to take, as far as they are counted: 10,000.', ['projection'],
    async () => await Promise.all(lagMonitor.freshLags().map(async (lag) =>
      ({ labels: { projection: lag.name }, value: await eventsBehind(streams, lag) }))))
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

/** Negative, and in positions, when the log has gone back: there are no events to count. */
async function eventsBehind (streams: Services['streams'], { name, position, lag }: Lag): Promise<number> {
  if (lag <= 0n) return Number(lag)
  const { eventTypes = [] } = projections.find((projection) => projection.name === name) ?? {}
  return (await behindLog(streams, { position, head: position + lag }, eventTypes)).events
}

/** Histogram buckets in seconds; the retry schedule lasts three days. */
const latencies = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600, 14_400, 86_400, 259_200]

/** Counts the attempts of a worker process. @returns callbacks: one for each attempt, one for exhausted deliveries */
export function observeAttempts (
  metrics: Metrics
): { onAttempt (ended: Ended): void, onExhausted (count: number): void } {
  const attempts = metrics.events('webhook_attempts_total',
    'Attempts that this process has made, by what started them and by outcome.', ['trigger', 'outcome'])
  const exhausted = metrics.events('webhook_deliveries_exhausted_total',
    'Deliveries that this process has made the last attempt of, in vain.', [])
  const latency = metrics.durations('webhook_delivery_latency_seconds',
    'Time from the beginning of the schedule of a delivery to its attempt that delivered it.', latencies)
  return {
    onAttempt ({ attempt: { trigger, ageMs }, outcome, duration_ms }) {
      attempts({ trigger, outcome })
      if (trigger === 'schedule' && outcome === 'delivered') latency((ageMs + duration_ms) / 1_000)
    },
    onExhausted: (count) => exhausted({}, count)
  }
}

/** Metrics of the worker role, counted in the delivery log. */
export function measureDeliveries (metrics: Metrics, pool: Pool): void {
  const countsBy = (label: string, found: Array<{ count: number }>): Sample[] =>
    found.map(({ count, ...each }) => ({ labels: { [label]: String(Reflect.get(each, label)) }, value: count }))
  metrics.gauge('webhook_deliveries_pending', 'Deliveries without an end, by status.', ['status'],
    async () => countsBy('status', await countPending(pool)))
  const due = atMostEvery(1_000, () => countDue(pool))
  const ofDue = (name: string, help: string, pick: Exclude<keyof Awaited<ReturnType<typeof countDue>>, 'oldest'>) =>
    metrics.gauge(name, help, [], async () => [{ labels: {}, value: (await due())[pick] }])
  ofDue('webhook_oldest_due_seconds', 'Age of the attempt that is due longest and that a worker could make now; 0 when none is.',
    'oldestSeconds')
  ofDue('webhook_attempts_waiting', 'Attempts that are due and that a worker could make now.', 'waiting')
  ofDue('webhook_attempts_under_way', 'Attempts that are running.', 'running')
  ofDue('webhook_endpoints_suspended', 'Endpoints that nothing is sent to.', 'suspended')
  ofDue('webhook_endpoints_failing', 'Endpoints whose last three attempts or more have failed.', 'failing')
  ofDue('webhook_events_parked', 'Events that the dispatcher has parked.', 'parked')
  metrics.counter('webhook_calls_skipped_total',
    'Calls that the dispatcher of this process has recorded without a webhook to send, by reason.', ['reason'],
    () => Object.entries(skippedCalls).map(([reason, value]) => ({ labels: { reason }, value })))
  metrics.gauge('webhook_attempts_recent',
    'Attempts that began within the last five minutes, by outcome; `running` has none yet.', ['outcome'],
    async () => countsBy('outcome', await countRecentAttempts(pool)))
  metrics.gauge('webhook_calls_unaccounted',
    'Calls in the log that the dispatcher has passed, less their rows in the delivery log: always 0.', [],
    async () => {
      const value = await lastUnaccounted(pool)
      return value === undefined ? [] : [{ labels: {}, value }]
    })
}

const importOutcomes = ['created', 'duplicate', 'invalid']

/** Metrics of the worker role: background work by kind, 0 when none waits. */
export function measureBackground (
  metrics: Metrics, kinds: readonly string[], count: () => ReturnType<typeof unfinishedByKind>
): void {
  const ofKind = (name: string, help: string, pick: (found: UnfinishedRequests) => number) =>
    metrics.gauge(name, help, ['kind'], async () => {
      const found = await count()
      return kinds.map((kind) => {
        const unfinished = found.find((each) => each.kind === kind)
        return { labels: { kind }, value: unfinished ? pick(unfinished) : 0 }
      })
    })
  ofKind('background_requests_pending', 'Requests in the background that have not ended.', ({ count }) => count)
  ofKind('background_requests_failing', 'Requests in the background whose last turns kept nothing.', ({ failing }) => failing)
  ofKind('background_oldest_seconds', 'Age of the oldest request in the background; 0 when there is none.', ({ oldestSeconds }) => oldestSeconds)
}

/** Counts rows of imports. @returns a callback for the outcomes of each part that was kept */
export function observeImports (metrics: Metrics): (outcomes: readonly string[]) => void {
  const counted = Object.fromEntries(importOutcomes.map((outcome) => [outcome, 0]))
  metrics.counter('import_rows_total', 'Rows of imports that this process has done, by outcome.', ['outcome'],
    () => Object.entries(counted).map(([outcome, value]) => ({ labels: { outcome }, value })))
  return (outcomes) => {
    for (const outcome of outcomes) counted[outcome] = (counted[outcome] ?? 0) + 1
  }
}
