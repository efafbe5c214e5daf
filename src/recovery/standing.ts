// Compares this database with the newest marker in the log: whoever was restored to an older state must not act again.
import type { Pool } from 'pg'
import { decode } from '../domain/events.js'
import { markerStream, type DispatcherCheckpointed } from '../domain/marker/events.js'
import type { Streams } from '../event-store/streams.js'

/** A marker as it stands in this log. */
export interface Marker {
  id: string
  revision: bigint
  position: bigint
  data: DispatcherCheckpointed
}

/** How this database stands to the log. */
export interface Standing {
  /** The newest marker; none in a log that no dispatcher has followed. */
  last: Marker | undefined
  incarnation: string
  checkpoint: bigint
  /** The highest ids that were given out. */
  given: { assistant: number, lead: number }
  /** Whether webhooks may be sent: the ledger knows of every call that the marker knows of. */
  sends: boolean
  /** Whether ids may be given out: the sequences are past those that the marker knows of. */
  ids: boolean
}

/** This database was restored to an older state than the log, or is new beside a log that has been worked on. */
export class BehindLog extends Error {
  override readonly name = 'BehindLog'
}

/**
 * A marker that this database does not know was written by a database that came later, or by another one. The log is
 * read first: a marker of ours is noted in the database before it is appended.
 * @throws EventStoreUnavailable, DecodeError, or the error of Postgres
 */
export async function standingOf (pool: Pool, streams: Pick<Streams, 'last'>): Promise<Standing> {
  const last = await lastMarker(streams)
  const { rows: [row] } = await pool.query<StandingRow>(`
    SELECT i.id AS incarnation, i.silent_until, c.position AS checkpoint, m.sends, m.ids, m.position,
           ledger.given_ids('ledger.assistant_ids') AS assistant, ledger.given_ids('ledger.lead_ids') AS lead
    FROM ledger.incarnation i CROSS JOIN ledger.dispatcher_checkpoint c LEFT JOIN ledger.markers m ON m.id = $1`, [last?.id])
  if (!row) throw new Error('ledger.incarnation or ledger.dispatcher_checkpoint is empty: each has one row, always')
  const { incarnation } = row
  const checkpoint = BigInt(row.checkpoint)
  const given = { assistant: Number(row.assistant), lead: Number(row.lead) }
  return { last, incarnation, checkpoint, given, sends: !last || maySend(last, row, checkpoint), ids: !last || mayGiveIds(last, row, given) }
}

interface StandingRow {
  incarnation: string
  silent_until: string
  checkpoint: string
  sends: boolean | null
  ids: boolean | null
  position: string | null
  assistant: string
  lead: string
}

async function lastMarker (streams: Pick<Streams, 'last'>): Promise<Marker | undefined> {
  const stored = await streams.last(markerStream)
  if (!stored) return undefined
  const event = decode(stored)
  if (event?.type !== 'DispatcherCheckpointed') throw new Error(`${stored.type} does not belong on the stream ${markerStream}`)
  return { id: stored.id, revision: stored.revision, position: stored.position, data: event.data }
}

/** Positions are compared only where they were noted for this log; in a log that was moved they mean something else. */
function maySend ({ position, data }: Marker, row: StandingRow, checkpoint: bigint): boolean {
  const isSilenced = BigInt(row.silent_until) >= position
  const isComparable = row.position !== null && BigInt(row.position) === position
  return row.sends === true && (isSilenced || !isComparable || checkpoint >= BigInt(data.checkpoint))
}

function mayGiveIds ({ data }: Marker, row: StandingRow, given: Standing['given']): boolean {
  return row.ids === true && given.assistant >= data.assistant_ids && given.lead >= data.lead_ids
}

/** Says what is wrong and what to run, for operators; nothing when all is well. */
export function explain ({ last, incarnation, sends, ids }: Standing): string | undefined {
  if (!last || (sends && ids)) return undefined
  const writer = last.data.incarnation === incarnation ? 'a later state of this database' : 'another database'
  const mend = [...ids ? [] : ['`ringledger ids reseed`'], ...sends ? [] : ['`ringledger webhooks resume`']]
  const refused = [...ids ? [] : ['no id is given out'], ...sends ? [] : ['no webhook is sent']].join(' and ')
  return `This database is behind the event log: ${writer} wrote marker ${last.revision} there (${last.data.at}). It was restored from a backup, ` +
    `or made anew. So that nothing happens twice, ${refused} until you have run ${mend.join(' and ')}.`
}
