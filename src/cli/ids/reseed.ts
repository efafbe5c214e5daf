// `ringledger ids reseed`: raises the sequences above every known id. Safe at any time, also while the service runs.
import { say } from '../output.js'
import { printSequences, readingTheLog } from './sequences.js'

export async function reseedIds ({ json }: { json?: boolean }): Promise<void> {
  const state = await readingTheLog('reseed')
  await printSequences(state, json)
  if (!state.ok) throw new Error('a marker was written meanwhile: run it again')
  say('The sequences are past every id that the log and its last marker know. Ids are given out again.')
}
