// What operators do about parked events: look, retry, skip.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/event-store/streams.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { writeEvents } from '../engine/batch-writer.js'
import type { Refused } from './circuit-breaker.js'
import { activeGeneration, checkpointOf, generationsOf, isFed, schemaOf } from '../replay/generations.js'
import type { Projection } from '../engine/projection.js'
import { storable } from './park.js'

/** What was asked for cannot be done; nothing was changed. */
export class ParkingRefused extends Error {
  override readonly name = 'ParkingRefused'
}

/** A stream with parked events, and the error of the first. Revisions and positions as text, times in ISO 8601. */
export interface ParkedStream {
  projection: string
  generation: number
  stream: string
  events: number
  revision: string
  position: string
  type: string
  error: string
  since: string
}

/** A parked event, why it is parked, and how many of its stream are; `event` is absent when the log does not have it any more. */
export interface ParkedEvent { generation: number, parked: number, revision: bigint, error: string, since: Date, event?: StoredEvent | undefined }

/** What became of the parked events of a stream; `refused` says why some of them are still parked. */
export interface Reprojected { generation: number, events: number, parked: number, refused?: string | undefined }

export interface BackEnds { pool: Pool, streams: Pick<Streams, 'read'> }

interface ParkedRow { revision: bigint, error: string, since: Date }

const eventsAtOnce = 500

/** The streams that any generation of these projections has parked, the longest parked first. */
export async function parkedStreams (pool: Pool, projections: readonly Projection[]): Promise<ParkedStream[]> {
  const { rows } = await pool.query<Omit<ParkedStream, 'projection' | 'generation' | 'since'> & { name: [string, string], since: Date }>(`
    SELECT regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name, stream, count(*)::int AS events, min(parked_at) AS since,
      (array_agg(revision ORDER BY revision))[1] AS revision, (array_agg(position ORDER BY revision))[1] AS position,
      (array_agg(event_type ORDER BY revision))[1] AS type, (array_agg(error ORDER BY revision))[1] AS error
    FROM ledger.parked_events WHERE substring(consumer FROM '^read_(\\w+)_g\\d+$') = ANY($1)
    GROUP BY consumer, stream ORDER BY since, consumer, stream`, [projections.map(({ name }) => name)])
  return rows.map(({ name: [projection, generation], since, ...row }) => ({ projection, generation: Number(generation), ...row, since: since.toISOString() }))
}

/** The parked event, or the first one of its stream when no revision is given. @throws ParkingRefused */
export async function parkedEvent ({ pool, streams }: BackEnds, projection: Projection, stream: string, revision?: bigint): Promise<ParkedEvent> {
  const generation = await activeGeneration(pool, projection)
  const parked = await parkedRows(pool, schemaOf(projection, generation), stream)
  const row = revision === undefined ? parked[0] : parked.find((one) => one.revision === revision)
  if (!row) throw notParked(projection, stream, revision)
  const [event] = await streams.read(stream, row.revision, 1)
  return { generation, parked: parked.length, ...row, event: event?.revision === row.revision ? event : undefined }
}

/**
 * Projects the parked events of a stream into the active generation, in order: all of them, or none. The live projection
 * waits meanwhile, and goes on with the rows that it finds then.
 * @throws ParkingRefused when one of them is refused again
 */
export async function retryStream (backEnds: BackEnds, projection: Projection, stream: string): Promise<Reprojected> {
  return await reproject(backEnds, projection, stream, ({ events, refused }) => {
    if (refused !== undefined) throw new ParkingRefused(`${stream} stays parked, as it was: ${refused}`)
    if (events === 0) throw notParked(projection, stream)
  })
}

/**
 * Skips one event of this projection for good, and projects the later parked events of its stream. An event that is not
 * parked can be skipped too: then replays pass over it.
 * @throws ParkingRefused when there is no such event
 */
export async function skipEvent (backEnds: BackEnds, projection: Projection, stream: string, revision: bigint, reason: string): Promise<Reprojected> {
  const [event] = await backEnds.streams.read(stream, revision, 1)
  if (event?.revision !== revision) throw new ParkingRefused(`the log has no event ${stream}@${revision}`)
  await backEnds.pool.query('INSERT INTO ledger.skipped_events (projection, stream, revision, reason) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
    [projection.name, storable(stream), revision, storable(reason)])
  return await reproject(backEnds, projection, stream)
}

type Judge = (outcome: Reprojected) => void

/** In the generation that readers see, then in those that they may be led to; `judge` looks at the outcome before it is committed. */
async function reproject (backEnds: BackEnds, projection: Projection, stream: string, judge?: Judge): Promise<Reprojected> {
  const generations = await generationsOf(backEnds.pool, projection)
  const active = generations.find(({ state }) => state === 'active')?.generation ?? 1
  const outcome = await reprojectIn(backEnds, projection, active, stream, judge)
  for (const each of generations) {
    if (isFed(projection, each) && each.generation !== active) await reprojectIn(backEnds, projection, each.generation, stream)
  }
  return outcome
}

async function reprojectIn ({ pool, streams }: BackEnds, projection: Projection, generation: number, stream: string, judge?: Judge): Promise<Reprojected> {
  const schema = schemaOf(projection, generation)
  return await inTransaction(pool, async (tx) => {
    await tx.query(`SELECT FROM ${checkpointOf(projection, generation)} FOR UPDATE`) // the live projection waits for it, or we for its batch
    const parked = await parkedRows(tx, schema, stream)
    const events = await readParked(streams, stream, parked)
    await tx.query('DELETE FROM ledger.parked_events WHERE consumer = $1 AND stream = $2', [schema, storable(stream)])
    const refused: Refused[] = []
    for (let from = 0; from < events.length; from += eventsAtOnce) refused.push(...await writeEvents(tx, projection, schema, events.slice(from, from + eventsAtOnce)))
    await tx.query('UPDATE ledger.parked_events SET parked_at = $3 WHERE consumer = $1 AND stream = $2', [schema, storable(stream), parked[0]?.since]) // the circuit breaker does not count them again
    const still = await parkedRows(tx, schema, stream)
    const outcome = { generation, events: parked.length - still.length, parked: still.length, refused: refused[0]?.error }
    judge?.(outcome)
    return outcome
  })
}

async function parkedRows (db: Pool | PoolClient, consumer: string, stream: string): Promise<ParkedRow[]> {
  const { rows } = await db.query<{ revision: string, error: string, since: Date }>(
    'SELECT revision, error, parked_at AS since FROM ledger.parked_events WHERE consumer = $1 AND stream = $2 ORDER BY revision', [consumer, storable(stream)])
  return rows.map((row) => ({ ...row, revision: BigInt(row.revision) }))
}

/** @throws ParkingRefused when the log does not have all of them */
async function readParked (streams: Pick<Streams, 'read'>, stream: string, parked: ParkedRow[]): Promise<StoredEvent[]> {
  const wanted = new Set(parked.map(({ revision }) => revision))
  const events = parked[0] ? (await streams.read(stream, parked[0].revision)).filter(({ revision }) => wanted.delete(revision)) : []
  if (wanted.size > 0) throw new ParkingRefused(`the log has no event ${stream}@${[...wanted].join()}: only a replay of the projection can go on without it`)
  return events
}

function notParked ({ name }: Projection, stream: string, revision?: bigint): ParkingRefused {
  return new ParkingRefused(`${name} has not parked ${stream}${revision === undefined ? '' : `@${revision}`}: \`ringledger projections quarantine list\` shows what is parked`)
}
