// A migrated database of a test's own, with a pool that goes away before it.
import type { Pool } from 'pg'
import { packageRoot } from '../../src/package-root.js'
import { migrate } from '../../src/postgres/migrate.js'
import { openPool } from '../../src/postgres/pool.js'
import { scratchPostgres, type ScratchPostgres } from './scratch-postgres.js'

interface Teardown { teardown (undo: () => unknown): void }

export interface ScratchLedger {
  postgres: ScratchPostgres
  pool: Pool
}

export async function scratchLedger (t: Teardown): Promise<ScratchLedger> {
  const postgres = await scratchPostgres(t, { fsync: false })
  await migrate(postgres.url, packageRoot)
  const pool = openPool(postgres.url, { applicationName: 'test', max: 20, onError: () => {} })
  t.teardown(() => pool.end())
  return { postgres, pool }
}

/** A log that keeps what was said, for a look when a test fails. */
export function keepingLog () {
  const lines: { message: string, details: object }[] = []
  const keep = (details: object, message: string) => { lines.push({ message, details }) }
  return { lines, debug: keep, info: keep, warn: keep }
}
