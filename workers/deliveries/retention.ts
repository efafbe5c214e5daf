// What is kept for a while only: payloads and attempts, deliveries that are held, secrets that sign no more.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'

export interface RetentionOptions {
  pool: Pool
  /** How long payloads and attempts are kept after a delivery was made. */
  days: number
}

/** What a pass removed. */
export interface Tidied { cancelled: number, payloads: number, secrets: number }

/** Held for longer, a delivery is given up. As Postgres writes it. */
const heldAtMost = '30 days'
const batchSize = 500
const mostBatches = 20

/** One pass, in batches that are small enough to hold nobody up; what is left is for the next pass. */
export async function tidy ({ pool, days }: RetentionOptions): Promise<Tidied> {
  return {
    cancelled: await inBatches(() => cancelHeld(pool)),
    payloads: await inBatches(() => removePayloads(pool, days)),
    secrets: (await pool.query('DELETE FROM ledger.webhook_secrets WHERE expires_at < now()')).rowCount ?? 0
  }
}

async function inBatches (batch: () => Promise<number>): Promise<number> {
  let all = 0
  for (let count = 0; count < mostBatches; count++) {
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

/**
 * A call's row stays, without its payload and attempts: it says that the call was accounted for. A test's goes. What
 * waits for an attempt keeps its payload, however old it is.
 */
async function removePayloads (pool: Pool, days: number): Promise<number> {
  return await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(`
      SELECT id FROM ledger.webhook_deliveries
      WHERE body IS NOT NULL AND status NOT IN ('scheduled', 'held') AND started_at IS NULL AND created_at < now() - $1 * interval '1 day'
      ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED`, [days, batchSize])
    if (rows.length === 0) return 0
    // Looked up once the rows are locked: nobody can start a redelivery now, and no attempt on demand is overlooked.
    const { rows: idle } = await tx.query<{ id: string }>(`
      SELECT id FROM unnest($1::uuid[]) AS old (id)
      WHERE NOT EXISTS (SELECT FROM ledger.webhook_attempts a WHERE a.delivery_id = old.id AND a.outcome IS NULL)`, [rows.map(({ id }) => id)])
    const ids = [idle.map(({ id }) => id)]
    await tx.query('DELETE FROM ledger.webhook_attempts WHERE delivery_id = ANY($1::uuid[])', ids)
    await tx.query('DELETE FROM ledger.webhook_deliveries WHERE id = ANY($1::uuid[]) AND call_id IS NULL', ids)
    await tx.query('UPDATE ledger.webhook_deliveries SET body = NULL WHERE id = ANY($1::uuid[])', ids)
    return idle.length
  })
}
