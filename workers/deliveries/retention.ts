// Removes what is kept for a while only: payloads, held deliveries, expired secrets, notices.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'

/** What a pass removed. */
export interface Removed { cancelled: number, payloads: number, secrets: number, notices: number }

/** A delivery that is held for longer is cancelled. A Postgres interval. */
const heldAtMost = '30 days'
const noticesKept = '90 days'
// Rows of one transaction, which locks them, and transactions of one pass.
const batchSize = 500
const batchLimit = 20

/** One pass; what it leaves is for the next pass. @param days how long payloads are kept after a delivery was made */
export async function removeExpired (pool: Pool, days: number): Promise<Removed> {
  return {
    cancelled: await inBatches(() => cancelHeld(pool)),
    payloads: await inBatches(() => inTransaction(pool, (tx) => removePayloads(tx, days))),
    secrets: (await pool.query('DELETE FROM ledger.webhook_secrets WHERE expires_at < now()')).rowCount ?? 0,
    notices: await inBatches(() => removeNotices(pool))
  }
}

async function inBatches (batch: () => Promise<number>): Promise<number> {
  let all = 0
  for (let count = 0; count < batchLimit; count++) {
    const done = await batch()
    all += done
    if (done < batchSize) break
  }
  return all
}

async function cancelHeld (pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(`
    UPDATE ledger.webhook_deliveries
    SET status = 'cancelled', reason = 'held_too_long', held_at = NULL, next_attempt_at = NULL, finished_at = now()
    WHERE id IN (
      SELECT id FROM ledger.webhook_deliveries
      WHERE status = 'held' AND held_at < now() - interval '${heldAtMost}' AND started_at IS NULL
      LIMIT $1 FOR UPDATE SKIP LOCKED)`, [batchSize])
  return rowCount ?? 0
}

async function removeNotices (pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(`
    DELETE FROM ledger.webhook_notices WHERE id IN (
      SELECT id FROM ledger.webhook_notices WHERE at < now() - interval '${noticesKept}' ORDER BY id LIMIT $1)`, [batchSize])
  return rowCount ?? 0
}

/**
 * Removes payloads of old calls; their rows stay for the audit. Tests go with their rows. A delivery that waits for an
 * attempt keeps its payload, however old it is.
 */
async function removePayloads (tx: PoolClient, days: number): Promise<number> {
  const ids = await withoutOpenAttempts(tx, await lockFinished(tx, days))
  if (ids.length === 0) return 0
  await tx.query('DELETE FROM ledger.webhook_deliveries WHERE id = ANY($1::uuid[]) AND call_id IS NULL', [ids])
  await tx.query('UPDATE ledger.webhook_deliveries SET body = NULL WHERE id = ANY($1::uuid[])', [ids])
  return ids.length
}

async function lockFinished (tx: PoolClient, days: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(`
    SELECT id FROM ledger.webhook_deliveries
    WHERE body IS NOT NULL AND status NOT IN ('scheduled', 'held') AND started_at IS NULL
      AND created_at < now() - $1 * interval '1 day'
    ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED`, [days, batchSize])
  return rows.map(({ id }) => id)
}

/** Only after the rows are locked: then no redelivery of them can start, and every attempt on demand is visible. */
async function withoutOpenAttempts (tx: PoolClient, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<{ id: string }>(`
    SELECT id FROM unnest($1::uuid[]) AS old (id)
    WHERE NOT EXISTS (SELECT FROM ledger.webhook_attempts_on_demand a WHERE a.delivery_id = old.id)`, [ids])
  return rows.map(({ id }) => id)
}
