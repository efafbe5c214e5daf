// `ringledger ids check`: whether ids may be given out. Exit status 1 when the sequences are behind.
import type { Command } from 'commander'
import { say } from '../running/output.js'
import { printSequences, readingTheLog } from './sequences.js'

export function register (ids: Command): void {
  ids.command('check')
    .description('compare them with the log and its last marker; exit status 1 when they are behind')
    .option('--json', 'for programs')
    .action(checkIds)
}

async function checkIds ({ json }: { json?: boolean }): Promise<void> {
  const state = await readingTheLog('check')
  await printSequences(state, json)
  if (state.ok) return say('The sequences are past every id that the log and its last marker know.')
  say('The sequences are behind: run `ringledger ids reseed`.')
  process.exitCode = 1
}
