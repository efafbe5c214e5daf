// Whether a generation holds what the log held when its first fill began: readers see nothing of it before.
import type { Pool, PoolClient } from 'pg'
import type { Streams } from '../../src/log/event-log.js'
import type { Projection } from '../engine/projection.js'

/** From now on readers see the generation. */
export async function markComplete (
  db: Pool | PoolClient, { name }: Projection, generation: number
): Promise<void> {
  await db.query(
    'UPDATE ledger.generations SET complete = true WHERE projection = $1 AND generation = $2', [name, generation])
}

/** The read models of these that are still filled for the first time, by name. */
export async function incomplete (pool: Pool, projections: readonly Projection[]): Promise<string[]> {
  const { rows } = await pool.query<{ projection: string }>(`
    SELECT projection FROM ledger.generations
    WHERE state = 'active' AND NOT complete AND projection = ANY($1)`, [projections.map(({ name }) => name)])
  return rows.map(({ projection }) => projection)
}

/** A log that has more to read than is read within this time is not taken for empty. */
const soonMs = 2_000

/** Whether the log has no event for these, as far as that is known soon: a server has events of its own. */
export async function holdsNothing (
  { head, follow }: Pick<Streams, 'head' | 'follow'>, projections: readonly Projection[]
): Promise<boolean> {
  const eventTypes = projections.flatMap((projection) => projection.eventTypes)
  const end = await head()
  if (end === 0n) return true
  try {
    for await (const { events, position } of follow({ after: 0n, eventTypes, signal: AbortSignal.timeout(soonMs) })) {
      if (events.length > 0) return false
      if (position >= end) return true
    }
  } catch {} // then they are filled like any others
  return false
}
