// Answers that Idempotency-Keys keep, and that tell of an erased person. Their retries must not make the person anew.
import type { Pool } from 'pg'

const forgotten = "request_hash = '', answer_key_id = NULL, answer = NULL"

/** Of all that tells of these streams. */
export async function forgetAnswers (pool: Pool, userId: string, streams: readonly string[]): Promise<void> {
  await pool.query(
    `UPDATE ledger.idempotency_keys SET ${forgotten} WHERE user_id = $1 AND about && $2::text[]`, [userId, streams])
}

/** Also where no answer was kept yet, or it was lost. */
export async function forgetCommands (pool: Pool, userId: string, commandIds: readonly string[]): Promise<void> {
  await pool.query(
    `UPDATE ledger.idempotency_keys SET ${forgotten} WHERE user_id = $1 AND command_id = ANY ($2::uuid[])`, [userId, commandIds])
}

/** Answers to redeliveries of erased calls show what receivers had answered. */
export async function forgetRedeliveries (pool: Pool, userId: string): Promise<void> {
  await pool.query(`
    UPDATE ledger.idempotency_keys kept SET ${forgotten}
    WHERE user_id = $1 AND about[1] LIKE 'call-%' AND answer IS NOT NULL AND EXISTS (
      SELECT FROM ledger.webhook_deliveries
      WHERE call_id = substr(kept.about[1], 6) AND user_id = $1 AND erased_at IS NOT NULL)`, [userId])
}
