// Whether every call in the log has its row: counted in the log by a read of its own, not by what the dispatcher says.
import type { Pool } from 'pg'
import { callIdOf } from '../../src/features/calls/events.js'
import { typeInLog } from '../../src/domain/sealed.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/log/event-log.js'

export interface Audit {
  /** Distinct calls in the log up to the dispatcher's checkpoint. */
  calls: number
  /** Rows of calls in the delivery log at that checkpoint. */
  rows: number
  /** The difference: always 0, or calls were lost or made up. */
  unaccounted: number
}

export interface AuditOptions {
  pool: Pool
  streams: CountedLog
  signal: AbortSignal
}

/** Counts everything. @throws when the log or Postgres cannot be read, or `signal` is aborted */
export async function audit ({ pool, streams, signal }: AuditOptions): Promise<Audit> {
  for (let isAgain = false; ; isAgain = true) {
    const { checkpoint, rows } = await deliveryLog(pool)
    let count = await newCount(streams, isAgain)
    for await (const part of countOn(streams, count, checkpoint, signal)) count = part
    signal.throwIfAborted()
    const unaccounted = count.calls - rows
    if (unaccounted === 0 || !count.metErased || isAgain) return { calls: count.calls, rows, unaccounted }
  }
}

const usualStepMs = 10_000

/**
 * Goes on counting the log from where the last count has ended, in whatever process that was, for so long at most. Then
 * it compares with all rows of the delivery log, so that it notices a row that vanishes. A difference that calls erased
 * meanwhile may have made is counted anew before it is told. One process at a time.
 * @returns nothing while the log is not counted to the end
 */
export async function continueAudit (
  { pool, streams, signal }: AuditOptions, stepMs = usualStepMs
): Promise<Audit | undefined> {
  const { checkpoint, rows } = await deliveryLog(pool)
  const { isCountedAnew, ...kept } = await readCount(pool, checkpoint)
  let count = kept.position === 0n ? await newCount(streams, kept.hasErased) : kept
  const until = performance.now() + stepMs
  for await (const part of countOn(streams, count, checkpoint, signal)) {
    count = part
    if (performance.now() > until) break
  }
  signal.throwIfAborted()
  const isWhole = count.position >= checkpoint
  const unaccounted = count.calls - rows
  const isDoubtful = isWhole && unaccounted !== 0 && count.metErased && !isCountedAnew
  if (isDoubtful) {
    await keepCount(pool, { ...await newCount(streams, true), isCountedAnew: true })
    return undefined
  }
  await keepCount(pool, { ...count, isCountedAnew: isCountedAnew && !isWhole }, isWhole ? unaccounted : undefined)
  return isWhole ? { calls: count.calls, rows, unaccounted } : undefined
}

/** As of the last count; nothing before the first. */
export async function lastUnaccounted (pool: Pool): Promise<number | undefined> {
  const { rows: [count] } = await pool.query<{ unaccounted: string | null }>('SELECT unaccounted FROM ledger.identity_count')
  return count?.unaccounted == null ? undefined : Number(count.unaccounted)
}

interface KeptCount extends Count {
  /** It was begun for a difference: what it finds is told. */
  isCountedAnew: boolean
}

interface CountRow {
  position: string
  calls: string
  began_at: string
  has_erased: boolean
  met_erased: boolean
  is_counted_anew: boolean
}

/** A delivery log that was restored, or follows another log, is counted anew. */
async function readCount (pool: Pool, checkpoint: bigint): Promise<KeptCount> {
  const { rows: [row] } = await pool.query<CountRow>(`
    SELECT position, calls, began_at, has_erased, met_erased, is_counted_anew FROM ledger.identity_count`)
  const position = BigInt(row?.position ?? 0)
  const isAhead = position > checkpoint
  return {
    position: isAhead ? 0n : position,
    calls: Number(row?.calls ?? 0),
    beganAt: BigInt(row?.began_at ?? 0),
    hasErased: row?.has_erased ?? false,
    metErased: row?.met_erased ?? false,
    isCountedAnew: row?.is_counted_anew ?? false
  }
}

async function keepCount (pool: Pool, count: KeptCount, unaccounted?: number): Promise<void> {
  const { position, calls, beganAt, hasErased, metErased, isCountedAnew } = count
  await pool.query(`
    UPDATE ledger.identity_count
    SET position = $1, calls = $2, unaccounted = coalesce($3, unaccounted),
        counted_at = CASE WHEN $3 IS NULL THEN counted_at ELSE now() END,
        began_at = $4, has_erased = $5, met_erased = $6, is_counted_anew = $7`,
  [position, calls, unaccounted ?? null, beganAt, hasErased, metErased, isCountedAnew])
}

/** Both from one snapshot: rows and checkpoint are written in one transaction. */
async function deliveryLog (pool: Pool): Promise<{ checkpoint: bigint, rows: number }> {
  const { rows: [found] } = await pool.query<{ position: string, rows: string }>(`
    SELECT position, (SELECT count(*) FROM ledger.webhook_deliveries WHERE call_id IS NOT NULL) AS rows
    FROM ledger.dispatcher_checkpoint`)
  return { checkpoint: BigInt(found?.position ?? 0), rows: Number(found?.rows ?? 0) }
}

export type CountedLog = Pick<Streams, 'followStored' | 'read' | 'head'>

/** How far a count has come. */
export interface Count {
  /** Of the log: everything up to here is counted. */
  position: bigint
  calls: number
  /**
   * Where the log ended when this count began. A call that was erased before counts once, at its erasure: a scavenge
   * may have taken its report. One that was erased later has counted at its report.
   */
  beganAt: bigint
  /** Calls were erased before: the stream of each that was reported before is looked at. */
  hasErased: boolean
  /** Calls were erased later. If a scavenge was quicker than the count, their report was not counted. */
  metErased: boolean
}

/** From the beginning of the log. @throws EventStoreUnavailable */
export async function newCount ({ head }: Pick<CountedLog, 'head'>, hasErased = false): Promise<Count> {
  return { position: 0n, calls: 0, beganAt: await head(), hasErased, metErased: false }
}

const report = 'CallCompleted'
const erasure = 'CallErased'

/** Goes on up to `end`, part by part; each is the whole count so far. It may have begun again. */
export async function * countOn (
  streams: CountedLog, from: Count, end: bigint, signal: AbortSignal
): AsyncGenerator<Count> {
  let count = from
  if (end <= count.position) return
  const eventTypes = [report, erasure]
  for await (const batch of streams.followStored({ after: count.position, eventTypes, signal })) {
    count = { ...count }
    for (const event of batch.events) {
      if (event.position > end || callIdOf(event.stream) === undefined) continue
      const isErasedBefore = isErasure(event) && event.position <= count.beganAt
      if (isErasedBefore && !count.hasErased) {
        yield * countOn(streams, await newCount(streams, true), end, signal)
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

/** Nothing is remembered of a call: its stream shows whether it counts at this event. */
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

/** A report that nobody can read any more is one all the same. */
const isErasure = (event: StoredEvent) => typeInLog(event) === erasure
const isOther = (event: StoredEvent) => typeInLog(event) !== report
