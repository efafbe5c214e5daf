// `ringledger events import FILE`: an export into the present event store; what that has already is compared.
import type { Command } from 'commander'
import { inFlight, printTransferred, runAgain } from './transferred.js'

interface ImportOptions {
  inFlight: number
  allowTruncated?: boolean
  json?: boolean
}

export function register (events: Command): void {
  events.command('import')
    .argument('<file>', 'an export, packed or not; - is stdin')
    .description('bring an export into the present event store and verify it; goes on where that stands')
    .option('--allow-truncated', 'take the whole lines of a file that lacks its end')
    .addOption(inFlight())
    .option('--json', 'for programs')
    .action(importEvents)
}

async function importEvents (file: string, { json, ...options }: ImportOptions): Promise<void> {
  const [{ operate }, { importLog }] = await Promise.all([import('../running/operation.js'), import('./import-log.js')])
  printTransferred(await operate(runAgain, (operation) => importLog(file, { ...options, ...operation })), json)
}
