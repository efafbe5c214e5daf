// Makes the ledger schema and brings it up to date; safe to run from many processes at once.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

interface Migration { name: string, sql: string, hash: string }

/** Other migrations than ours made the database. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion'

  constructor (readonly mend: string) {
    super(`Another version before 0.1.0 made this database. This one does not read it, and changed nothing in it. ${mend}`)
  }
}

/**
 * Applies the files of `migrations/` under `root` that this database has not seen, in order: all of them or none, under
 * an advisory lock that later comers wait for.
 * @returns the names of the migrations that were applied, empty when there was nothing to do.
 * @throws OtherVersion
 */
export async function migrate (databaseUrl: string, root: string): Promise<string[]> {
  return await withClient(databaseUrl, async (client) => {
    if ((await missingMigrations(client, root)).length === 0) return [] // a role that may not create gets by
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query("SELECT pg_advisory_xact_lock(hashtext('ringledger migrate'))")
    const migrations = await missingMigrations(client, root)
    await client.query(`
      CREATE SCHEMA IF NOT EXISTS ledger;
      CREATE TABLE IF NOT EXISTS ledger.migrations (
        name text PRIMARY KEY, hash text NOT NULL, run_on timestamptz NOT NULL DEFAULT clock_timestamp())`)
    for (const { name, sql, hash } of migrations) {
      await client.query(sql)
      await client.query('INSERT INTO ledger.migrations (name, hash) VALUES ($1, $2)', [name, hash])
    }
    await client.query('COMMIT')
    return migrations.map(({ name }) => name)
  })
}

/** Before anything else writes to the database. @throws OtherVersion */
export async function refuseOtherVersion (databaseUrl: string, root: string): Promise<void> {
  await withClient(databaseUrl, (client) => missingMigrations(client, root))
}

/**
 * The migrations that this database has not seen. A later release may have added some that we do not know.
 * @throws OtherVersion where one that it has seen is not ours: it has another name, text, or place
 */
export async function missingMigrations (db: Pick<pg.Client, 'query'>, root: string): Promise<Migration[]> {
  const ours = readMigrations(root)
  const applied = await appliedMigrations(db) ?? []
  const isOurs = ours.slice(0, applied.length).every(({ name, hash }, index) =>
    name === applied[index]?.name && hash === applied[index].hash)
  if (!isOurs) throw new OtherVersion(makeAnew)
  return ours.slice(applied.length)
}

const makeAnew = 'Make it anew. Embedded: stop the service, then move DATA_DIR away or delete it. Your own Postgres: let ' +
  'DATABASE_URL lead to a new database, and EVENTSTORE_URL, where it is set, to an empty event store.'

/** Absent before the first migration. Earlier versions kept no hash. */
export async function appliedMigrations (
  db: Pick<pg.Client, 'query'>
): Promise<Array<{ name: string, hash: string | null }> | undefined> {
  const { rows: [table] } = await db.query<{ is_there: boolean }>(
    "SELECT to_regclass('ledger.migrations') IS NOT NULL AS is_there")
  if (!table?.is_there) return undefined
  const { rows } = await db.query<{ name: string, hash: string | null }>(`
    SELECT m.name, to_jsonb(m) ->> 'hash' AS hash FROM ledger.migrations m ORDER BY m.name COLLATE "C"`)
  return rows
}

export function readMigrations (root: string): Migration[] {
  const files = readdirSync(join(root, 'migrations')).filter((file) => file.endsWith('.sql')).sort()
  return files.map((file) => {
    const sql = readFileSync(join(root, 'migrations', file), 'utf8')
    return { name: file.slice(0, -'.sql'.length), sql, hash: createHash('sha256').update(sql).digest('hex') }
  })
}

async function withClient<Result> (databaseUrl: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({
    connectionString: databaseUrl, application_name: 'ringledger migrate', connectionTimeoutMillis: 5_000
  })
  client.on('error', () => {}) // queries report it
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
