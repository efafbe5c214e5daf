// Removes what is kept for a while only: payloads, expired secrets, notices.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { removePayloads } from './pending.js'

/** What a pass removed. */
export interface Removed { payloads: number, secrets: number, notices: number }

const noticesKept = '90 days'
// Rows of one transaction, which locks them, and transactions of one pass.
const batchSize = 500
const batchLimit = 20

/** One pass; what it leaves is for the next pass. @param days how long payloads are kept after a delivery was made */
export async function removeExpired (pool: Pool, days: number): Promise<Removed> {
  return {
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

async function removeNotices (pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(`
    DELETE FROM ledger.webhook_notices WHERE id IN (
      SELECT id FROM ledger.webhook_notices WHERE at < now() - interval '${noticesKept}' ORDER BY id LIMIT $1)`, [batchSize])
  return rowCount ?? 0
}
