// Creates the ledger schema and migrates it; safe to run from many processes at once.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

interface Migration { name: string, sql: string, hash: string }

export const makeAnew = 'Make it anew. Embedded: stop the service, then move DATA_DIR away or delete it. Your own Postgres: ' +
  'let DATABASE_URL lead to a new database, and EVENTSTORE_URL, where it is set, to an empty event store.'

/** The database has migrations that are not ours. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion'

  constructor () {
    super(`Another version before 0.1.0 made this database. This one does not read it, and changed nothing in it. ${makeAnew}`)
  }
}

/**
 * Applies the files of `migrations/` under `root` that this database has not seen, in order, in one transaction, under
 * an advisory lock that concurrent calls wait for.
 * @returns the names of the applied migrations, empty when there was nothing to do.
 * @throws OtherVersion
 */
export async function migrate (databaseUrl: string, root: string): Promise<string[]> {
  return await withClient(databaseUrl, async (client) => {
    if ((await compareMigrations(client, root)).missing.length === 0) return [] // needs no right to create
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query("SELECT pg_advisory_xact_lock(hashtext('ringledger migrate'))")
    const { missing } = await compareMigrations(client, root)
    await client.query(`
      CREATE SCHEMA IF NOT EXISTS ledger;
      CREATE TABLE IF NOT EXISTS ledger.migrations (
        name text PRIMARY KEY, hash text NOT NULL, run_on timestamptz NOT NULL DEFAULT clock_timestamp())`)
    for (const { name, sql, hash } of missing) {
      await client.query(sql)
      await client.query('INSERT INTO ledger.migrations (name, hash) VALUES ($1, $2)', [name, hash])
    }
    await client.query('COMMIT')
    return missing.map(({ name }) => name)
  })
}

/** Call before anything else writes to the database. @throws OtherVersion */
export async function refuseOtherVersion (databaseUrl: string, root: string): Promise<void> {
  await withClient(databaseUrl, (client) => compareMigrations(client, root))
}

interface Compared {
  applied: Array<{ name: string, hash: string | null }>
  /** Applied ones that only a later release knows. */
  later: Array<{ name: string }>
  missing: Migration[]
}

/**
 * Compares the applied migrations with our files. A later release may have added some that we do not know.
 * @throws OtherVersion when an applied one is not ours: its name, text, or place differs
 */
export async function compareMigrations (db: Pick<pg.Client, 'query'>, root: string): Promise<Compared> {
  const ours = readMigrations(root)
  const applied = await appliedMigrations(db)
  const isOurs = ours.slice(0, applied.length).every(({ name, hash }, index) =>
    name === applied[index]?.name && hash === applied[index].hash)
  if (!isOurs) throw new OtherVersion()
  return { applied, later: applied.slice(ours.length), missing: ours.slice(applied.length) }
}

/** Versions before 0.1.0 kept no hash. */
async function appliedMigrations (db: Pick<pg.Client, 'query'>): Promise<Compared['applied']> {
  const { rows: [table] } = await db.query<{ is_there: boolean }>(
    "SELECT to_regclass('ledger.migrations') IS NOT NULL AS is_there")
  if (!table?.is_there) return []
  const { rows } = await db.query<{ name: string, hash: string | null }>(`
    SELECT m.name, to_jsonb(m) ->> 'hash' AS hash FROM ledger.migrations m ORDER BY m.name COLLATE "C"`)
  return rows
}

function readMigrations (root: string): Migration[] {
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
