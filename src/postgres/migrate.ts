// Brings the ledger schema up to date; safe to run from many processes at once.
import { join } from 'node:path'
import { runner } from 'node-pg-migrate'
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
    const applied = await runner({
      dbClient: client,
      dir: join(root, 'migrations'),
      direction: 'up',
      migrationsTable: 'migrations',
      migrationsSchema: 'ledger',
      createMigrationsSchema: true,
      advisoryLockMode: 'wait',
      log: () => {}
    })
    return applied.map((migration) => migration.name)
  } finally {
    await client.end()
  }
}
