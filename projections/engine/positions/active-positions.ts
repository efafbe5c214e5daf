// How far the generations that readers see have come.
import type { Pool } from 'pg'
import { activeCheckpoint } from '../../generations/views.js'
import type { Projection } from '../projection.js'
import { awaitedChannel, hasSetApartSql } from '../../generations/readers.js'
import type { Seen } from './known-position.js'

/** A look-up that takes longer is given up: the next one takes another connection. */
export const readWithinMs = 2_000

/** The position of each projection, by name. */
export async function activePositions (pool: Pool, projections: readonly Projection[]): Promise<Map<string, bigint>> {
  const selects = projections.map(({ name }) => `SELECT '${name}' AS name, position FROM ${activeCheckpoint(name)}`)
  const { rows } = await pool.query<{ name: string, position: string }>(selects.join(' UNION ALL '))
  return new Map(rows.map(({ name, position }) => [name, BigInt(position)]))
}

/** `schemaOf` the generation that readers see, as Postgres writes it. */
const activeSchema = "'read_' || generations.projection || '_g' || generations.generation"

/** Of a projection; nothing while it is filled for the first time. */
export async function readVisible (pool: Pool, projection: string): Promise<Seen | undefined> {
  const text = `
    SELECT position, NOT ${hasSetApartSql(activeSchema, '$1')} AS is_whole
    FROM ${activeCheckpoint(projection)}, ledger.generations
    WHERE projection = $1 AND state = 'active' AND complete`
  const query = { text, values: [projection], query_timeout: readWithinMs }
  const { rows: [row] } = await pool.query<{ position: string, is_whole: boolean }>(query)
  return row && { position: BigInt(row.position), isWhole: row.is_whole }
}

/** Tells every process that follows the log that somebody waits. */
export async function announceAwaited (pool: Pool): Promise<void> {
  await pool.query(`NOTIFY ${awaitedChannel}`)
}
