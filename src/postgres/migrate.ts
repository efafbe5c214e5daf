// Brings the ledger schema up to date; safe to run from many processes at once.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

/**
 * Applies the files of `migrations/` under `root` that this database has not seen, in order, each in a
 * transaction, under an advisory lock that later comers wait for.
 * @returns the names of the migrations that were applied, empty when there was nothing to do.
 */
export async function migrate (databaseUrl: string, root: string): Promise<string[]> {
  const client = new pg.Client({
    connectionString: databaseUrl, application_name: 'ringledger migrate', connectionTimeoutMillis: 5_000
  })
  client.on('error', () => {}) // queries report it
  await client.connect()
  try {
    if (await hasAll(client, root)) return []
    const { runner } = await import('node-pg-migrate') // takes longer to load than most commands have to work
    const applied = await runner({
      dbClient: client,
      dir: join(root, 'migrations'),
      direction: 'up',
      migrationsTable: 'migrations',
      migrationsSchema: 'ledger',
      createMigrationsSchema: true,
      advisoryLockMode: 'wait',
      log: () => {}
    }).catch((error: unknown) => { throw plain(error) })
    return applied.map((migration) => migration.name)
  } finally {
    await client.end()
  }
}

/** Of some errors of Postgres the runner keeps the text alone, with the stack in it. */
function plain (cause: unknown): unknown {
  const [, message] = (cause instanceof Error && /^Unable to .*?: (?:error: )?(.*)\n +at /.exec(cause.message)) || []
  return message === undefined ? cause : new Error(message, { cause })
}

/** Whether every migration is there, in its order; later ones may be there as well. */
async function hasAll (client: pg.Client, root: string): Promise<boolean> {
  const { rows: [table] } = await client.query<{ is_there: boolean }>(
    "SELECT to_regclass('ledger.migrations') IS NOT NULL AS is_there")
  if (!table?.is_there) return false
  const { rows } = await client.query<{ name: string }>('SELECT name FROM ledger.migrations ORDER BY run_on, id')
  const names = readdirSync(join(root, 'migrations')).filter((file) => file.endsWith('.sql')).sort()
    .map((file) => file.slice(0, -'.sql'.length))
  return names.every((name, index) => rows[index]?.name === name)
}
