// Detects a log that has gone back, was moved, or is another one. Its positions mean something else, so nothing may
// follow it, however far it has grown since. Each checkpoint names the last event taken and its position: another log
// has another event there. If a scavenge removed that event, markers decide, as nothing ever removes those.
import type { Pool } from 'pg'
import { markerStream } from '../domain/events.js'
import { catalogStreams } from '../features/catalog/events.js'
import { settingsStream } from '../features/leads/events.js'
import { adoptAdvice, older, OtherLog, StreamTruncated } from '../log/errors.js'
import type { Streams } from '../log/event-log.js'
import { toCheckpoint, type Checkpoint, type CheckpointRow } from '../subscriptions/checkpoint.js'

export const dispatcherCheckpoint = 'ledger.dispatcher_checkpoint'

export type KnownLog = Pick<Streams, 'read' | 'head' | 'assertHas' | 'limitOf'>

export type ReadUpTo = Checkpoint & { name: string }

/**
 * Compares the log with the newest marker that this database knows, and with what the dispatcher and each read model
 * have taken from it.
 * @throws OtherLog, which says how to fix it; EventStoreUnavailable
 */
export async function refuseOtherLog (pool: Pool, log: KnownLog, readModels: readonly ReadUpTo[]): Promise<void> {
  // A log has one marker per revision: if two are known, one was in another log.
  const { rows: known } = await pool.query<Record<'id' | 'revision' | 'position', string>>(`
    SELECT id, revision, position FROM ledger.markers WHERE revision = (SELECT max(revision) FROM ledger.markers)`)
  for (const { id, revision, position } of known) {
    const found = await markerAt(log, BigInt(revision))
    if (found?.id !== id) throw await lacking(log, `marker ${revision}, which this database knows`)
    if (found.position === BigInt(position)) continue
    throw new OtherLog('The events stand at other positions than they did: the log was moved to another event store. ' +
      `To go on there, ${adoptAdvice}.`)
  }
  const { rows: [row = { position: '0', event_id: null, event_position: null }] } = await pool.query<CheckpointRow>(
    `SELECT position, event_id, event_position FROM ${dispatcherCheckpoint}`)
  const all = readModels.map(({ name, ...each }): ReadUpTo => ({ name: `the projection ${name}`, ...each }))
  all.push({ name: 'the dispatcher', ...toCheckpoint(row) })
  const { name, position } = all.reduce((one, other) => other.position > one.position ? other : one)
  const head = await log.head()
  if (position > head) throw older(`The event log ends at position ${head}, and ${name} has read it up to ${position}`)
  const taken = all.flatMap((each) => each.taken ?? [])
  if (taken.length > 0) await log.assertHas(taken.reduce((one, other) => other.position > one.position ? other : one))
}

/** Undefined when the log lacks it, or metadata of the stream hides it. */
async function markerAt (log: Pick<Streams, 'read'>, revision: bigint) {
  try {
    return (await log.read(markerStream, revision, 1))[0]
  } catch (error) {
    if (error instanceof StreamTruncated) return undefined
    throw error
  }
}

/** Anybody can write the stream's metadata, which may hide a marker that is there. */
async function lacking (log: Pick<Streams, 'limitOf'>, marker: string): Promise<OtherLog> {
  const limit = await log.limitOf(markerStream)
  if (!limit) return older(`The event log lacks ${marker}`)
  return new OtherLog(`${limitedBy(markerStream, limit)} Until then nobody can see whether the log has ${marker}.`)
}

/** Streams that every log has. Those of assistants, leads and calls are checked when a command reads them. */
const everywhere = [
  markerStream, settingsStream, catalogStreams.voices, catalogStreams.languages, catalogStreams.models
]

/** Each with its fix. Skips a stream whose metadata is unreadable: nothing else needs the right to read it. */
export async function findLimitedStreams (streams: Pick<Streams, 'limitOf'>) {
  const found = []
  for (const stream of everywhere) {
    const limit = await streams.limitOf(stream)
    if (limit) found.push({ stream, limit, problem: limitedBy(stream, limit) })
  }
  return found
}

function limitedBy (stream: string, limit: string): string {
  const [found, mend] = limit === 'deleted'
    ? [`The stream ${stream} was deleted`, `$tb to $$${stream}, twice, as the server answers the first with a $tb of its own`]
    : [`The metadata of the stream ${stream} has ${limit}`, `${limit} to $$${stream}`]
  return `${found}, and a scavenge takes events away for good: write metadata without ${mend}.`
}
