// Writes batches of events into one generation of a projection, and parks what cannot be written.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { BatchRefused, type OpenConsumer } from '../../src/subscriptions/consumer.js'
import { CircuitBreaker, type Refused } from '../parking/circuit-breaker.js'
import { schemaOf } from '../generations/generations.js'
import { fold, loadMissing, readEvents, saveChanges, type Readable, type Unreadable, HighestIds } from './fold.js'
import type { Projection } from './projection.js'
import { isAboutData } from '../../src/postgres/problems/about-data.js'
import { park } from '../../src/subscriptions/park.js'
import { loadParked } from '../parking/park.js'
import { MemoryRows } from './rows.js'

interface BatchWriter {
  apply: OpenConsumer['handle']
  isBreakerOpen (): boolean
}

/** Events were written, and these are the first ones parked; or Postgres refused them and nothing was written. */
type Outcome = { parked: Refused[] } | { problem: string }

/**
 * A batch is written at once. When Postgres refuses what an event says, the batch is written event by event, so that
 * only the event at fault is parked. Any other error is thrown on.
 */
export async function batchWriter (projection: Projection, pool: Pool, generation: number): Promise<BatchWriter> {
  const consumer = schemaOf(projection, generation)
  const breaker = await CircuitBreaker.load(pool, consumer)
  return {
    isBreakerOpen: () => breaker.isOpen,
    async apply (tx, { events, position }, isApart) {
      const refused = isApart
        ? await writeApart(tx, projection, consumer, events)
        : await write(tx, projection, consumer, events).catch((error: unknown) => { throw refusalOf(error, events) })
      await breaker.check(tx, position, refused)
    }
  }
}

/** What a consumer throws when writing the events at once has failed so. */
export const refusalOf = (error: unknown, events: StoredEvent[]): unknown =>
  isRefusal(error, events) ? new BatchRefused(error.message, { cause: error }) : error

/** At once or, when Postgres refuses that, apart. @returns the first event of each stream that was parked now */
export async function writeEvents (
  tx: PoolClient, projection: Projection, schema: string, events: StoredEvent[]
): Promise<Refused[]> {
  const outcome = await attempt(tx, projection, schema, events)
  return 'parked' in outcome ? outcome.parked : await writeApart(tx, projection, schema, events)
}

async function writeApart (
  tx: PoolClient, projection: Projection, schema: string, events: StoredEvent[]
): Promise<Refused[]> {
  const refused: Refused[] = []
  for (const stored of events) {
    const alone = await attempt(tx, projection, schema, [stored])
    if ('parked' in alone) refused.push(...alone.parked)
    else refused.push(await refuse(tx, schema, stored, alone.problem))
  }
  return refused
}

/** Writes all events or none. */
async function attempt (
  tx: PoolClient, projection: Projection, schema: string, events: StoredEvent[]
): Promise<Outcome> {
  await tx.query('SAVEPOINT before_events')
  try {
    const parked = await write(tx, projection, schema, events)
    await tx.query('RELEASE SAVEPOINT before_events')
    return { parked }
  } catch (error) {
    if (!isRefusal(error, events)) throw error
    await tx.query('ROLLBACK TO SAVEPOINT before_events')
    return { problem: error.message }
  }
}

/** In parts, where the rows that the events read are large. */
async function write (
  tx: PoolClient, projection: Projection, schema: string, events: StoredEvent[]
): Promise<Refused[]> {
  const { skipped, streams: parked } = await loadParked(tx, schema, projection.name, events)
  const ids = new HighestIds(projection)
  const refused: Refused[] = []
  let unwritten = readEvents(projection, events.filter((stored) => !skipped.has(stored)))
  while (unwritten.length > 0) {
    const rows = new MemoryRows(projection.tables, { everyVersion: true })
    const count = await loadMissing(tx, schema, rows, unwritten)
    for (const each of unwritten.slice(0, count)) {
      refused.push(...await foldOne(tx, projection, schema, { each, rows, parked, ids }))
    }
    await saveChanges(tx, schema, rows)
    unwritten = unwritten.slice(count)
  }
  await ids.raise(tx)
  return refused
}

interface Folding {
  each: Readable | Unreadable
  rows: MemoryRows
  /** Streams whose events have to wait. */
  parked: Set<string>
  ids: HighestIds
}

/** @returns the event, if it is the first one of its stream that is parked */
async function foldOne (
  tx: PoolClient, projection: Projection, schema: string, { each, rows, parked, ids }: Folding
): Promise<Refused[]> {
  const { stored } = each
  if (parked.has(stored.stream)) {
    await park(tx, schema, stored, 'an earlier event of this stream is parked')
    return []
  }
  const problem = 'problem' in each ? each.problem : fold(projection, each, rows)
  if (problem !== undefined) {
    parked.add(stored.stream)
    return [await refuse(tx, schema, stored, problem)]
  }
  if ('event' in each) ids.add(each.event)
  return []
}

async function refuse (tx: PoolClient, schema: string, stored: StoredEvent, error: string): Promise<Refused> {
  await park(tx, schema, stored, error)
  return { stream: stored.stream, position: stored.position, error }
}

/**
 * A RangeError may be a batch whose text is longer than a string of JavaScript can be: event by event it fits. Of a
 * single event it is a bug.
 */
function isRefusal (error: unknown, events: StoredEvent[]): error is Error {
  return error instanceof RangeError ? events.length > 1 : isAboutData(error)
}
