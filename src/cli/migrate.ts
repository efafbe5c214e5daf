// `ringledger migrate`: the roles do the same at their start; this is for deployments that do it before.
import type { Command } from 'commander'
import { say } from './running/output.js'
import { withConnections } from './running/with-connections.js'

export function register (program: Command): void {
  program.command('migrate').description('bring the database up to date').action(migrate)
}

async function migrate (): Promise<void> {
  await withConnections('ringledger migrate', async () => {}) // to connect is to migrate
  say('The database is up to date.')
}
