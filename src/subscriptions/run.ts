// Runs one subscription: one process holds its lease, and commits rows and checkpoint of each batch in one transaction.
import type { Pool } from 'pg'
import { isOfOutage, OtherLog } from '../log/errors.js'
import type { Streams } from '../log/event-log.js'
import type { Batch, IsDeferred } from '../log/follow.js'
import { claimCheckpoint, Fenced } from './checkpoint.js'
import { wheneverLeased, type Lease, type LeaseTimes } from './lease.js'
import { pause } from '../timing.js'
import { traceOf, traceParent, tracing, type Span, type Tracer } from '../tracing/tracing.js'

/** Handles the events of a subscription: a projection or the webhook dispatcher. */
export interface Consumer {
  /** Names the lease, for instance `projection assistants g1`. */
  name: string
  eventTypes: readonly string[]
  /** Events whose rows nobody waits for. They are written up to 250 ms later, many at once. */
  isDeferred?: IsDeferred | undefined
  /** Called whenever the subscription (re)starts, as another generation may be active by then. */
  open (): Promise<OpenConsumer>
}

export interface OpenConsumer {
  /** Qualified name of a table with the columns of `checkpointTable`. */
  checkpointTable: string
  /**
   * Writes the rows of the batch and moves the checkpoint from `from` to its end, in one transaction.
   * @throws Fenced when another holder has the checkpoint
   */
  write (batch: Batch, from: bigint, epoch: bigint): Promise<void>
}

type Write = (details: object, message: string) => void
export interface Log { debug: Write, info: Write, warn: Write, error: Write }

/** The consumer needs an operator. It is retried all the same, as the operator may have acted. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

interface SameLog {
  /** Compares now. @throws OtherLog, which says how to fix it */
  assert (): Promise<void>
  /** The problem that the last comparison found. */
  problem (): OtherLog | undefined
}

export interface RunOptions {
  streams: Streams
  /** Checks that the checkpoints belong to this log. Not checked when absent. */
  sameLog?: SameLog | undefined
  pool: Pool
  holder: string
  /** Yields the lease to a holder that does not yield. */
  yields?: boolean | undefined
  signal: AbortSignal
  leaseTimes?: LeaseTimes | undefined
  log: Log
}

const shortestBackoffMs = 100
const longestBackoffMs = 5_000
/** Shorter, as everybody waits for the consumers when the event store is back. */
const longestOutageBackoffMs = 2_000

/** Pause before the next retry, and whether the need for an operator is already logged. */
interface Backoff { ms: number, isLogged: boolean }

/**
 * Runs the subscription of `consumer` until `signal` is aborted. After an error it resumes from its checkpoint, with a
 * backoff of up to 5 s, which a commit resets. It never gives up.
 */
export async function runSubscription (consumer: Consumer, options: RunOptions): Promise<void> {
  const { pool, holder, yields, signal, leaseTimes } = options
  const backoff: Backoff = { ms: shortestBackoffMs, isLogged: false }
  while (!signal.aborted) {
    try {
      const lease = { pool, name: consumer.name, holder, yields, signal, times: leaseTimes }
      await wheneverLeased(lease, (held) => follow(consumer, held, options, backoff))
    } catch (error) {
      if (signal.aborted) return
      logFailure(consumer, error, options, backoff)
      await pause(backoff.ms, signal)
      backoff.ms = Math.min(backoff.ms * 2, isOfOutage(error) ? longestOutageBackoffMs : longestBackoffMs)
    }
  }
}

function logFailure ({ name }: Consumer, error: unknown, { yields, log }: RunOptions, backoff: Backoff): void {
  if (yields && error instanceof Fenced) return log.debug({ consumer: name }, 'consumer gave way to another holder')
  countersOf(name).failures += 1
  if (!(error instanceof Stopped || error instanceof OtherLog)) {
    const details = { consumer: name, err: error, retryInMs: backoff.ms }
    return log[isOfOutage(error) ? 'debug' : 'warn'](details, 'consumer stopped, resuming from its checkpoint')
  }
  backoff.ms = longestBackoffMs
  if (!backoff.isLogged) log.error({ consumer: name, err: error }, 'consumer stopped, an operator is needed')
  backoff.isLogged = true
}

async function follow (consumer: Consumer, lease: Lease, options: RunOptions, backoff: Backoff): Promise<void> {
  const opened = await consumer.open()
  const { streams, sameLog, log } = options
  const { taken, ...claim } = await claimCheckpoint(options.pool, opened.checkpointTable, lease.epoch)
  let { position } = claim
  const claimed = { consumer: consumer.name, position: String(position), epoch: String(lease.epoch) }
  log.debug(claimed, 'consumer claimed its checkpoint')
  await sameLog?.assert()
  const { eventTypes, isDeferred } = consumer
  const { signal } = lease
  const following = streams.follow({ after: position, taken, eventTypes, isDeferred, signal, mayShare: true })
  for await (const batch of following) {
    const otherLog = sameLog?.problem()
    if (otherLog) throw otherLog
    const from = position
    await traceBatch(consumer.name, batch, () => opened.write(batch, from, lease.epoch))
    position = batch.position
    Object.assign(backoff, { ms: shortestBackoffMs, isLogged: false })
    const counters = countersOf(consumer.name)
    counters.commits += 1
    counters.events += batch.events.length
  }
}

/** Limit per batch: after a long outage it may hold the events of thousands of requests. */
const mostTraces = 64

/** Runs `work`. With tracing on, it adds a span of the whole batch to each of its events' traces. */
async function traceBatch (consumer: string, batch: Batch, work: () => Promise<void>): Promise<void> {
  if (!tracing.tracer) return await work()
  const spans = spansOf(tracing.tracer, consumer, batch)
  try {
    await work()
    for (const span of spans) span.end()
  } catch (error) {
    for (const span of spans) span.end(error)
    throw error
  }
}

function spansOf (tracer: Tracer, consumer: string, { events }: Batch): Span[] {
  const parents = new Map<string, string>()
  for (const { metadata } of events) {
    const parent = traceParent(metadata.traceparent)
    if (parent !== undefined) parents.set(traceOf(parent), parent)
    if (parents.size === mostTraces) break
  }
  const attributes = { 'ringledger.consumer': consumer, 'ringledger.events': events.length }
  return [...parents.values()].map((parent) => tracer.start(consumer, { kind: 'consumer', parent, attributes }))
}

/** Counts of a consumer since this process started, for metrics. */
export interface Counters {
  commits: number
  events: number
  /** How often the consumer stopped and resumed from its checkpoint. */
  failures: number
}

/** By name of the consumer. */
export const countersByConsumer = new Map<string, Counters>()

function countersOf (consumer: string): Counters {
  const counters = countersByConsumer.get(consumer) ?? { commits: 0, events: 0, failures: 0 }
  countersByConsumer.set(consumer, counters)
  return counters
}
