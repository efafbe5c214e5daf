// Audits that every call in the log has its row. It counts by its own read of the log, not by the dispatcher's.
import type { Pool } from 'pg'
import { callIdOf } from '../../src/features/calls/events.js'
import { typeInLog } from '../../src/domain/sealed.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { streamErased } from '../../src/features/persons/model.js'
import type { Streams } from '../../src/log/event-log.js'

interface Audit {
  /** Distinct calls in the log up to the dispatcher's checkpoint. */
  calls: number
  /** Rows of calls in the delivery log at that checkpoint. */
  rows: number
  /** The difference. If it is not 0, calls were lost or made up. */
  unaccounted: number
}

interface AuditOptions {
  pool: Pool
  streams: CountedLog
  signal: AbortSignal
}

/** Counts everything. @throws when the log or Postgres cannot be read, or `signal` is aborted */
export async function audit (options: AuditOptions): Promise<Audit> {
  for (let next = nothing; ;) {
    const { found, ...step } = await countSome(options, next, Infinity)
    if (found) return found
    next = step.next
  }
}

const usualStepMs = 10_000

/**
 * Goes on counting the log from where the last count ended, in whatever process that was, for at most `stepMs`. At the
 * end it compares with all rows of the delivery log, so that it notices a row that vanished. One process at a time.
 * @returns nothing while the log is not counted to the end
 */
export async function continueAudit (options: AuditOptions, stepMs = usualStepMs): Promise<Audit | undefined> {
  const { pool } = options
  const { rows: [kept] } = await pool.query<Count>(`
    SELECT position, calls::float8 AS calls, began_at AS "beganAt", has_erased AS "hasErased", met_erased AS "metErased",
      is_counted_anew AS "isCountedAnew" FROM ledger.identity_count`)
  const before = kept ? { ...kept, position: BigInt(kept.position), beganAt: BigInt(kept.beganAt) } : nothing // as text
  const { next, found } = await countSome(options, before, stepMs)
  const { position, calls, beganAt, hasErased, metErased, isCountedAnew } = next
  await pool.query(`
    UPDATE ledger.identity_count
    SET position = $1, calls = $2, unaccounted = coalesce($3, unaccounted),
        counted_at = CASE WHEN $3 IS NULL THEN counted_at ELSE now() END,
        began_at = $4, has_erased = $5, met_erased = $6, is_counted_anew = $7`,
  [position, calls, found?.unaccounted ?? null, beganAt, hasErased, metErased, isCountedAnew])
  return found
}

/** As of the last count; nothing before the first. */
export async function lastUnaccounted (pool: Pool): Promise<number | undefined> {
  const { rows: [count] } = await pool.query<{ unaccounted: string | null }>('SELECT unaccounted FROM ledger.identity_count')
  return count?.unaccounted == null ? undefined : Number(count.unaccounted)
}

const nothing: Count =
  { position: 0n, calls: 0, beganAt: 0n, hasErased: false, metErased: false, isCountedAnew: false }

/**
 * If calls that were erased meanwhile may explain a difference, the count begins anew before it is reported. It also
 * begins anew if the delivery log was restored or follows another log.
 */
async function countSome (
  { pool, streams, signal }: AuditOptions, before: Count, stepMs: number
): Promise<{ next: Count, found?: Audit }> {
  const { checkpoint, rows } = await deliveryLog(pool)
  const isAnew = before.position === 0n || before.position > checkpoint
  let count = isAnew ? await newCount(streams, before) : before
  const until = performance.now() + stepMs
  for await (const part of countOn(streams, count, checkpoint, signal)) {
    count = part
    if (performance.now() > until) break
  }
  signal.throwIfAborted()
  if (count.position < checkpoint) return { next: count }
  const unaccounted = count.calls - rows
  const isDoubtful = unaccounted !== 0 && count.metErased && !count.isCountedAnew
  if (isDoubtful) return { next: await newCount(streams, { hasErased: true, isCountedAnew: true }) }
  return { next: { ...count, isCountedAnew: false }, found: { calls: count.calls, rows, unaccounted } }
}

/** Both from one snapshot: rows and checkpoint are written in one transaction. */
async function deliveryLog (pool: Pool): Promise<{ checkpoint: bigint, rows: number }> {
  const { rows: [found] } = await pool.query<{ position: string, rows: string }>(`
    SELECT position, (SELECT count(*) FROM ledger.webhook_deliveries WHERE call_id IS NOT NULL) AS rows
    FROM ledger.dispatcher_checkpoint`)
  return { checkpoint: BigInt(found?.position ?? 0), rows: Number(found?.rows ?? 0) }
}

type CountedLog = Pick<Streams, 'followStored' | 'read' | 'head'>

/** How far a count has come. */
interface Count {
  /** The log is counted up to here. */
  position: bigint
  calls: number
  /**
   * Where the log ended when this count began. A call that was erased before counts once, at its erasure: a scavenge
   * may have taken its report. One that was erased later has counted at its report.
   */
  beganAt: bigint
  /** Calls were erased before it, so the stream of each call that was reported before it must be read. */
  hasErased: boolean
  /** Calls were erased later. If a scavenge was quicker than the count, their report was not counted. */
  metErased: boolean
  /** A difference made it begin anew, so its result is final. */
  isCountedAnew: boolean
}

/** From the beginning of the log. @throws EventStoreUnavailable */
async function newCount (
  { head }: Pick<CountedLog, 'head'>, { hasErased, isCountedAnew }: Pick<Count, 'hasErased' | 'isCountedAnew'>
): Promise<Count> {
  return { ...nothing, beganAt: await head(), hasErased, isCountedAnew }
}

const report = 'CallCompleted'
/** The second one stands for a report that nobody could read. */
const erasures = ['CallErased', streamErased]

/** Goes on up to `end`. Each part yields the whole count so far, which may have begun anew. */
async function * countOn (
  streams: CountedLog, from: Count, end: bigint, signal: AbortSignal
): AsyncGenerator<Count> {
  let count = from
  if (end <= count.position) return
  const eventTypes = [report, ...erasures]
  for await (const batch of streams.followStored({ after: count.position, eventTypes, signal })) {
    count = { ...count }
    for (const event of batch.events) {
      if (event.position > end || callIdOf(event.stream) === undefined) continue
      const isErasedBefore = isErasure(event) && event.position <= count.beganAt
      if (isErasedBefore && !count.hasErased) {
        yield * countOn(streams, await newCount(streams, { ...count, hasErased: true }), end, signal)
        return
      }
      count.metErased ||= isErasure(event) && !isErasedBefore
      if (await isCounted(streams, event, count)) count.calls += 1
    }
    count.position = batch.position < end ? batch.position : end
    yield count
    if (batch.position >= end) return
  }
}

/** Hardly any stream of a call has more events, or begins with another one. */
const mostBefore = 100

/** Needs no memory of calls: the stream of the call shows whether it counts at this event. */
async function isCounted ({ read }: CountedLog, event: StoredEvent, count: Count): Promise<boolean> {
  const { stream, revision, position } = event
  if (isErasure(event)) return position <= count.beganAt && (await read(stream, 0n, 1))[0]?.id === event.id
  const mayBeErased = count.hasErased && position <= count.beganAt
  if (revision === 0n && !mayBeErased) return true
  const [first] = await read(stream, 0n, 1)
  if (first && isErasure(first)) return revision === 0n && first.position > count.beganAt
  if (revision === 0n) return true
  if (first && !isOther(first)) return false
  const earlier = await read(stream, 0n, mostBefore)
  return !earlier.some((event) => !isOther(event) && event.revision < revision)
}

/** By the type in the log: a report that nobody can read still counts as one. */
const isErasure = (event: StoredEvent) => erasures.includes(typeInLog(event))
const isOther = (event: StoredEvent) => typeInLog(event) !== report
