// Starts the schedule of undelivered webhooks again: after an outage of receivers, or of Ringledger.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { notifyDue } from '../deliveries/due-channel.js'
import { endpointIds } from '../deliveries/endpoints.js'
import { beginAnew } from './begin-anew.js'

export interface RecoverOptions {
  pool: Pool
  /** Deliveries that were made then or later. */
  since: Date
  userId?: string | undefined
  assistantId?: number | undefined
  /** Stops after the batch that is under way. */
  signal: AbortSignal
  onProgress? (progress: { done: number, total: number }): void
  batchSize?: number
}

/** `held`: their endpoint is suspended, and they are sent when it resumes. `off`: the user switched the webhook off. */
export interface Recovered { scheduled: number, held: number, off: number }

type Batch = Recovered & { size: number, last: string | undefined }

const zeroId = '00000000-0000-0000-0000-000000000000'

// A delivery that is due already needs nothing: so a second run passes over what the first run did.
const lost = `
  created_at >= $1 AND ($2::text IS NULL OR user_id = $2) AND ($3::bigint IS NULL OR assistant_id = $3)
  AND status IN ('scheduled', 'held', 'exhausted', 'cancelled')
  AND body IS NOT NULL AND call_id IS NOT NULL AND started_at IS NULL
  AND NOT (status = 'scheduled' AND next_attempt_at <= clock_timestamp())`

/**
 * Schedules everything that is not delivered for now, with all its attempts before it, to the URL that its assistant
 * has now. Each batch is a transaction and shows in its rows: a call that was broken off goes on when it is repeated.
 */
export async function recover (options: RecoverOptions): Promise<Recovered> {
  const { pool, since, userId, assistantId, signal, onProgress = () => {}, batchSize = 500 } = options
  const filter = [since, userId ?? null, assistantId ?? null]
  const total = await countLost(pool, filter)
  const sum: Recovered = { scheduled: 0, held: 0, off: 0 }
  let after = zeroId
  for (let done = 0; ;) {
    signal.throwIfAborted()
    const batch = await inTransaction(pool, (tx) => recoverBatch(tx, filter, after, batchSize))
    for (const key of ['scheduled', 'held', 'off'] as const) sum[key] += batch[key]
    done += batch.size
    onProgress({ done, total: Math.max(done, total) })
    if (batch.last === undefined) return sum
    after = batch.last
  }
}

async function countLost (pool: Pool, filter: unknown[]): Promise<number> {
  const { rows: [counted] } = await pool.query<{ total: number }>(
    `SELECT count(*)::integer AS total FROM ledger.webhook_deliveries WHERE ${lost}`, filter)
  return counted?.total ?? 0
}

async function recoverBatch (tx: PoolClient, filter: unknown[], after: string, batchSize: number): Promise<Batch> {
  const rows = await findLost(tx, [...filter, after, batchSize])
  const sent = rows.flatMap(({ url, is_active, ...row }) => is_active && url !== null ? { ...row, url } : [])
  const endpoints = await endpointIds(tx, sent)
  const changed = await beginAnew(tx, sent.map(({ id }) => id), endpoints)
  for (const user of new Set(changed.map(({ user_id }) => user_id))) await notifyDue(tx, user)
  const scheduled = changed.filter(({ status }) => status === 'scheduled').length
  return {
    scheduled,
    held: changed.length - scheduled,
    off: rows.length - sent.length,
    size: rows.length,
    last: rows.at(-1)?.id
  }
}

interface LostRow { id: string, user_id: string, assistant_id: string, url: string | null, is_active: boolean }

async function findLost (tx: PoolClient, values: unknown[]): Promise<LostRow[]> {
  const { rows } = await tx.query<LostRow>(`
    SELECT d.id, d.user_id, d.assistant_id, a.settings->>'webhook_url' AS url,
           coalesce((a.settings->>'is_webhook_active')::boolean, false) AS is_active
    FROM (SELECT * FROM ledger.webhook_deliveries WHERE ${lost} AND id > $4 ORDER BY id LIMIT $5) d
    JOIN ledger.dispatch_assistants a ON a.assistant_id = d.assistant_id
    ORDER BY d.id FOR SHARE OF a -- the dispatcher changes no settings meanwhile`, values)
  return rows
}
