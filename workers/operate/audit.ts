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

/**
 * Counts everything. @throws when the log or Postgres cannot be read, or `signal` is aborted
 */
export const audit = (options: AuditOptions): Promise<Audit> => openAudit(options)()

/**
 * Counts again at every call, for a metric: in the log only what is new, in the delivery log all rows, so that it
 * notices a row that vanishes. One call at a time.
 */
export function openAudit ({ pool, streams, signal }: AuditOptions): () => Promise<Audit> {
  let counted = 0n
  let calls = 0
  const reported = new Map<string, bigint>() // where the first report is, of streams that begin otherwise; hardly any

  return async () => {
    const { checkpoint, rows } = await deliveryLog(pool)
    if (checkpoint > counted) await countUpTo(checkpoint)
    return { calls, rows, unaccounted: calls - rows }
  }

  async function countUpTo (end: bigint): Promise<void> {
    const batches = streams.follow({ after: counted, eventTypes: ['CallCompleted'], signal })
    for await (const { events, position } of batches) {
      let found = 0
      for (const event of events) if (event.position <= end && await isFirst(event)) found += 1
      calls += found
      counted = position < end ? position : end
      if (counted === end) return
    }
    signal.throwIfAborted()
  }

  /** Remembers no call: the first event of a stream shows whether a later one repeats it. */
  async function isFirst ({ stream, revision, position }: StoredEvent): Promise<boolean> {
    if (callIdOf(stream) === undefined) return false
    if (revision === 0n) return true
    if (reported.has(stream)) return reported.get(stream) === position
    const [first] = await streams.read(stream, 0n, 1)
    if (first?.type === 'CallCompleted') return false
    reported.set(stream, position)
    return true
  }
}

/** Both from one snapshot: rows and checkpoint are written in one transaction. */
async function deliveryLog (pool: Pool): Promise<{ checkpoint: bigint, rows: number }> {
  const { rows: [found] } = await pool.query<{ position: string, rows: string }>(`
    SELECT position, (SELECT count(*) FROM ledger.webhook_deliveries WHERE call_id IS NOT NULL) AS rows
    FROM ledger.dispatcher_checkpoint`)
  return { checkpoint: BigInt(found?.position ?? 0), rows: Number(found?.rows ?? 0) }
}
