// Projects parked events again: those that an operator retries, and those after an event that an operator skips.
import type { PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { notHidden, readParts } from '../../src/log/read.js'
import type { Streams } from '../../src/log/event-log.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { touchCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { Writer } from './writer.js'
import type { Projection, Refused } from './projection.js'
import { checkpointOf, consumerOf, generationsOf, isFed } from './generations.js'
import { notParked, parkedRows, ParkingRefused, storable, type BackEnds, type ParkedRow } from './parked.js'

/** What became of the parked events of a stream. */
export interface Reprojected {
  generation: number
  /** That are not parked any more, with the hidden ones. */
  events: number
  /** Of those: an erasure has hidden them, so they went nowhere. */
  hidden: number
  parked: number
  /** Why some of them are still parked. */
  refused?: string | undefined
}

const ofStream = 'consumer = $1 AND stream_digest = ledger.digest_of($2)'

/**
 * Projects the parked events of a stream into the active generation, in order: all of them, or none. Meanwhile the live
 * projection waits; then it goes on with the rows that it finds.
 * @throws ParkingRefused when one of them is refused again
 */
export async function retryStream (backEnds: BackEnds, projection: Projection, stream: string): Promise<Reprojected> {
  return await reproject(backEnds, projection, stream, ({ events, refused }) => {
    if (refused !== undefined) throw new ParkingRefused(`${stream} stays parked, as it was: ${refused}`)
    if (events === 0) throw notParked(projection.name, stream)
  })
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
  if (!event) throw new ParkingRefused(`the log has no event ${stream}@${revision}`) // a later one: an erasure hid it
  await backEnds.pool.query(`
    INSERT INTO ledger.skipped_events (projection, stream, revision, reason) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING`, [projection.name, storable(stream), revision, storable(reason)])
  return await reproject(backEnds, projection, stream)
}

/** Called before the commit; what it throws rolls back. */
type Check = (outcome: Reprojected) => void

/** In the generation that readers see, then in those that they may be led to. */
async function reproject (
  backEnds: BackEnds, projection: Projection, stream: string, check?: Check
): Promise<Reprojected> {
  const generations = await generationsOf(backEnds.pool, projection)
  const active = generations.find(({ state }) => state === 'active')?.generation ?? 1
  const outcome = await reprojectIn(backEnds, projection, active, stream, check)
  const others = generations.filter((each) => isFed(projection, each) && each.generation !== active)
  for (const { generation } of others) await reprojectIn(backEnds, projection, generation, stream)
  return outcome
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
    await keepTime(tx, consumer, stream, parked[0])
    const still = await parkedRows(tx, consumer, stream)
    const counts = { events: parked.length - still.length, hidden, parked: still.length }
    const outcome = { generation, ...counts, refused: refused[0]?.error }
    check?.(outcome)
    return outcome
  })
}

/** What is parked again keeps its time: so the circuit breaker does not count it a second time. */
async function keepTime (tx: PoolClient, consumer: string, stream: string, first?: ParkedRow): Promise<void> {
  await tx.query(`UPDATE ledger.parked_events SET parked_at = $3 WHERE ${ofStream}`,
    [consumer, storable(stream), first?.since])
}

/** They may be as large as events can be. @throws ParkingRefused when the log does not have all of them */
async function * parkedParts (
  streams: Pick<Streams, 'visit'>, stream: string, parked: ParkedRow[]
): AsyncGenerator<StoredEvent[]> {
  const [first, last] = [parked[0], parked.at(-1)]
  if (!first || !last) return
  const wanted = new Set(await notHidden(streams, stream, parked.map(({ revision }) => revision)))
  for await (const part of readParts(streams, stream, { from: first.revision, to: last.revision })) {
    yield part.filter(({ revision }) => wanted.delete(revision))
  }
  if (wanted.size === 0) return
  const missing = `${stream}@${[...wanted].join()}`
  throw new ParkingRefused(`the log has no event ${missing}: only a replay of the projection can go on without it`)
}
