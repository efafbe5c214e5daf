// `ringledger events export`: the whole log to a file, or to stdout.
import type { Command } from 'commander'
import { printJson, say } from '../running/output.js'
import { runAgain } from './transferred.js'

export function register (events: Command): void {
  events.command('export')
    .argument('[file]', 'gzip when it ends in .gz; - is stdout', '-')
    .description('write everything as JSON lines')
    .option('--json', 'for programs: what the file holds; stdout has the events themselves')
    .action(exportEvents)
}

async function exportEvents (file: string, { json }: { json?: boolean }): Promise<void> {
  if (json && file === '-') throw new Error('--json needs a FILE: the export itself goes to stdout')
  const [{ operate }, { exportLog }] = await Promise.all([import('../running/operation.js'), import('./export-log.js')])
  const { events, streams, sha256 } = await operate(runAgain, (operation) => exportLog(file, operation))
  if (json) return printJson({ file, events, streams, sha256 })
  say(`Exported ${events} events of ${streams} streams to ${file === '-' ? 'stdout' : file}. SHA-256 ${sha256}`)
}
