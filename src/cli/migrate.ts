// `ringledger migrate`: the roles do the same at their start; this is for deployments that do it before.
import { say, withParts } from './running/back-ends.js'

export async function migrateDatabase (): Promise<void> {
  await withParts('ringledger migrate', async () => {})
  say('The database is up to date.')
}
