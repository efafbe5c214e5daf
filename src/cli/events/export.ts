// `ringledger events export`: the whole log to a file, or to stdout.
import type { Command } from 'commander'
import { say } from '../running/output.js'
import { runAgain } from './transferred.js'

export function register (events: Command): void {
  events.command('export')
    .argument('[file]', 'gzip when it ends in .gz; - is stdout', '-')
    .description('write everything as JSON lines')
    .action(exportEvents)
}

async function exportEvents (file: string): Promise<void> {
  const [{ operate }, { exportLog }] = await Promise.all([import('../running/operation.js'), import('./export-log.js')])
  const { events, streams, sha256 } = await operate(runAgain, (operation) => exportLog(file, operation))
  say(`Exported ${events} events of ${streams} streams to ${file === '-' ? 'stdout' : file}. SHA-256 ${sha256}`)
}
