// What autovacuum would do in the middle of what is measured.
import type { Pool } from 'pg'

/** Empty ones are left alone, as by autovacuum: after a vacuum their queries would be planned for empty tables. */
export async function vacuumTables (pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(`
    SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind = 'r' AND nspname !~ '^(pg_|information_schema)' AND pg_relation_size(pg_class.oid) > 0`)
  await pool.query(`VACUUM ANALYZE ${rows.map(({ name }) => name).join(', ')}`)
}
