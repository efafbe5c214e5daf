// `ringledger migrate`: the roles do the same at their start; this is for deployments that do it before.
import { printJson, say } from './output.js'
import { withConnections } from './running.js'

export async function migrate ({ json }: { json?: boolean }): Promise<void> {
  const newest = await withConnections('ringledger migrate', async ({ pool }) => { // to connect is to migrate
    const { rows: [last] } = await pool.query<{ name: string }>(
      'SELECT name FROM ledger.migrations ORDER BY name COLLATE "C" DESC LIMIT 1')
    return last?.name ?? null
  }, 'all')
  if (json) printJson({ newest_migration: newest })
  else say(`The database is up to date; its newest migration is ${newest}.`)
}
