// Whether every call in the log has its row: counted in the log by a read of its own, not by what the dispatcher says.
import type { Pool } from 'pg'
import { callIdOf } from '../../src/domain/call/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/event-store/streams.js'

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
  streams: Pick<Streams, 'follow' | 'read'>
  signal: AbortSignal
}

/** Counts everything. @throws when the log or Postgres cannot be read, or `signal` is aborted */
export async function audit ({ pool, streams, signal }: AuditOptions): Promise<Audit> {
  const { checkpoint, rows } = await deliveryLog(pool)
  let calls = 0
  for await (const batch of countCalls(streams, 0n, checkpoint, signal)) calls += batch.calls
  signal.throwIfAborted()
  return { calls, rows, unaccounted: calls - rows }
}

const usualStepMs = 10_000

/**
 * Goes on counting the log from where the last count has ended, in whatever process that was, for so long at most. Then
 * it compares with all rows of the delivery log, so that it notices a row that vanishes. One process at a time.
 * @returns nothing while the log is not counted to the end
 */
export async function continueAudit (
  { pool, streams, signal }: AuditOptions, stepMs = usualStepMs
): Promise<Audit | undefined> {
  const { checkpoint, rows } = await deliveryLog(pool)
  let { position, calls } = await readCount(pool, checkpoint)
  const until = performance.now() + stepMs
  for await (const batch of countCalls(streams, position, checkpoint, signal)) {
    position = batch.position
    calls += batch.calls
    if (performance.now() > until) break
  }
  signal.throwIfAborted()
  const unaccounted = position >= checkpoint ? calls - rows : undefined
  await pool.query(`
    UPDATE ledger.identity_count
    SET position = $1, calls = $2, unaccounted = coalesce($3, unaccounted),
        counted_at = CASE WHEN $3 IS NULL THEN counted_at ELSE now() END`, [position, calls, unaccounted ?? null])
  return unaccounted === undefined ? undefined : { calls, rows, unaccounted }
}

/** As of the last count; nothing before the first. */
export async function lastUnaccounted (pool: Pool): Promise<number | undefined> {
  const { rows: [count] } = await pool.query<{ unaccounted: string | null }>('SELECT unaccounted FROM ledger.identity_count')
  return count?.unaccounted == null ? undefined : Number(count.unaccounted)
}

/** A delivery log that was restored, or follows another log, is counted anew. */
async function readCount (pool: Pool, checkpoint: bigint): Promise<{ position: bigint, calls: number }> {
  const { rows: [count] } = await pool.query<{ position: string, calls: string }>(
    'SELECT position, calls FROM ledger.identity_count')
  const position = BigInt(count?.position ?? 0)
  return position > checkpoint ? { position: 0n, calls: 0 } : { position, calls: Number(count?.calls ?? 0) }
}

/** How many calls are new behind `after`, up to `end`, batch by batch. */
async function * countCalls (
  streams: AuditOptions['streams'], after: bigint, end: bigint, signal: AbortSignal
): AsyncGenerator<{ position: bigint, calls: number }> {
  if (end <= after) return
  for await (const { events, position } of streams.follow({ after, eventTypes: ['CallCompleted'], signal })) {
    let calls = 0
    for (const event of events) if (event.position <= end && await isFirst(streams, event)) calls += 1
    yield { position: position < end ? position : end, calls }
    if (position >= end) return
  }
}

/** Hardly any stream of a call has more events, or begins with another one. */
const mostBefore = 100

/** Nothing is remembered of a call: its stream shows whether an earlier event reports it. */
async function isFirst ({ read }: AuditOptions['streams'], { stream, revision }: StoredEvent): Promise<boolean> {
  if (callIdOf(stream) === undefined) return false
  if (revision === 0n) return true
  const [first] = await read(stream, 0n, 1)
  if (first?.type === 'CallCompleted') return false
  const earlier = await read(stream, 0n, mostBefore)
  return !earlier.some((event) => event.type === 'CallCompleted' && event.revision < revision)
}

/** Both from one snapshot: rows and checkpoint are written in one transaction. */
async function deliveryLog (pool: Pool): Promise<{ checkpoint: bigint, rows: number }> {
  const { rows: [found] } = await pool.query<{ position: string, rows: string }>(`
    SELECT position, (SELECT count(*) FROM ledger.webhook_deliveries WHERE call_id IS NOT NULL) AS rows
    FROM ledger.dispatcher_checkpoint`)
  return { checkpoint: BigInt(found?.position ?? 0), rows: Number(found?.rows ?? 0) }
}
