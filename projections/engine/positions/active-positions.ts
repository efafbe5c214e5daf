// How far the generations that readers see have come.
import type { Pool } from 'pg'
import { activeCheckpoint } from '../../replay/views.js'
import type { Projection } from '../projection.js'

/** The position of each projection, by name. */
export async function activePositions (pool: Pool, projections: readonly Projection[]): Promise<Map<string, bigint>> {
  const selects = projections.map(({ name }) => `SELECT '${name}' AS name, position FROM ${activeCheckpoint(name)}`)
  const { rows } = await pool.query<{ name: string, position: string }>(selects.join(' UNION ALL '))
  return new Map(rows.map(({ name, position }) => [name, BigInt(position)]))
}
