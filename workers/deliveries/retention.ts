// Removes what is kept for a while only: payloads, expired secrets, notices, months of attempts.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { removePayloads } from './pending.js'
import { mostAtOnce } from './webhooks.js'

const noticesKept = '90 days'
// Rows of one transaction, which locks them, and transactions of one pass.
const batchSize = 500
const batchLimit = 20

/**
 * One pass; what it leaves is for the next pass. @param days how long payloads are kept after a delivery was made
 * @returns what it removed
 */
export async function removeExpired (pool: Pool, days: number) {
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

// Each month of attempts is a partition, which costs nothing to drop; the default partition has the rest.
const parent = 'ledger.webhook_attempts'

/**
 * Adds the partitions of this month, in UTC, and the next three, and drops those that ended so many days ago. A month
 * whose attempts are already in the default partition gets none.
 * @returns the dropped tables
 */
export async function keepMonths (pool: Pool, days: number): Promise<string[]> {
  return await inTransaction(pool, async (tx) => {
    await tx.query("SET LOCAL lock_timeout = '2s'") // readers of all months wait behind it
    await tx.query(`SELECT pg_advisory_xact_lock('${parent}'::regclass::oid::bigint)`)
    const { rows: missing } = await tx.query<{ name: string, first: string, next: string }>(`
      SELECT '${parent}_' || to_char(first, 'YYYY_MM') AS name, first || '+00' AS first, first + interval '1 month' || '+00' AS next
      FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + n * interval '1 month' AS first
            FROM generate_series(0, 3) n) months
      WHERE to_regclass('${parent}_' || to_char(first, 'YYYY_MM')) IS NULL AND NOT EXISTS (
        SELECT FROM ${parent}_rest
        WHERE started_at >= first AT TIME ZONE 'UTC' AND started_at < (first + interval '1 month') AT TIME ZONE 'UTC')`)
    for (const { name, first, next } of missing) {
      await tx.query(`CREATE TABLE ${name} PARTITION OF ${parent} FOR VALUES FROM ('${first}') TO ('${next}')`)
    }
    const { rows: old } = await tx.query<{ name: string }>(`
      SELECT i.inhrelid::regclass::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = '${parent}'::regclass AND c.relname ~ '_\\d{4}_\\d\\d$'
        AND to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= now() AT TIME ZONE 'UTC' - $1 * interval '1 day'
      ORDER BY 1`, [days])
    for (const { name } of old) await tx.query(`DROP TABLE ${name}`)
    await tx.query(`
      DELETE FROM ${parent}_rest WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM ${parent}_rest WHERE started_at < now() - $1 * interval '1 day' LIMIT ${mostAtOnce}))`, [days])
    return old.map(({ name }) => name)
  })
}
