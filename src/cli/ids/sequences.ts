// What `ids check` and `ids reseed` have in common: both read the whole log, and print the sequences.
import type { IdsState, OnProgress } from '../../recovery/id-sequences.js'
import { printJson, tableOf } from '../output.js'
import { withConnections } from '../running.js'

/** Runs the command on the whole log, and shows how far it is. */
export async function readingTheLog (command: 'check' | 'reseed'): Promise<IdsState> {
  const [{ operate }, { checkIds, reseedIds }] = await Promise.all([
    import('../shutdown.js'), import('../../recovery/id-sequences.js')
  ])
  const work = command === 'check' ? checkIds : reseedIds
  const stopped = 'stopped before the log was read: run the same command again'
  return await operate(stopped, async ({ signal, onProgress }) => {
    const onRead: OnProgress = ({ events, position, head }) =>
      onProgress({ doing: 'reading', events, done: head > position ? Number(position) / Number(head) : 1 })
    return await withConnections(`ringledger ids ${command}`, ({ pool, streams }) =>
      work(pool, streams, onRead, signal))
  })
}

export async function printSequences ({ sequences, ok }: IdsState, json?: boolean): Promise<void> {
  if (json) return printJson({ sequences, ok })
  const rows = sequences.map(({ name, given, in_log: inLog, in_marker: inMarker }) =>
    [`${name.replace('_', ' ')}s`, given, inLog, inMarker])
  const head = ['ids of', 'given out up to', 'highest in the log', 'highest in the marker']
  process.stdout.write(await tableOf(rows, head))
}
