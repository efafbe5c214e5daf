// Erasures that wait for the operator of a real event store to scavenge it.
import type { Pool } from 'pg'

/** Everything of the person is truncated or deleted, and still in the files of the event store. Idempotent. */
export async function noteUnscavenged (pool: Pool, requestId: string): Promise<void> {
  await pool.query('INSERT INTO ledger.unscavenged_erasures (request_id) VALUES ($1) ON CONFLICT DO NOTHING', [requestId])
}

export interface Unscavenged { count: number, oldest: Date | undefined }

/** @param scavengedAt what was erased before is known to be gone, and is forgotten */
export async function unscavenged (pool: Pool, scavengedAt: Date | undefined): Promise<Unscavenged> {
  await pool.query('DELETE FROM ledger.unscavenged_erasures WHERE erased_at < $1', [scavengedAt ?? null])
  const { rows: [found] } = await pool.query<{ count: string, oldest: Date | null }>(
    'SELECT count(*) AS count, min(erased_at) AS oldest FROM ledger.unscavenged_erasures')
  return { count: Number(found?.count ?? 0), oldest: found?.oldest ?? undefined }
}
