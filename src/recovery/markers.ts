// Markers in the log record how far the dispatcher and the ids of a database have come. A database behind the newest
// one was restored and must not act again. Anybody can append to their stream, so unreadable events are skipped.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import {
  assertSound, currentVersion, markerStream, tryDecode, type DispatcherCheckpointed
} from '../domain/events.js'
import { believedId, forEachKind, type IdKind, idKinds } from '../domain/json.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { noStream, type Streams } from '../log/event-log.js'
import { refuseOtherLog, type KnownLog } from './same-log.js'

/** A marker at its position in this log. */
export interface Marker extends Pick<StoredEvent, 'id' | 'revision' | 'position'> {
  data: DispatcherCheckpointed
  /** By kind, the highest id that may have been given out. */
  ids: Record<IdKind, number>
}

export type MarkedLog = Pick<Streams, 'last' | 'visit'>

/** Searches this many of the newest events first, and the whole stream only when none is readable. */
const soonFound = 100n

/**
 * The newest readable marker, if there is one, the revision of the newest event in the stream, `noStream` for none, and
 * why that event is no readable marker.
 * @throws EventStoreUnavailable
 */
export async function findLastMarker (streams: MarkedLog) {
  const newest = await streams.last(markerStream)
  const streamRevision = newest?.revision ?? noStream
  let last = newest && markerIn(newest)
  if (!newest || last) return { last, streamRevision, unreadable: undefined }
  for (const from of streamRevision > soonFound ? [streamRevision - soonFound, 0n] : [0n]) {
    await streams.visit(markerStream, from, (stored) => { last = markerIn(stored) ?? last })
    if (last) break
  }
  const unreadable = tryDecode(newest).problem ?? `${newest.type} at ${markerStream}@${streamRevision} is no marker`
  return { last, streamRevision, unreadable }
}

function markerIn (stored: StoredEvent): Marker | undefined {
  const { event } = tryDecode(stored)
  if (event?.type !== 'DispatcherCheckpointed') return undefined
  const { id, revision, position } = stored
  const { data } = event
  return { id, revision, position, data, ids: forEachKind((kind) => believedId(data[`${kind}_ids`] ?? 0)) }
}

/** This database was restored to a state older than the log, or is new and the log is not. */
export class BehindLog extends Error {
  override readonly name = 'BehindLog'
}

/** This database compared with the newest marker. There is no marker in a log that no dispatcher has followed. */
export type DatabaseState = Awaited<ReturnType<typeof readDatabaseState>>

/**
 * A marker unknown to this database was written by a later state of it, or by another database. The log is read before
 * the database, because our own markers are noted in the database before they are appended.
 * @throws EventStoreUnavailable, or the error of Postgres
 */
export async function readDatabaseState (pool: Pool, streams: MarkedLog) {
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
    /** Position of the dispatcher. */
    checkpoint,
    /** The highest ids given out. */
    givenIds,
    /** Webhooks may be sent: the database knows every call that the marker knows. */
    maySend: !last || knowsCalls(last, row, checkpoint),
    /** Ids may be given out: the sequences are past those that the marker knows. */
    mayGiveIds: !last || (row.ids_passed === true && idKinds.every((kind) => givenIds[kind] >= last.ids[kind]))
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

/** Compares the checkpoint only if the marker is at its noted position: in a log that was moved, positions differ. */
function knowsCalls ({ position, data }: Marker, row: StateRow, checkpoint: bigint): boolean {
  const isSkipped = BigInt(row.skip_until) >= position
  const isComparable = row.position !== null && BigInt(row.position) === position
  return row.calls_known === true && (isSkipped || !isComparable || checkpoint >= BigInt(data.checkpoint))
}

/** Tells operators what is wrong and what to run; undefined when all is well. */
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

export interface MarkerOptions {
  pool: Pool
  streams: MarkedLog & KnownLog & Pick<Streams, 'append'>
  /** Writes a marker even if nothing has changed since the last one. */
  always?: boolean
}

/**
 * Appends a marker if something has changed since the last one. The database notes it first: after a crash in between,
 * the marker is known as ours.
 * @returns whether it wrote one
 * @throws BehindLog; OtherLog when the log ends before the checkpoint; RevisionConflict when another process wrote one
 * at the same time; EventStoreUnavailable; AppendOutcomeUnknown
 */
export async function writeMarker ({ pool, streams, always = false }: MarkerOptions): Promise<boolean> {
  const state = await readDatabaseState(pool, streams)
  if (!state.maySend) throw new BehindLog(explainBehind(state))
  await refuseOtherLog(pool, streams, [])
  const data = markerData(state, new Date())
  if (!always && addsNothing(state, data)) return false
  assertSound({ type: 'DispatcherCheckpointed', data })
  const id = randomUUID()
  await pool.query(
    'INSERT INTO ledger.markers (id, calls_known, ids_passed) VALUES ($1, true, $2)', [id, state.mayGiveIds])
  const metadata = { schema_version: currentVersion('DispatcherCheckpointed') }
  const event = { id, type: 'DispatcherCheckpointed', data, metadata }
  const { revision, position } = await streams.append(markerStream, [event], state.streamRevision)
  await pool.query('UPDATE ledger.markers SET revision = $2, position = $3 WHERE id = $1', [id, revision, position])
  await pool.query("DELETE FROM ledger.markers WHERE noted_at < now() - interval '30 days' AND id <> $1", [id])
  return true
}

/** Never lowers the ids of the last marker, even while the sequences lag behind them. */
function markerData ({ last, databaseId, checkpoint, givenIds }: DatabaseState, at: Date): DispatcherCheckpointed {
  const highest = (kind: IdKind) => Math.max(believedId(givenIds[kind]), last?.ids[kind] ?? 0)
  return {
    incarnation: databaseId,
    checkpoint: String(checkpoint),
    assistant_ids: highest('assistant'),
    lead_ids: highest('lead'),
    campaign_ids: highest('campaign'),
    phone_number_ids: highest('phone_number'),
    api_key_ids: highest('api_key'),
    blacklist_ids: highest('blacklist'),
    at: at.toISOString()
  }
}

/**
 * A restored database that meets the last marker skips the calls up to that marker's position. So a checkpoint before
 * this position needs no new marker.
 */
const addsNothing = ({ last, checkpoint }: DatabaseState, data: DispatcherCheckpointed): boolean =>
  last !== undefined && checkpoint <= last.position && data.incarnation === last.data.incarnation &&
    idKinds.every((kind) => data[`${kind}_ids`] === last.ids[kind])
