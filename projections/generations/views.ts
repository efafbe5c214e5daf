// The views that readers use, and which generation they lead to.
import type { Pool, PoolClient } from 'pg'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import type { Projection } from '../engine/projection.js'

/** Where readers of a projection find how far its rows are. */
export const activeCheckpoint = (name: string) => `read_model.${name}_checkpoint`

/** How far each read model has read the log. */
export async function checkpointsOf (
  pool: Pool, projections: readonly Projection[]
): Promise<Array<{ name: string, position: bigint }>> {
  return await Promise.all(projections.map(async ({ name }) =>
    ({ name: `the projection ${name}`, position: await readCheckpoint(pool, activeCheckpoint(name)) })))
}

/**
 * Leads the views of a projection to the tables in `schema`; with the transaction's commit, all in one instant. A view
 * never loses a column, so that readers of any release go on: what this generation does not have is null.
 */
export async function pointReaders (tx: PoolClient, projection: Projection, schema: string): Promise<void> {
  for (const { name, columns, internal } of projection.tables) {
    if (internal) continue
    const former = await columnsOf(tx, `read_model.${name}`)
    const kept = former.map(({ column, type }) => column in columns ? `"${column}"` : `NULL::${type} AS "${column}"`)
    const isNew = (column: string) => !former.some((known) => known.column === column)
    const added = Object.keys(columns).filter(isNew).map((column) => `"${column}"`)
    const list = [...kept, ...added].join(', ')
    await tx.query(`CREATE OR REPLACE VIEW read_model.${name} AS SELECT ${list} FROM ${schema}.${name}`)
  }
  await tx.query(`
    CREATE OR REPLACE VIEW ${activeCheckpoint(projection.name)} AS
    SELECT position, updated_at FROM ${schema}.checkpoint`)
}

async function columnsOf (tx: PoolClient, view: string): Promise<Array<{ column: string, type: string }>> {
  const { rows } = await tx.query<{ column: string, type: string }>(`
    SELECT attname AS column, format_type(atttypid, atttypmod) AS type
    FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, [view])
  return rows
}
