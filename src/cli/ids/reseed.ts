// `ringledger ids reseed`: raises the sequences above every known id. Safe at any time, also while the service runs.
import type { Command } from 'commander'
import { say } from '../running/output.js'
import { printSequences, readingTheLog } from './sequences.js'

export function register (ids: Command): void {
  ids.command('reseed')
    .description('put them past every id that the log and its last marker know')
    .option('--json', 'for programs')
    .action(reseedIds)
}

async function reseedIds ({ json }: { json?: boolean }): Promise<void> {
  const state = await readingTheLog('reseed')
  await printSequences(state, json)
  if (!state.ok) throw new Error('a marker was written meanwhile: run it again')
  say('The sequences are past every id that the log and its last marker know. Ids are given out again.')
}
