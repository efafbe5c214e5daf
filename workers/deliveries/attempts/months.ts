// The attempts of a month have a table of their own, which costs nothing to drop.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../../src/postgres/transaction.js'

/** A table must be there before the first attempt of its month starts. @param since the first month; now when absent */
export async function addMonths (db: Pool | PoolClient, since?: Date): Promise<void> {
  await db.query('SELECT ledger.add_attempt_months(coalesce($1, now()))', [since])
}

/**
 * Drops the months that are over for so many days. An attempt that is still open, as its worker was killed long ago, is
 * to be written into the month in which it started: that month and those after it stay until then.
 * @returns their tables
 */
export async function dropMonths (pool: Pool, days: number): Promise<string[]> {
  return await inTransaction(pool, async (tx) => {
    await tx.query("SET LOCAL lock_timeout = '2s'") // readers of all months wait behind it
    const { rows } = await tx.query<{ name: string }>(`
      SELECT name FROM (
        SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'ledger.webhook_attempts'::regclass AND c.relname ~ '_\\d{4}_\\d\\d$') months
      WHERE to_date(right(name, 7), 'YYYY_MM') + interval '1 month' <= least(
        (now() AT TIME ZONE 'UTC') - $1 * interval '1 day',
        (SELECT min(started_at) AT TIME ZONE 'UTC' FROM ledger.webhook_deliveries WHERE queued_at IS NOT NULL),
        (SELECT min(started_at) AT TIME ZONE 'UTC' FROM ledger.webhook_attempts_on_demand))
      ORDER BY name`, [days])
    for (const { name } of rows) await tx.query(`DROP TABLE ledger.${name}`)
    return rows.map(({ name }) => name)
  })
}

/** Adds the months that come, and drops those that are over for so many days. */
export async function keepMonths (pool: Pool, days: number): Promise<void> {
  await addMonths(pool)
  await dropMonths(pool, days)
}
