// Stops the feeding of a projection while an operator looks, and lets it go on: readers see what they saw.
import type { Pool } from 'pg'
import type { Projection } from '../engine/projection.js'

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
