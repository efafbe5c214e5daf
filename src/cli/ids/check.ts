// `ringledger ids check`: whether ids may be given out. Exit status 1 when the sequences are behind.
import { say } from '../output.js'
import { printSequences, readingTheLog } from './sequences.js'

export async function checkIds ({ json }: { json?: boolean }): Promise<void> {
  const state = await readingTheLog('check')
  await printSequences(state, json)
  if (state.ok) return say('The sequences are past every id that the log and its last marker know.')
  say('The sequences are behind: run `ringledger ids reseed`.')
  process.exitCode = 1
}
