// Writes batches of events into one generation of a projection, and sets aside what cannot be written.
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { faults } from '../src/consumer/faults.js'
import { DecodeError, decode, type DomainEvent } from '../src/domain/events.js'
import type { StoredEvent } from '../src/domain/stored-event.js'
import type { Batch } from '../src/event-store/subscribe.js'
import { schemaOf } from './generations.js'
import { CannotProject, type Projection } from './projection.js'
import { Quarantine } from './quarantine.js'
import { loadTouched, type BatchRows } from './rows.js'

/**
 * A batch is written at once. When Postgres refuses what an event says, it is written event by event, so that the
 * one at fault is set aside and holds up nobody else; anything else that fails is thrown on.
 */
export async function batchWriter (projection: Projection, pool: Pool, generation: number): Promise<(tx: PoolClient, batch: Batch) => Promise<void>> {
  const schema = schemaOf(projection, generation)
  let quarantine = await Quarantine.load(pool, schema)

  return async (tx, { events }) => {
    if (await refusal(tx, events) === undefined) return
    for (const stored of events) {
      const problem = await refusal(tx, [stored])
      if (problem !== undefined) await quarantine.setAside(tx, stored, problem)
    }
  }

  /** Writes all events or none; answers why not. */
  async function refusal (tx: PoolClient, events: StoredEvent[]): Promise<string | undefined> {
    await tx.query('SAVEPOINT before_events')
    await faults.at?.('savepoint')
    try {
      await write(tx, events)
      await faults.at?.('written')
      await tx.query('RELEASE SAVEPOINT before_events')
      return undefined
    } catch (error) {
      if (!isAboutData(error)) throw error
      await faults.at?.('refused')
      await tx.query('ROLLBACK TO SAVEPOINT before_events')
      quarantine = await Quarantine.load(tx, schema) // forgets what was rolled back
      return error.message
    }
  }

  async function write (tx: PoolClient, events: StoredEvent[]): Promise<void> {
    const decoded = events.map(decodeOrRefuse)
    const rows = await loadTouched(tx, schema, decoded.flatMap(({ event }) => event ? projection.touches(event) : []))
    await faults.at?.('loaded')
    const projected: DomainEvent[] = []
    for (const { stored, event, refusal } of decoded) {
      const problem = quarantine.holds(stored.stream) ?? refusal ?? (event && projectOrRefuse(projection, event, stored, rows))
      if (problem) await quarantine.setAside(tx, stored, problem)
      else if (event) projected.push(event)
    }
    await rows.save(tx, schema, projection.tables)
    await faults.at?.('saved')
    await raiseIds(tx, projection, projected)
  }
}

/**
 * Classes 22 and 23 of SQLSTATE: a value that Postgres does not take. A RangeError is a batch whose text is longer
 * than a string of JavaScript can be; event by event it fits.
 */
function isAboutData (error: unknown): error is Error {
  return error instanceof RangeError || (error instanceof DatabaseError && /^2[23]/.test(error.code ?? ''))
}

function decodeOrRefuse (stored: StoredEvent): { stored: StoredEvent, event?: DomainEvent | undefined, refusal?: string } {
  try {
    return { stored, event: decode(stored) }
  } catch (error) {
    if (error instanceof DecodeError) return { stored, refusal: error.message }
    throw error
  }
}

/** Why the event cannot be projected, if so; then no row was changed. */
function projectOrRefuse (projection: Projection, event: DomainEvent, stored: StoredEvent, rows: BatchRows): string | undefined {
  try {
    projection.project(event, stored, rows)
    return undefined
  } catch (error) {
    if (error instanceof CannotProject) return error.message
    throw error
  }
}

/** After a replay into a fresh database, no id that the log knows is given out again. */
async function raiseIds (tx: PoolClient, projection: Projection, events: DomainEvent[]): Promise<void> {
  const highest = new Map<string, number>()
  for (const event of events) {
    const seen = projection.idsSeen?.(event)
    if (seen) highest.set(seen.sequence, Math.max(seen.id, highest.get(seen.sequence) ?? 0))
  }
  for (const [sequence, id] of highest) await tx.query('SELECT ledger.raise_ids($1::regclass, $2)', [sequence, id])
}
