// `ringledger events copy`: the whole log to another event store, up to the present head.
import type { Command } from 'commander'
import type { CopyTarget } from './copy-log.js'
import { say } from '../running/output.js'
import { inFlight, printTransferred, runAgain } from './transferred.js'

interface CopyOptions extends CopyTarget {
  inFlight: number
  json?: boolean
}

export function register (events: Command): void {
  events.command('copy')
    .description('copy everything to another EventStoreDB and verify it; goes on where the target ends')
    .requiredOption('--to <url>', 'where to, such as esdb://host:2113?tls=false')
    .option('--to-ca-file <file>', 'PEM file of the CA that signed the certificates of --to; default: EVENTSTORE_CA_FILE')
    .addOption(inFlight())
    .option('--json', 'for programs')
    .action(copyEvents)
}

async function copyEvents ({ inFlight, json, ...to }: CopyOptions): Promise<void> {
  const [{ operate }, { copyLog }] = await Promise.all([import('../running/operation.js'), import('./copy-log.js')])
  const copied = await operate(runAgain, (operation) => copyLog(to, { inFlight, ...operation }))
  const { sourceMovedOn, ...transferred } = copied
  printTransferred(transferred, json, { source_moved_on: sourceMovedOn })
  if (!sourceMovedOn) return
  say('The source has new events since this copy began: ' +
    'stop what writes to it, and copy again; only the new ones are sent.')
}
