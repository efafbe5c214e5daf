// Runs a projection: a batch's rows, its checkpoint and the word that it moved are one transaction.
import type { Pool, PoolClient } from 'pg'
import type { Consumer } from '../src/consumer/run.js'
import { DecodeError, decode, type DomainEvent } from '../src/domain/events.js'
import type { StoredEvent } from '../src/domain/stored-event.js'
import type { Batch } from '../src/event-store/subscribe.js'
import { activeGeneration, checkpointOf, schemaOf } from './generations.js'
import { CannotProject, type Projection } from './projection.js'
import { Quarantine } from './quarantine.js'
import { loadTouched, type BatchRows } from './rows.js'

/** Carries `<projection> <position>` whenever readers can see more. */
export const checkpointChannel = 'ringledger_checkpoint'

/** The projection as something that follows the log, on whichever generation is active when it starts. */
export function projectionConsumer (projection: Projection, pool: Pool): Consumer {
  return {
    name: `projection ${projection.name}`,
    eventTypes: projection.eventTypes,
    async open () {
      const generation = await activeGeneration(pool, projection)
      const apply = await batchWriter(projection, pool, generation)
      return {
        checkpointTable: checkpointOf(projection, generation),
        async handle (tx, batch) {
          await apply(tx, batch)
          await tx.query('SELECT pg_notify($1, $2)', [checkpointChannel, `${projection.name} ${batch.position}`])
        }
      }
    }
  }
}

/** Writes batches into one generation. */
export async function batchWriter (projection: Projection, pool: Pool, generation: number): Promise<(tx: PoolClient, batch: Batch) => Promise<void>> {
  const schema = schemaOf(projection, generation)
  const quarantine = await Quarantine.load(pool, schema)
  return async (tx, { events }) => {
    const decoded = events.map(decodeOrRefuse)
    const rows = await loadTouched(tx, schema, decoded.flatMap(({ event }) => event ? projection.touches(event) : []))
    const projected: DomainEvent[] = []
    for (const { stored, event, refusal } of decoded) {
      const problem = quarantine.holds(stored.stream) ?? refusal ?? (event && projectOrRefuse(projection, event, stored, rows))
      if (problem) await quarantine.setAside(tx, stored, problem)
      else if (event) projected.push(event)
    }
    await rows.save(tx, schema, projection.tables)
    await raiseIds(tx, projection, projected)
  }
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
