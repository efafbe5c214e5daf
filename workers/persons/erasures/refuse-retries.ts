// Retries of requests that wrote of an erased person: what they made is not there, and they must not make it anew.
import type { Pool } from 'pg'

/** Also of a request whose answer was not kept yet, or was lost: its row has no stream. */
export async function refuseRetries (pool: Pool, userId: string, commandIds: readonly string[]): Promise<void> {
  await pool.query(`
    UPDATE ledger.idempotency_keys SET request_hash = '' WHERE user_id = $1 AND command_id = ANY ($2::uuid[])`,
  [userId, commandIds])
}

/** Of all that was kept for these streams. */
export async function refuseRetriesOf (pool: Pool, userId: string, streams: readonly string[]): Promise<void> {
  await pool.query(`
    UPDATE ledger.idempotency_keys SET request_hash = '' WHERE user_id = $1 AND stream = ANY ($2::text[])`,
  [userId, streams])
}
