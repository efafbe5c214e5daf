// What operators see of parked events.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/log/event-log.js'
import { activeGeneration, schemaOf } from '../generations/generations.js'
import type { Projection } from '../engine/projection.js'
import { storable } from '../../src/subscriptions/park.js'

/** What was asked for cannot be done; nothing was changed. */
export class ParkingRefused extends Error {
  override readonly name = 'ParkingRefused'
}

/** A stream with parked events, and the error of the first. Revisions and positions as text, times in ISO 8601. */
export interface ParkedStream {
  projection: string
  /** Null of the webhook dispatcher, which has none. */
  generation: number | null
  stream: string
  events: number
  revision: string
  position: string
  type: string
  error: string
  since: string
}

export interface BackEnds { pool: Pool, streams: Pick<Streams, 'read' | 'visit'> }

export interface ParkedRow { revision: bigint, error: string, since: Date }

/** A parked event, why it is parked, and how many events of its stream are. */
export interface ParkedEvent extends ParkedRow {
  generation: number | null
  parked: number
  /** Absent when the log does not have it any more. */
  event?: StoredEvent | undefined
}

type StreamRow = Omit<ParkedStream, 'projection' | 'generation' | 'since'> &
  { consumer: string, name: [string, string] | null, since: Date }

/** The webhook dispatcher parks beside the projections, and is named like one. */
export const dispatcher = 'dispatcher'

/** The streams that any generation of the projections of these names has parked, the longest parked first. */
export async function parkedStreams (pool: Pool, names: readonly string[]): Promise<ParkedStream[]> {
  const { rows } = await pool.query<StreamRow>(`
    SELECT consumer, regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name, stream,
      count(*)::int AS events, min(parked_at) AS since,
      (array_agg(revision ORDER BY revision))[1] AS revision, (array_agg(position ORDER BY revision))[1] AS position,
      (array_agg(event_type ORDER BY revision))[1] AS type, (array_agg(error ORDER BY revision))[1] AS error
    FROM ledger.parked_events WHERE coalesce(substring(consumer FROM '^read_(\\w+)_g\\d+$'), consumer) = ANY($1)
    GROUP BY consumer, stream ORDER BY since, consumer, stream`, [names])
  return rows.map(({ consumer, name, since, ...row }) => ({
    projection: name?.[0] ?? consumer, generation: name && Number(name[1]), ...row, since: since.toISOString()
  }))
}

/**
 * The event that a projection, or without one the dispatcher, has parked: the first one of its stream when no revision
 * is given. @throws ParkingRefused
 */
export async function parkedEvent (
  { pool, streams }: { pool: Pool, streams: Pick<Streams, 'read'> }, projection: Projection | undefined, stream: string,
  revision?: bigint
): Promise<ParkedEvent> {
  const generation = projection ? await activeGeneration(pool, projection) : null
  const consumer = projection && generation !== null ? schemaOf(projection, generation) : dispatcher
  const parked = await parkedRows(pool, consumer, stream)
  const row = revision === undefined ? parked[0] : parked.find((one) => one.revision === revision)
  if (!row) throw notParked(projection?.name ?? dispatcher, stream, revision)
  const [event] = await streams.read(stream, row.revision, 1)
  const isThere = event?.revision === row.revision
  return { generation, parked: parked.length, ...row, event: isThere ? event : undefined }
}

/** The parked events of a stream in order. `consumer` names the generation, for instance `read_leads_g1`. */
export async function parkedRows (db: Pool | PoolClient, consumer: string, stream: string): Promise<ParkedRow[]> {
  const { rows } = await db.query<{ revision: string, error: string, since: Date }>(`
    SELECT revision, error, parked_at AS since
    FROM ledger.parked_events WHERE consumer = $1 AND stream_digest = ledger.digest_of($2) ORDER BY revision`, [consumer, storable(stream)])
  return rows.map((row) => ({ ...row, revision: BigInt(row.revision) }))
}

export function notParked (name: string, stream: string, revision?: bigint): ParkingRefused {
  const event = revision === undefined ? stream : `${stream}@${revision}`
  return new ParkingRefused(
    `${name} has not parked ${event}: \`ringledger projections quarantine list\` shows what is parked`)
}
