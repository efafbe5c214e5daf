// What operators do about quarantine: look, try again, skip.
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
export class QuarantineRefused extends Error {
  override readonly name = 'QuarantineRefused'
}

/** A stream that waits, with the error of its first event. Revisions and positions as text, times in ISO 8601. */
export interface HeldStream {
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

/** An event that waits, with why, and how many of its stream do; `event` is absent when the log has it no more. */
export interface HeldEvent { generation: number, held: number, revision: bigint, error: string, since: Date, event?: StoredEvent | undefined }

/** What became of the events of a stream that waited; `refused` says why some wait all the same. */
export interface Reprojected { generation: number, events: number, held: number, refused?: string | undefined }

export interface BackEnds { pool: Pool, streams: Pick<Streams, 'read'> }

interface HeldRow { revision: bigint, error: string, since: Date }

const eventsAtOnce = 500

/** The streams that any generation of these projections holds, the longest held first. */
export async function heldStreams (pool: Pool, projections: readonly Projection[]): Promise<HeldStream[]> {
  const { rows } = await pool.query<Omit<HeldStream, 'projection' | 'generation' | 'since'> & { name: [string, string], since: Date }>(`
    SELECT regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name, stream, count(*)::int AS events, min(quarantined_at) AS since,
      (array_agg(revision ORDER BY revision))[1] AS revision, (array_agg(position ORDER BY revision))[1] AS position,
      (array_agg(event_type ORDER BY revision))[1] AS type, (array_agg(error ORDER BY revision))[1] AS error
    FROM ledger.quarantine WHERE substring(consumer FROM '^read_(\\w+)_g\\d+$') = ANY($1)
    GROUP BY consumer, stream ORDER BY since, consumer, stream`, [projections.map(({ name }) => name)])
  return rows.map(({ name: [projection, generation], since, ...row }) => ({ projection, generation: Number(generation), ...row, since: since.toISOString() }))
}

/** The event that waits, or the first one of its stream when no revision is given. @throws QuarantineRefused */
export async function heldEvent ({ pool, streams }: BackEnds, projection: Projection, stream: string, revision?: bigint): Promise<HeldEvent> {
  const generation = await activeGeneration(pool, projection)
  const held = await heldRows(pool, schemaOf(projection, generation), stream)
  const row = revision === undefined ? held[0] : held.find((one) => one.revision === revision)
  if (!row) throw notHeld(projection, stream, revision)
  const [event] = await streams.read(stream, row.revision, 1)
  return { generation, held: held.length, ...row, event: event?.revision === row.revision ? event : undefined }
}

/**
 * Projects the events of a stream that the active generation holds, in order, and releases the stream; all of it, or
 * nothing. The live projection waits meanwhile, and goes on with the rows that it finds then.
 * @throws QuarantineRefused when one of them is refused again
 */
export async function retryStream (backEnds: BackEnds, projection: Projection, stream: string): Promise<Reprojected> {
  return await reproject(backEnds, projection, stream, ({ events, refused }) => {
    if (refused !== undefined) throw new QuarantineRefused(`${stream} stays in quarantine, as it was: ${refused}`)
    if (events === 0) throw notHeld(projection, stream)
  })
}

/**
 * Gives one event up, for this projection and for good, and goes on with the events of its stream that wait in the
 * active generation. Of an event that does not wait there, rebuilds make use.
 * @throws QuarantineRefused when there is no such event
 */
export async function skipEvent (backEnds: BackEnds, projection: Projection, stream: string, revision: bigint, reason: string): Promise<Reprojected> {
  const [event] = await backEnds.streams.read(stream, revision, 1)
  if (event?.revision !== revision) throw new QuarantineRefused(`the log has no event ${stream}@${revision}`)
  await backEnds.pool.query('INSERT INTO ledger.skips (projection, stream, revision, reason) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
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
    const held = await heldRows(tx, schema, stream)
    const events = await readHeld(streams, stream, held)
    await tx.query('DELETE FROM ledger.quarantine WHERE consumer = $1 AND stream = $2', [schema, storable(stream)])
    const refused: Refused[] = []
    for (let from = 0; from < events.length; from += eventsAtOnce) refused.push(...await writeEvents(tx, projection, schema, events.slice(from, from + eventsAtOnce)))
    await tx.query('UPDATE ledger.quarantine SET quarantined_at = $3 WHERE consumer = $1 AND stream = $2', [schema, storable(stream), held[0]?.since]) // no news for the brake
    const still = await heldRows(tx, schema, stream)
    const outcome = { generation, events: held.length - still.length, held: still.length, refused: refused[0]?.error }
    judge?.(outcome)
    return outcome
  })
}

async function heldRows (db: Pool | PoolClient, consumer: string, stream: string): Promise<HeldRow[]> {
  const { rows } = await db.query<{ revision: string, error: string, since: Date }>(
    'SELECT revision, error, quarantined_at AS since FROM ledger.quarantine WHERE consumer = $1 AND stream = $2 ORDER BY revision', [consumer, storable(stream)])
  return rows.map((row) => ({ ...row, revision: BigInt(row.revision) }))
}

/** @throws QuarantineRefused when the log does not have all of them */
async function readHeld (streams: Pick<Streams, 'read'>, stream: string, held: HeldRow[]): Promise<StoredEvent[]> {
  const wanted = new Set(held.map(({ revision }) => revision))
  const events = held[0] ? (await streams.read(stream, held[0].revision)).filter(({ revision }) => wanted.delete(revision)) : []
  if (wanted.size > 0) throw new QuarantineRefused(`the log has no event ${stream}@${[...wanted].join()}: only a replay of the projection can go on without it`)
  return events
}

function notHeld ({ name }: Projection, stream: string, revision?: bigint): QuarantineRefused {
  return new QuarantineRefused(`${name} does not hold ${stream}${revision === undefined ? '' : `@${revision}`}: \`ringledger projections quarantine list\` shows what waits`)
}
