// Compares this database with the newest marker in the log: a database that is behind must not act again. Anybody can
// append to the stream of markers, so what cannot be read there is passed over.
import type { Pool } from 'pg'
import { tryDecode, markerStream, type DispatcherCheckpointed } from '../domain/events.js'
import { believedId, forEachKind, type IdKind, idKinds } from '../domain/json.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { noStream, type Streams } from '../log/event-log.js'

/** A marker at its position in this log. */
export interface Marker {
  id: string
  revision: bigint
  position: bigint
  data: DispatcherCheckpointed
  /** By kind: no higher id was given out. */
  ids: Record<IdKind, number>
}

interface LastMarker {
  /** The newest one that can be read, if there is one. */
  last: Marker | undefined
  /** Of the newest event in the stream, whatever it is; `noStream` where there is none. */
  streamRevision: bigint
  /** What is wrong with the newest event, when it is no marker that can be read. */
  unreadable: string | undefined
}

/** What the search needs of a log. */
export type MarkedLog = Pick<Streams, 'last' | 'read' | 'visit'>

/** Up to where a log was searched, and what was found. */
interface Searched { newest: { id: string, revision: bigint }, last: Marker | undefined }

/** A stream that is full of something else costs each process one search, not one at each block of ids. */
const searchedIn = new WeakMap<MarkedLog, Searched>()

/** @throws EventStoreUnavailable */
export async function findLastMarker (streams: MarkedLog): Promise<LastMarker> {
  const newest = await streams.last(markerStream)
  if (!newest) return { last: undefined, streamRevision: noStream, unreadable: undefined }
  const { id, revision: streamRevision } = newest
  const last = markerIn(newest)
  if (last) return { last, streamRevision, unreadable: undefined }
  const known = await stillThere(streams, searchedIn.get(streams))
  const found = await searchBackwards(streams, streamRevision, known)
  searchedIn.set(streams, { newest: { id, revision: streamRevision }, last: found })
  return { last: found, streamRevision, unreadable: whyUnreadable(newest) }
}

/** What was found in a log that went back since, or in another one, counts no more. */
async function stillThere (streams: MarkedLog, searched: Searched | undefined): Promise<Searched | undefined> {
  if (!searched) return undefined
  const { newest: { id, revision }, last } = searched
  const known = [{ id, revision }, ...last ? [last] : []]
  const found = await Promise.all(known.map(({ revision }) => streams.read(markerStream, revision, 1)))
  return found.every(([event], index) => event?.id === known[index]?.id) ? searched : undefined
}

/** In steps that grow: one foreign event costs little, very many do not cost a request each. */
const firstStep = 20n
const longestStep = 20_000n

/** Event by event, as those of strangers may be large. */
async function searchBackwards (
  streams: MarkedLog, before: bigint, known: Searched | undefined
): Promise<Marker | undefined> {
  const begin = known ? known.newest.revision + 1n : 0n
  let step = firstStep
  for (let end = before; end > begin;) {
    const from = end - begin > step ? end - step : begin
    let found: Marker | undefined
    await streams.visit(markerStream, from, (stored) => {
      if (stored.revision < end) found = markerIn(stored) ?? found
    }, Number(end - from))
    if (found) return found
    end = from
    step = step * 10n > longestStep ? longestStep : step * 10n
  }
  return known?.last
}

function markerIn (stored: StoredEvent): Marker | undefined {
  const { event } = tryDecode(stored)
  if (event?.type !== 'DispatcherCheckpointed') return undefined
  const { data } = event
  const ids = forEachKind((kind) => believedId(data[`${kind}_ids`] ?? 0))
  return { id: stored.id, revision: stored.revision, position: stored.position, data, ids }
}

function whyUnreadable (stored: StoredEvent): string {
  const { stream, revision, type } = stored
  return tryDecode(stored).problem ?? `${type} at ${stream}@${revision} is no marker`
}

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
