// Notices a log that has gone back, was moved or is another one: its positions mean something else, and nothing is fed
// from it, however far it has grown since. Each checkpoint names the last event that was taken, and its place: another
// log has another event there. Nothing ever takes markers away; so they tell where a scavenge took that event.
import type { Pool } from 'pg'
import { markerStream } from '../domain/events.js'
import { catalogStreams } from '../features/catalog/events.js'
import { settingsStream } from '../features/leads/events.js'
import { adoptAdvice, older, OtherLog, StreamTruncated } from '../log/errors.js'
import type { Streams } from '../log/event-log.js'
import { toCheckpoint, type Checkpoint, type CheckpointRow } from '../subscriptions/checkpoint.js'

/** Where the webhook dispatcher keeps its position. */
export const dispatcherCheckpoint = 'ledger.dispatcher_checkpoint'

export type KnownLog = Pick<Streams, 'read' | 'head' | 'assertHas' | 'limitOf'>

/** How far a read model has read the log. */
export type ReadUpTo = Checkpoint & { name: string }

/**
 * Compares the log with the newest marker that this database knows, and with what the dispatcher and each read model
 * have taken from it.
 * @throws OtherLog, which says how to mend it; EventStoreUnavailable
 */
export async function refuseOtherLog (pool: Pool, log: KnownLog, readModels: readonly ReadUpTo[]): Promise<void> {
  // A log has one marker of each revision: of two that are known, one was in another log.
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

/** Nothing where the log does not have it, or metadata of the stream hide it. */
async function markerAt (log: Pick<Streams, 'read'>, revision: bigint) {
  try {
    return (await log.read(markerStream, revision, 1))[0]
  } catch (error) {
    if (error instanceof StreamTruncated) return undefined
    throw error
  }
}

/** Metadata of the stream, which anybody can write, may hide a marker that is there. */
async function lacking (log: Pick<Streams, 'limitOf'>, marker: string): Promise<OtherLog> {
  const limit = await log.limitOf(markerStream)
  if (!limit) return older(`The event log lacks ${marker}`)
  return new OtherLog(`${limitedBy(markerStream, limit)} Until then nobody can see whether the log has ${marker}.`)
}

/** The few that every log has. Those of assistants, leads and calls are looked at when a command reads them. */
const everywhere = [
  markerStream, settingsStream, catalogStreams.voices, catalogStreams.languages, catalogStreams.models
]

/** With what mends it. Nothing for a stream whose metadata cannot be read: this right is not needed otherwise. */
export async function findLimitedStreams (streams: Pick<Streams, 'limitOf'>) {
  const found = await Promise.all(everywhere.map(async (stream) => {
    const limit = await streams.limitOf(stream)
    return limit ? [{ stream, limit, problem: limitedBy(stream, limit) }] : []
  }))
  return found.flat()
}

/** Says what limits the stream, and what mends it. */
function limitedBy (stream: string, limit: string): string {
  const [found, mend] = limit === 'deleted'
    ? [`The stream ${stream} was deleted`, `$tb to $$${stream}, twice, as the server answers the first with a $tb of its own`]
    : [`The metadata of the stream ${stream} has ${limit}`, `${limit} to $$${stream}`]
  return `${found}, and a scavenge takes events away for good: write metadata without ${mend}.`
}
