// `ringledger ids check` and `reseed`: whether ids may be given out, and what makes it so.
import Table from 'cli-table3'
import type { Parts } from '../compose/parts.js'
import { checkIds, reseedIds, type IdsState } from '../id-sequences.js'
import { say, withParts } from './back-ends.js'
import { viewProgress } from './progress.js'

export interface IdsOptions { json?: boolean }

/** Exit status 1 when the sequences are behind. */
export async function checkIdSequences ({ json }: IdsOptions): Promise<void> {
  const state = await withParts('ringledger ids check', (parts) => withProgress(parts, checkIds))
  show(state, json)
  if (state.ok) return say('The sequences are past every id that the log and its last marker know.')
  say('The sequences are behind: run `ringledger ids reseed`.')
  process.exitCode = 1
}

/** Safe at any time, also while the service runs. */
export async function reseedIdSequences ({ json }: IdsOptions): Promise<void> {
  const state = await withParts('ringledger ids reseed', (parts) => withProgress(parts, reseedIds))
  show(state, json)
  if (!state.ok) throw new Error('a marker was written meanwhile: run it again')
  say('The sequences are past every id that the log and its last marker know. Ids are given out again.')
}

async function withProgress ({ pool, streams }: Parts, work: typeof checkIds): Promise<IdsState> {
  const view = viewProgress()
  try {
    return await work(pool, streams, ({ events, position, head }) => view.update({ doing: 'reading', events, done: head > position ? Number(position) / Number(head) : 1 }))
  } finally {
    view.stop()
  }
}

function show ({ sequences, ok }: IdsState, json?: boolean): void {
  if (json) return void process.stdout.write(`${JSON.stringify({ sequences, ok }, undefined, 2)}\n`)
  const table = new Table({ head: ['ids of', 'given out up to', 'highest in the log', 'highest in the marker'], style: { head: [], border: [] } })
  for (const { name, given, in_log: inLog, in_marker: inMarker } of sequences) table.push([`${name}s`, given, inLog, inMarker])
  process.stdout.write(`${table.toString()}\n`)
}
