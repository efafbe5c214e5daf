// The clock of a database in a test's hands: whole days pass for every statement that asks what time it is.
import type { Pool, PoolClient } from 'pg'

export interface Clock {
  /** Puts it forward, for instance by `12 hours`. */
  pass (interval: string): Promise<void>
}

/** Puts its functions before those of Postgres, for all connections of `pool` and for the times of deliveries. */
export async function clockOf (pool: Pool): Promise<Clock> {
  await pool.query(`
    CREATE SCHEMA clock;
    CREATE TABLE clock.ahead (by interval NOT NULL);
    INSERT INTO clock.ahead VALUES ('0');
    CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS
      'SELECT pg_catalog.now() + by FROM clock.ahead';
    CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      'SELECT pg_catalog.clock_timestamp() + by FROM clock.ahead';
    ALTER TABLE ledger.webhook_deliveries ALTER created_at SET DEFAULT clock.clock_timestamp();`)
  const readsIt = 'SET search_path = clock, pg_catalog, public'
  Object.assign(pool.options, { onConnect: async (client: PoolClient) => { await client.query(readsIt) } })
  const present = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
  for (const client of present) {
    await client.query(readsIt)
    client.release()
  }
  return { pass: async (interval) => { await pool.query('UPDATE clock.ahead SET by = by + $1::interval', [interval]) } }
}
