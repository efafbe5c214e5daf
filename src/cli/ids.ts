// `ringledger ids check` and `reseed`: whether ids may be given out, and what makes it so.
import Table from 'cli-table3'
import { checkIds, reseedIds, type IdsState } from '../recovery/id-sequences.js'
import { say, withConnections } from './running/back-ends.js'
import { operate } from './running/operation.js'

export interface IdsOptions { json?: boolean }

/** Exit status 1 when the sequences are behind. */
export async function checkIdSequences ({ json }: IdsOptions): Promise<void> {
  const state = await readingTheLog('check', checkIds)
  show(state, json)
  if (state.ok) return say('The sequences are past every id that the log and its last marker know.')
  say('The sequences are behind: run `ringledger ids reseed`.')
  process.exitCode = 1
}

/** Safe at any time, also while the service runs. */
export async function reseedIdSequences ({ json }: IdsOptions): Promise<void> {
  const state = await readingTheLog('reseed', reseedIds)
  show(state, json)
  if (!state.ok) throw new Error('a marker was written meanwhile: run it again')
  say('The sequences are past every id that the log and its last marker know. Ids are given out again.')
}

async function readingTheLog (command: string, work: typeof checkIds): Promise<IdsState> {
  return await operate('stopped before the log was read: run the same command again', async ({ signal, onProgress }) =>
    await withConnections(`ringledger ids ${command}`, async ({ pool, streams }) => await work(pool, streams, ({ events, position, head }) =>
      onProgress({ doing: 'reading', events, done: head > position ? Number(position) / Number(head) : 1 }), signal)))
}

function show ({ sequences, ok }: IdsState, json?: boolean): void {
  if (json) return void process.stdout.write(`${JSON.stringify({ sequences, ok }, undefined, 2)}\n`)
  const table = new Table({ head: ['ids of', 'given out up to', 'highest in the log', 'highest in the marker'], style: { head: [], border: [] } })
  for (const { name, given, in_log: inLog, in_marker: inMarker } of sequences) table.push([`${name}s`, given, inLog, inMarker])
  process.stdout.write(`${table.toString()}\n`)
}
