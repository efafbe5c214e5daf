// Refuses a log that is older than what was read of it, or that was moved: its positions mean something else.
import type { Pool } from 'pg'
import { markerStream } from '../domain/marker/events.js'
import type { Streams } from '../event-store/streams.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
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
  pool: Pool, streams: Pick<Streams, 'read' | 'head'>, subscriptions: readonly ReadUpTo[]
): Promise<void> {
  await refuseTwoLogs(pool)
  await refuseMovedLog(pool, streams)
  const dispatcher = { name: 'the dispatcher', position: await readCheckpoint(pool, dispatcherCheckpoint) }
  const furthest = [...subscriptions, dispatcher].reduce((one, other) => other.position > one.position ? other : one)
  const head = await streams.head()
  if (furthest.position <= head) return
  throw older(`The event log ends at position ${head}, and ${furthest.name} has read it up to ${furthest.position}`)
}

/** A log has one marker of each revision: two that are known were in two logs, one an older state of the other. */
async function refuseTwoLogs (pool: Pool): Promise<void> {
  const { rows: [twice] } = await pool.query<{ revision: string }>(
    'SELECT revision FROM ledger.markers WHERE revision IS NOT NULL GROUP BY revision HAVING count(*) > 1 LIMIT 1')
  if (twice) throw older(`This database knows two markers ${twice.revision} of the event log`)
}

async function refuseMovedLog (pool: Pool, streams: Pick<Streams, 'read'>): Promise<void> {
  const { rows: [known] } = await pool.query<{ id: string, revision: string, position: string }>(
    'SELECT id, revision, position FROM ledger.markers WHERE revision IS NOT NULL ORDER BY revision DESC LIMIT 1')
  if (!known) return
  const [found] = await streams.read(markerStream, BigInt(known.revision), 1)
  if (found?.id !== known.id) throw older(`The event log lacks marker ${known.revision}, which this database knows`)
  if (found.position === BigInt(known.position)) return
  throw new OtherLog('The events stand at other positions than they did: the log was moved to another event store. ' +
    `To go on there, ${adopt}.`)
}

const older = (what: string) => new OtherLog(
  `${what}: it is older than this database, or another log. Check EVENTSTORE_URL; ` +
  'if the log was restored from a backup, restore the newer one, or one of Postgres that is no newer than the log. ' +
  `If the events that are missing are lost for good, ${adopt}.`)
