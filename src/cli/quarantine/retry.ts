// `ringledger projections quarantine retry NAME STREAM`: projects what is parked of a stream, all of it or nothing.
import type { Command } from 'commander'
import { withConnections } from '../running/with-connections.js'
import { tellOutcome } from './outcome.js'

export function register (quarantine: Command): void {
  quarantine.command('retry')
    .description('project the parked events of a stream: all of them, or none')
    .argument('<name>', 'a projection, or `dispatcher`')
    .argument('<stream>')
    .option('--json', 'for programs')
    .action(retryParked)
}

async function retryParked (name: string, stream: string, { json }: { json?: boolean }): Promise<void> {
  const { retryParked: retry } = await import('../../services/ops/parked.js')
  const message = await withConnections('ringledger projections quarantine retry', (connections) =>
    retry(connections, name, stream))
  tellOutcome({ action: 'retry', projection: name, stream }, message, json)
}
