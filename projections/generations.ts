// Where each generation of a projection lives, and which one readers see.
import type { Pool, PoolClient } from 'pg'
import { checkpointTable } from '../src/consumer/checkpoint.js'
import { inTransaction } from '../src/postgres/transaction.js'
import type { Projection } from './projection.js'
import { createTable } from './table.js'

/** Rows and checkpoint share a schema of their own: whoever drops the rows drops the checkpoint too. */
export const schemaOf = (projection: Projection, generation: number) => `read_${projection.name}_g${generation}`
export const checkpointOf = (projection: Projection, generation: number) => `${schemaOf(projection, generation)}.checkpoint`
/** Readers name tables here; views lead to the active generation. */
export const activeCheckpoint = (name: string) => `read_model.${name}_checkpoint`

/** Creates what is missing, so that readers find their tables before the first event; safe from many processes at once. */
export async function ensureProjections (pool: Pool, projections: readonly Projection[]): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(hashtext(\'ringledger projections\'))')
    await tx.query('CREATE SCHEMA IF NOT EXISTS read_model')
    for (const projection of projections) {
      const generation = await activeGeneration(tx, projection)
      if (await createGeneration(tx, projection, generation)) await activate(tx, projection, generation)
    }
  })
}

/** The projections whose active generation other code has folded, each with what to do about it. */
export async function outdated (pool: Pool, projections: readonly Projection[]): Promise<Array<{ name: string, foldedBy: number, version: number, mend: string }>> {
  const found = await Promise.all(projections.map(async (projection) => {
    const { name, version } = projection
    const schema = schemaOf(projection, await activeGeneration(pool, projection))
    const { rows: [row] } = await pool.query<{ comment: string | null }>("SELECT obj_description(oid, 'pg_namespace') AS comment FROM pg_namespace WHERE nspname = $1", [schema])
    const foldedBy = Number(/code version (\d+)/.exec(row?.comment ?? '')?.[1] ?? 0)
    return foldedBy === version ? [] : [{ name, foldedBy, version, mend: `ringledger projections replay ${name}` }]
  }))
  return found.flat()
}

/** The generation that readers see; 1 when the projection is new. */
export async function activeGeneration (db: Pool | PoolClient, projection: Projection): Promise<number> {
  const { rows } = await db.query<{ active_generation: number }>(
    'SELECT active_generation FROM ledger.projections WHERE name = $1', [projection.name])
  return rows[0]?.active_generation ?? 1
}

/** Makes an empty generation; false when it exists already. */
export async function createGeneration (tx: PoolClient, projection: Projection, generation: number): Promise<boolean> {
  const schema = schemaOf(projection, generation)
  const { rowCount } = await tx.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
  if (rowCount) return false
  await tx.query(`CREATE SCHEMA ${schema}`)
  for (const table of projection.tables) await tx.query(createTable(schema, table))
  await tx.query(checkpointTable(checkpointOf(projection, generation)))
  await tx.query(`COMMENT ON SCHEMA ${schema} IS 'Ringledger projection ${projection.name}, code version ${projection.version}: rebuildable from the log'`)
  return true
}

/** Points readers at `generation`, all tables in one instant. New generations may only add columns, at the end. */
export async function activate (tx: PoolClient, projection: Projection, generation: number): Promise<void> {
  const schema = schemaOf(projection, generation)
  for (const { name, columns, internal } of projection.tables) {
    const list = Object.keys(columns).map((column) => `"${column}"`).join(', ')
    if (!internal) await tx.query(`CREATE OR REPLACE VIEW read_model.${name} AS SELECT ${list} FROM ${schema}.${name}`)
  }
  await tx.query(`CREATE OR REPLACE VIEW ${activeCheckpoint(projection.name)} AS SELECT position, updated_at FROM ${schema}.checkpoint`)
  await tx.query(`
    INSERT INTO ledger.projections (name, active_generation) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET active_generation = excluded.active_generation`, [projection.name, generation])
}
