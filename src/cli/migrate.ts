// `ringledger migrate`: the roles do the same at their start; this is for deployments that do it before.
import { say, withConnections } from './running/back-ends.js'

export async function migrateDatabase (): Promise<void> {
  await withConnections('ringledger migrate', async () => {})
  say('The database is up to date.')
}
