// Lets operators list parked events, retry those of a stream, or skip one for good.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/log/event-log.js'
import {
  activeOf, activeGeneration, schemaOf, checkpointOf, consumerOf, generationsOf, type Generation
} from './generations.js'
import type { Projection, Refused } from './projection.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { touchCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { storable, Writer } from './writer.js'

/** Events of these projections or the dispatcher that an operator has given up, the oldest first. */
export async function skippedEvents (db: Pool, names: readonly string[]) {
  const { rows } = await db.query<Record<'projection' | 'stream' | 'revision' | 'reason', string> & { at: Date }>(`
    SELECT projection, stream, revision, reason, skipped_at AS at
    FROM ledger.skipped_events WHERE projection = ANY($1) ORDER BY skipped_at`, [names])
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }))
}

/** A request about parked events cannot be done; the message says why. */
export class ParkingRefused extends Error {
  override readonly name = 'ParkingRefused'
}

export interface BackEnds { pool: Pool, streams: Pick<Streams, 'read'> }

interface ParkedRow { revision: bigint, error: string, since: Date }

interface StreamRow extends Record<'consumer' | 'stream' | 'revision' | 'position' | 'type' | 'error', string> {
  name: [string, string] | null
  events: number
  since: Date
}

/** The webhook dispatcher parks events too, under this name. */
export const dispatcher = 'dispatcher'

/** A stream with parked events, and the error of the first. */
export type ParkedStream = Awaited<ReturnType<typeof parkedStreams>>[number]

/**
 * The streams that any generation of these projections has parked, the longest parked first. The webhook dispatcher has
 * no generation.
 */
export async function parkedStreams (pool: Pool, names: readonly string[], most?: number) {
  const { rows } = await pool.query<StreamRow>(`
    SELECT consumer, regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name, stream,
      count(*)::int AS events, min(parked_at) AS since,
      (array_agg(revision ORDER BY revision))[1] AS revision, (array_agg(position ORDER BY revision))[1] AS position,
      (array_agg(event_type ORDER BY revision))[1] AS type, (array_agg(error ORDER BY revision))[1] AS error
    FROM ledger.parked_events WHERE coalesce(substring(consumer FROM '^read_(\\w+)_g\\d+$'), consumer) = ANY($1)
    GROUP BY consumer, stream ORDER BY since, consumer, stream LIMIT $2`, [names, most])
  return rows.map(({ consumer, name, since, ...row }) => ({
    projection: name?.[0] ?? consumer, generation: name && Number(name[1]), ...row, since: since.toISOString()
  }))
}

/**
 * The event that the projection, or without one the dispatcher, has parked; absent if the log no longer has it.
 * `parked` counts all parked events of its stream. Without a revision, the first one of the stream.
 * @throws ParkingRefused
 */
export async function parkedEvent (
  { pool, streams }: BackEnds, projection: Projection | undefined, stream: string, revision?: bigint
) {
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

function notParked (name: string, stream: string, revision?: bigint): ParkingRefused {
  const event = revision === undefined ? stream : `${stream}@${revision}`
  return new ParkingRefused(
    `${name} has not parked ${event}: \`ringledger projections quarantine list\` shows what is parked`)
}

/** `generation` is empty for the dispatcher, which has none. */
export async function countParkedStreams (pool: Pool) {
  const { rows } = await pool.query<{ consumer: string, name: [string, string] | null, streams: number }>(`
    SELECT consumer, regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name,
      count(DISTINCT stream_digest)::int AS streams
    FROM ledger.parked_events GROUP BY consumer`)
  return rows.map(({ consumer, name, streams }) =>
    name ? { projection: name[0], generation: name[1], streams } : { projection: consumer, generation: '', streams })
}

/** What became of the parked events of a stream. */
export interface Reprojected {
  generation: number
  /** Events that the command released, hidden ones included. */
  events: number
  /** Released events that an erasure has hidden, so they went nowhere. */
  hidden: number
  parked: number
  /** Why some of them are still parked. */
  refused?: string | undefined
}

const ofStream = 'consumer = $1 AND stream_digest = ledger.digest_of($2)'

/**
 * Projects the parked events of a stream in order, into the active generation all of them or none. The live projection
 * waits meanwhile, then goes on with the rows that it finds.
 * @throws ParkingRefused when one of them is refused again
 */
export async function retryStream (backEnds: BackEnds, projection: Projection, stream: string): Promise<Reprojected> {
  const check: Check = ({ refused }) => {
    if (refused !== undefined) throw new ParkingRefused(`${stream} stays parked, as it was: ${refused}`)
  }
  const outcome = await reproject(backEnds, projection, stream, check)
  check(outcome) // that of another generation, if the active one had parked nothing
  if (outcome.events === 0) throw notParked(projection.name, stream)
  return outcome
}

/**
 * Skips one event of this projection for good, and projects the later parked events of its stream. An event that is not
 * parked can be skipped too: then replays pass over it.
 * @throws ParkingRefused when there is no such event
 */
export async function skipEvent (
  backEnds: BackEnds, projection: Projection, stream: string, revision: bigint, reason: string
): Promise<Reprojected> {
  const [event] = await backEnds.streams.read(stream, revision, 1)
  if (!event) throw new ParkingRefused(`the log has no event ${stream}@${revision}`) // a later one: ours was erased
  await backEnds.pool.query(`
    INSERT INTO ledger.skipped_events (projection, stream, revision, reason) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING`, [projection.name, storable(stream), revision, storable(reason)])
  return await reproject(backEnds, projection, stream)
}

/** Called before the commit; what it throws rolls back. */
type Check = (outcome: Reprojected) => void

/**
 * In the active generation, then in the others that this code folds: a swap may make each active. A builder looks
 * again, as a projector does. @returns the outcome in the first one that had parked events
 */
async function reproject (
  backEnds: BackEnds, projection: Projection, stream: string, check?: Check
): Promise<Reprojected> {
  const generations = await generationsOf(backEnds.pool, projection)
  const active = activeOf(generations)
  const first = active && active.codeVersion !== projection.version
    ? await untouched(backEnds, projection, active, stream)
    : await reprojectIn(backEnds, projection, active?.generation ?? 1, stream, check)
  check?.(first)
  const outcomes = [first]
  for (const each of generations) {
    if (each === active || each.state === 'dropping' || each.codeVersion !== projection.version) continue
    outcomes.push(await reprojectIn(backEnds, projection, each.generation, stream))
  }
  return outcomes.find(({ events, parked }) => events + parked > 0) ?? first
}

async function untouched (
  { pool }: BackEnds, projection: Projection, { generation, codeVersion }: Generation, stream: string
): Promise<Reprojected> {
  const { length: parked } = await parkedRows(pool, schemaOf(projection, generation), stream)
  const refused = `version ${codeVersion} of its code folded what readers see, and this release has version ` +
    `${projection.version}; run \`ringledger projections replay ${projection.name}\` first`
  return { generation, events: 0, hidden: 0, parked, refused: parked > 0 ? refused : undefined }
}

async function reprojectIn (
  { pool, streams }: BackEnds, projection: Projection, generation: number, stream: string, check?: Check
): Promise<Reprojected> {
  const consumer = consumerOf(projection, generation)
  return await inTransaction(pool, async (tx) => {
    const { position, epoch } = await touchCheckpoint(tx, checkpointOf(projection, generation)) // waits for a batch
    const parked = await parkedRows(tx, consumer, stream)
    await tx.query(`DELETE FROM ledger.parked_events WHERE ${ofStream}`, [consumer, storable(stream)])
    const refused: Refused[] = []
    const refuse = async (more: Refused[]) => { refused.push(...more) }
    const writer = new Writer(projection, generation, tx, { refuse })
    let hidden = parked.length
    for await (const events of parkedParts(streams, stream, parked)) {
      hidden -= events.length
      await writer.write({ events, position }, position, epoch)
    }
    // Events that are parked again keep their time, so that the circuit breaker does not count them twice.
    await tx.query(`UPDATE ledger.parked_events SET parked_at = $3 WHERE ${ofStream}`,
      [consumer, storable(stream), parked[0]?.since])
    const still = await parkedRows(tx, consumer, stream)
    const counts = { events: parked.length - still.length, hidden, parked: still.length }
    const outcome = { generation, ...counts, refused: refused[0]?.error }
    check?.(outcome)
    return outcome
  })
}

/** Few, as each event may be large. */
const readAtOnce = 25

/**
 * Yields the parked events, except those that an erasure has hidden: it hides all events before some revision.
 * @throws ParkingRefused when the log lacks others
 */
async function * parkedParts (
  streams: Pick<Streams, 'read'>, stream: string, parked: ParkedRow[]
): AsyncGenerator<StoredEvent[]> {
  const wanted = new Set(parked.map(({ revision }) => revision))
  let next = parked[0]?.revision ?? 0n
  while (wanted.size > 0) {
    const events = await streams.read(stream, next, readAtOnce)
    const [first, last] = [events[0], events.at(-1)]
    if (!first || !last) {
      const missing = `${stream}@${[...wanted].join()}`
      throw new ParkingRefused(`the log has no event ${missing}: only a replay of the projection can go on without it`)
    }
    for (const revision of wanted) if (revision < first.revision) wanted.delete(revision)
    yield events.filter(({ revision }) => wanted.delete(revision))
    next = last.revision + 1n
  }
}
