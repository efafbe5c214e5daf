// `ringledger migrate` and `ids`. Roles migrate at their start too; the command is for deployments that do it before.
import { projections } from '../../projections/index.js'
import { answer, print, printJson, say, tableOf } from './output.js'
import { withConnections } from './running.js'
import { checkIds, reseedIds, type IdsState, type OnProgress } from '../recovery/mend.js'
import { operate } from './shutdown.js'

export async function migrate ({ json }: { json?: boolean }): Promise<void> {
  const newest = await withConnections('ringledger migrate', async ({ pool }) => { // connecting migrates
    const { rows: [last] } = await pool.query<{ name: string }>(
      'SELECT name FROM ledger.migrations ORDER BY name COLLATE "C" DESC LIMIT 1')
    return last?.name ?? null
  }, 'all')
  answer(json, { newest_migration: newest }, `The database is up to date; its newest migration is ${newest}.`)
}

/** Exits with 1 when the sequences lag. */
export async function check ({ json }: { json?: boolean }): Promise<void> {
  if (await printed('check', checkIds, json)) {
    return say('The sequences are past every id that the log and its last marker know.')
  }
  say('The sequences are behind: run `ringledger ids reseed`.')
  process.exitCode = 1
}

/** Safe at any time, even while the service runs. */
export async function reseed ({ json }: { json?: boolean }): Promise<void> {
  if (!await printed('reseed', reseedIds, json)) throw new Error('a marker was written meanwhile: run it again')
  say('The sequences are past every id that the log and its last marker know. Ids are given out again.')
}

/** Runs the command on the whole log, and shows its progress. @returns whether ids may be given out */
async function printed (command: string, work: typeof checkIds, json?: boolean): Promise<boolean> {
  const stopped = 'stopped before the log was read: run the same command again'
  const { sequences, ok } = await operate(stopped, async ({ signal, onProgress }) => {
    const onRead: OnProgress = ({ events, position, head }) =>
      onProgress({ doing: 'reading', events, done: head > position ? Number(position) / Number(head) : 1 })
    return await withConnections(`ringledger ids ${command}`, ({ pool, streams }) =>
      work(pool, streams, projections, onRead, signal))
  })
  if (json) printJson({ sequences, ok } satisfies IdsState)
  else {
    const rows = sequences.map(({ name, given, in_log: inLog, in_marker: inMarker }) =>
      [`${name.replace('_', ' ')}s`, given, inLog, inMarker])
    const head = ['ids of', 'given out up to', 'highest in the log', 'highest in the marker']
    print(await tableOf(rows, head))
  }
  return ok
}
