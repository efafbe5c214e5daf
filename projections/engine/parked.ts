// Which events have to wait, as earlier ones of their streams are parked, and which ones an operator has given up.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/log/event-log.js'
import { activeGeneration, schemaOf } from './generations.js'
import type { Projection } from './projection.js'

type Event = Pick<StoredEvent, 'stream' | 'revision'>

/** Postgres has no NUL in text. */
export const storable = (text: string) => text.replaceAll('\0', '\\0')

/** Events that an operator has skipped: projections and replays pass over them. */
export interface Skipped {
  has (event: Event): boolean
}

/** The skipped events of the projection of this name. */
export async function loadSkipped (db: Pool | PoolClient, projection: string): Promise<Skipped> {
  const { rows } = await db.query<EventKey>(
    'SELECT stream, revision FROM ledger.skipped_events WHERE projection = $1', [projection])
  return skippedOf(rows)
}

/** An event that an operator has given up; `at` is ISO 8601. */
interface SkippedEvent { projection: string, stream: string, revision: string, reason: string, at: string }

/** Every skipped event of the projections of these names, or of the dispatcher, the oldest first. */
export async function skippedEvents (db: Pool, names: readonly string[]): Promise<SkippedEvent[]> {
  const { rows } = await db.query<Omit<SkippedEvent, 'at'> & { at: Date }>(`
    SELECT projection, stream, revision, reason, skipped_at AS at
    FROM ledger.skipped_events WHERE projection = ANY($1) ORDER BY skipped_at`, [names])
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }))
}

/** What is to be known of the streams of some events before they are projected. */
export interface Parked {
  skipped: Skipped
  /** Streams whose events have to wait. */
  streams: Set<string>
}

/** `consumer` names the generation, for instance `read_leads_g1`. */
export async function loadParked (
  db: Pool | PoolClient, consumer: string, projection: string, events: StoredEvent[]
): Promise<Parked> {
  const { rows } = await db.query<{ stream: string, revision: string | null }>(`
    WITH wanted AS MATERIALIZED (
      SELECT stream, ledger.digest_of(stream) AS digest FROM (SELECT DISTINCT unnest($3::text[]) AS stream) streams)
    SELECT stream, NULL AS revision FROM wanted WHERE EXISTS (
      SELECT FROM ledger.parked_events parked WHERE consumer = $1 AND parked.stream_digest = wanted.digest)
    UNION ALL
    SELECT wanted.stream, revision FROM wanted JOIN ledger.skipped_events skipped ON skipped.stream_digest = wanted.digest
    WHERE projection = $2`,
  [consumer, projection, events.map(({ stream }) => storable(stream))])
  return {
    skipped: skippedOf(rows.filter((row): row is EventKey => row.revision !== null)),
    streams: new Set(rows.flatMap(({ stream, revision }) => revision === null ? [stream] : []))
  }
}

/** As Postgres answers it. */
interface EventKey { stream: string, revision: string }

function skippedOf (rows: EventKey[]): Skipped {
  const skipped = new Set(rows.map(({ stream, revision }) => `${revision}@${stream}`))
  return { has: ({ stream, revision }) => skipped.size > 0 && skipped.has(`${revision}@${storable(stream)}`) }
}

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
interface ParkedEvent extends ParkedRow {
  generation: number | null
  parked: number
  /** Absent when the log has lost it. */
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

/** The dispatcher has no generations: then it is empty. */
interface ParkedStreams { projection: string, generation: string, streams: number }

export async function countParkedStreams (pool: Pool): Promise<ParkedStreams[]> {
  const { rows } = await pool.query<{ consumer: string, name: [string, string] | null, streams: number }>(`
    SELECT consumer, regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name,
      count(DISTINCT stream_digest)::int AS streams
    FROM ledger.parked_events GROUP BY consumer`)
  return rows.map(({ consumer, name, streams }) =>
    name ? { projection: name[0], generation: name[1], streams } : { projection: consumer, generation: '', streams })
}

/** @returns false when it was paused before */
export async function pauseProjection (db: Pool, { name }: Projection): Promise<boolean> {
  const { rowCount } = await db.query(
    'INSERT INTO ledger.paused_projections (projection) VALUES ($1) ON CONFLICT DO NOTHING', [name])
  return rowCount === 1
}

/** @returns false when it was not paused */
export async function resumeProjection (db: Pool, { name }: Projection): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM ledger.paused_projections WHERE projection = $1', [name])
  return rowCount === 1
}
