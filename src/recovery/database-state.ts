// Compares this database with the newest marker in the log. A database that is behind must not act again.
import type { Pool } from 'pg'
import { forEachKind, idKinds, type IdKind } from '../domain/id-kinds.js'
import { findLastMarker, type LastMarker, type MarkedLog, type Marker } from './last-marker.js'

/** Where the webhook dispatcher keeps its position. */
export const dispatcherCheckpoint = 'ledger.dispatcher_checkpoint'

/** How far this database has come, compared with the newest marker: absent in a log that no dispatcher has followed. */
export interface DatabaseState extends LastMarker {
  databaseId: string
  /** Position of the dispatcher. */
  checkpoint: bigint
  /** The highest ids that were given out. */
  givenIds: Record<IdKind, number>
  /** Whether webhooks may be sent: the database knows every call that the marker knows. */
  maySend: boolean
  /** Whether ids may be given out: the sequences are past those that the marker knows. */
  mayGiveIds: boolean
}

/** This database was restored to an older state than the log, or is new beside a log that has been worked on. */
export class BehindLog extends Error {
  override readonly name = 'BehindLog'
}

/**
 * A marker that this database does not know was written by a later state of it, or by another database. The log is
 * read before the database: our own markers are noted in the database before they are appended.
 * @throws EventStoreUnavailable, or the error of Postgres
 */
export async function readDatabaseState (
  pool: Pool, streams: MarkedLog
): Promise<DatabaseState> {
  const found = await findLastMarker(streams)
  const { last } = found
  const { rows: [row] } = await pool.query<StateRow>(`
    SELECT d.id AS database_id, d.skip_until, c.position AS checkpoint, m.calls_known, m.ids_passed, m.position,
           ${idKinds.map((kind) => `ledger.given_ids('ledger.${kind}_ids') AS ${kind}`).join(', ')}
    FROM ledger.this_database d CROSS JOIN ledger.dispatcher_checkpoint c
    LEFT JOIN ledger.markers m ON m.id = $1`, [last?.id])
  if (!row) throw new Error('ledger.this_database or ledger.dispatcher_checkpoint is empty: each has one row, always')
  const checkpoint = BigInt(row.checkpoint)
  const givenIds = forEachKind((kind) => Number(row[kind]))
  return {
    ...found,
    databaseId: row.database_id,
    checkpoint,
    givenIds,
    maySend: !last || knowsCalls(last, row, checkpoint),
    mayGiveIds: !last || hasPassedIds(last, row, givenIds)
  }
}

interface StateRow extends Record<IdKind, string> {
  database_id: string
  skip_until: string
  checkpoint: string
  calls_known: boolean | null
  ids_passed: boolean | null
  position: string | null
}

/** Compares the checkpoint only where the marker has the noted position: in a log that was moved, positions differ. */
function knowsCalls ({ position, data }: Marker, row: StateRow, checkpoint: bigint): boolean {
  const isSkipped = BigInt(row.skip_until) >= position
  const isComparable = row.position !== null && BigInt(row.position) === position
  return row.calls_known === true && (isSkipped || !isComparable || checkpoint >= BigInt(data.checkpoint))
}

function hasPassedIds ({ ids }: Marker, row: StateRow, given: DatabaseState['givenIds']): boolean {
  return row.ids_passed === true && idKinds.every((kind) => given[kind] >= ids[kind])
}

/** Says to operators what is wrong and what to run; answers nothing when all is well. */
export function explainBehind ({ last, databaseId, maySend, mayGiveIds }: DatabaseState): string | undefined {
  if (!last || (maySend && mayGiveIds)) return undefined
  const writer = last.data.incarnation === databaseId ? 'a later state of this database' : 'another database'
  const commands = [
    ...mayGiveIds ? [] : ['`ringledger ids reseed`'],
    ...maySend ? [] : ['`ringledger webhooks resume`']
  ]
  const refused = [...mayGiveIds ? [] : ['no id is given out'], ...maySend ? [] : ['no webhook is sent']]
  return `This database is behind the event log: ${writer} wrote marker ${last.revision} there (${last.data.at}). ` +
    'It was restored from a backup, or made anew. So that nothing happens twice, ' +
    `${refused.join(' and ')} until you have run ${commands.join(' and ')}.`
}
