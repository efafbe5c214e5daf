// A migrated database of a test's own, with a pool.
import { runMigrations } from 'bullmq'
import pg, { type Pool } from 'pg'
import { packageRoot } from '../../src/package-root.js'
import { migrate } from '../../src/postgres/migrate.js'
import { openPool } from '../../src/postgres/pool.js'
import { scratchPostgres, type ScratchPostgres } from './scratch-postgres.js'

interface Teardown { teardown (undo: () => unknown): void }

export interface ScratchLedger {
  /** The cluster that the database is in. */
  postgres: ScratchPostgres
  databaseUrl: string
  pool: Pool
}

/** A database in `postgres`, or in a cluster of its own, copied from one that was migrated once: quicker than a cluster for each test. */
export async function scratchLedger (t: Teardown, shared?: ScratchPostgres): Promise<ScratchLedger> {
  const postgres = shared ?? await scratchPostgres(t, { fsync: false })
  const template = templates.get(postgres) ?? migrated(postgres)
  templates.set(postgres, template)
  const databaseUrl = await scratchDatabase(postgres, await template)
  const pool = openPool(databaseUrl, { applicationName: 'test', max: 20, onError: () => {} })
  t.teardown(() => pool.end())
  return { postgres, databaseUrl, pool }
}

const templates = new Map<ScratchPostgres, Promise<string>>()

async function migrated (postgres: ScratchPostgres): Promise<string> {
  const url = await scratchDatabase(postgres, 'template1')
  await migrate(url, packageRoot)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await runMigrations(client, 'queue')
  await client.end()
  return new URL(url).pathname.slice(1)
}

let made = 0

async function scratchDatabase ({ url }: ScratchPostgres, template: string): Promise<string> {
  const name = `scratch_${process.pid}_${++made}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  await client.end()
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** A log that keeps what was said, for a look when a test fails. */
export function keepingLog () {
  const lines: { message: string, details: object }[] = []
  const keep = (details: object, message: string) => { lines.push({ message, details }) }
  return { lines, debug: keep, info: keep, warn: keep, error: keep }
}
