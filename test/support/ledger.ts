// A migrated database of a test's own, with a pool.
import pg, { type Pool } from 'pg'
import { packageRoot } from '../../src/package-root.js'
import { migrate } from '../../src/postgres/migrate.js'
import { openPool } from '../../src/postgres/pool.js'
import type { ScratchPostgres } from './scratch-postgres.js'

interface Teardown { teardown (undo: () => unknown): void }

export interface ScratchLedger {
  databaseUrl: string
  pool: Pool
}

/** A database in the cluster `postgres`: quicker than a cluster for each test. */
export async function scratchLedger (t: Teardown, postgres: ScratchPostgres): Promise<ScratchLedger> {
  const databaseUrl = await scratchDatabase(postgres)
  await migrate(databaseUrl, packageRoot)
  const pool = openPool(databaseUrl, { applicationName: 'test', max: 10, onError: () => {} })
  t.teardown(() => pool.end())
  return { databaseUrl, pool }
}

let made = 0

/** A new, empty database; it goes away with its cluster. */
export async function scratchDatabase ({ url }: ScratchPostgres): Promise<string> {
  const name = `scratch_${process.pid}_${++made}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** A log that keeps what was said, for a look when a test fails. */
export function keepingLog () {
  const lines: { message: string, details: object }[] = []
  const keep = (details: object, message: string) => { lines.push({ message, details }) }
  return { lines, info: keep, warn: keep }
}
