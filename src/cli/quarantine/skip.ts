// `ringledger projections quarantine skip NAME STREAM REVISION`: gives one event up, and goes on with its stream.
import type { Command } from 'commander'
import { withConnections } from '../running/with-connections.js'
import { revisionNumber } from '../values.js'
import { tellOutcome } from './outcome.js'

export function register (quarantine: Command): void {
  quarantine.command('skip')
    .description('give one event up for good, in rebuilds too, and go on with its stream')
    .argument('<name>', 'a projection, or `dispatcher`')
    .argument('<stream>')
    .argument('<revision>', 'of the event', revisionNumber)
    .requiredOption('--reason <text>', 'why, for those who come later')
    .option('--json', 'for programs')
    .action(skipParked)
}

async function skipParked (
  name: string, stream: string, revision: bigint, { reason, json }: { reason: string, json?: boolean }
): Promise<void> {
  const { skipParked: skip } = await import('../../services/ops/parked.js')
  const message = await withConnections('ringledger projections quarantine skip', (connections) =>
    skip(connections, name, stream, revision, reason))
  tellOutcome({ action: 'skip', projection: name, stream, revision: String(revision) }, message, json)
}
