// Refuses a log that is older than what was read of it, or that was moved: its positions mean something else.
import type { Pool } from 'pg'
import { markerStream } from '../domain/marker.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { StreamTruncated } from '../log/errors.js'
import type { Streams } from '../log/event-log.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import { findAppendedBehind } from './appended-behind.js'
import { limitedBy } from './limited-streams.js'
import { dispatcherCheckpoint } from './database-state.js'

/** The log is not the one that this database has followed, or an older state of it. */
export class OtherLog extends Error {
  override readonly name = 'OtherLog'
}

/** How far a subscription has read the log. */
export interface ReadUpTo { name: string, position: bigint }

const adopt = 'stop every role, run `ringledger events adopt`, and start again'

/**
 * Compares the log with the newest marker that this database knows, and with how far each subscription has read.
 * @throws OtherLog, which says how to mend it; EventStoreUnavailable
 */
export async function refuseOtherLog (
  pool: Pool, streams: Pick<Streams, 'read' | 'head' | 'limitOf'>, subscriptions: readonly ReadUpTo[]
): Promise<void> {
  await refuseTwoLogs(pool)
  const behind = await findAppendedBehind(pool, streams)
  if (behind !== undefined) throw older(behind)
  await refuseMovedLog(pool, streams)
  const furthest = await furthestOf(pool, subscriptions)
  const head = await streams.head()
  if (furthest.position <= head) return
  throw older(`The event log ends at position ${head}, and ${furthest.name} has read it up to ${furthest.position}`)
}

/** Of these subscriptions and the dispatcher. */
export async function furthestOf (pool: Pool, subscriptions: readonly ReadUpTo[]): Promise<ReadUpTo> {
  const dispatcher = { name: 'the dispatcher', position: await readCheckpoint(pool, dispatcherCheckpoint) }
  return [...subscriptions, dispatcher].reduce((one, other) => other.position > one.position ? other : one)
}

/** A log has one marker of each revision: two that are known were in two logs, one an older state of the other. */
async function refuseTwoLogs (pool: Pool): Promise<void> {
  const { rows: [twice] } = await pool.query<{ revision: string }>(
    'SELECT revision FROM ledger.markers WHERE revision IS NOT NULL GROUP BY revision HAVING count(*) > 1 LIMIT 1')
  if (twice) throw older(`This database knows two markers ${twice.revision} of the event log`)
}

async function refuseMovedLog (pool: Pool, streams: Pick<Streams, 'read' | 'limitOf'>): Promise<void> {
  const { rows: [known] } = await pool.query<{ id: string, revision: string, position: string }>(
    'SELECT id, revision, position FROM ledger.markers WHERE revision IS NOT NULL ORDER BY revision DESC LIMIT 1')
  if (!known) return
  const found = await markerAt(streams, BigInt(known.revision))
  if (found?.id !== known.id) throw await lacking(streams, `marker ${known.revision}, which this database knows`)
  if (found.position === BigInt(known.position)) return
  throw new OtherLog('The events stand at other positions than they did: the log was moved to another event store. ' +
    `To go on there, ${adopt}.`)
}

/** Nothing where the log does not have it, or metadata of the stream hide it. */
async function markerAt (streams: Pick<Streams, 'read'>, revision: bigint): Promise<StoredEvent | undefined> {
  try {
    const [found] = await streams.read(markerStream, revision, 1)
    return found
  } catch (error) {
    if (error instanceof StreamTruncated) return undefined
    throw error
  }
}

/** Metadata of the stream, which anybody can write, may hide a marker that is there. */
async function lacking (streams: Pick<Streams, 'limitOf'>, marker: string): Promise<OtherLog> {
  const limit = await streams.limitOf(markerStream)
  if (!limit) return older(`The event log lacks ${marker}`)
  return new OtherLog(`${limitedBy(markerStream, limit)} Until then nobody can see whether the log has ${marker}.`)
}

/** Said of a log that lacks its end. */
export const older = (what: string) => new OtherLog(
  `${what}: it is older than this database, or another log. Check EVENTSTORE_URL; ` +
  'if the log was restored from a backup, restore the newer one, or one of Postgres that is no newer than the log. ' +
  `If the events that are missing are lost for good, ${adopt}.`)
