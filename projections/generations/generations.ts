// Which generations of a projection there are, where each one lives, and which one readers see.
import type { Pool, PoolClient } from 'pg'
import { checkpointTable } from '../../src/subscriptions/checkpoint.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Projection } from '../engine/projection.js'
import { createIndexes, createTable } from '../engine/table.js'
import { markComplete } from './complete.js'
import { pointReaders } from './views.js'

/**
 * `building` by a replay; `ready` to be swapped in; `active`, which readers see; `retained` after a swap, to be swapped
 * back in; `dropping` on its way out. All but the first and the last are fed by projectors of their code.
 */
export type State = 'building' | 'ready' | 'active' | 'retained' | 'dropping'

export interface Generation {
  generation: number
  state: State
  /** The version of the projection's code that folds it: no other one touches it. */
  codeVersion: number
  /** Against what its rows were verified before it was swapped in, in words. */
  verified: string | null
  /** Whether it has passed the end that the log had when its first fill began. */
  complete: boolean
  /** Since when an operator has paused its projection, if so. */
  pausedSince: Date | null
}

/** Rows and checkpoint share a schema: to drop the rows is to drop the checkpoint too. */
export const schemaOf = (projection: Projection, generation: number) => `read_${projection.name}_g${generation}`
export const checkpointOf = (projection: Projection, generation: number) =>
  `${schemaOf(projection, generation)}.checkpoint`
/** Who holds this lease feeds the generation. */
export const leaseOf = (projection: Projection, generation: number) => `projection ${projection.name} g${generation}`

/**
 * Creates what is missing, so that readers find their tables before the first event. Many processes may call it at
 * once. A generation that is made where the log holds nothing for it is complete; `holdsNothing` is asked when one is
 * made.
 */
export async function ensureProjections (
  pool: Pool, projections: readonly Projection[], holdsNothing: () => Promise<boolean>
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockGenerations(tx)
    await tx.query('CREATE SCHEMA IF NOT EXISTS read_model')
    let isComplete: boolean | undefined
    for (const projection of projections) {
      const generation = await activeGeneration(tx, projection)
      const schema = schemaOf(projection, generation)
      const { rowCount: isThere } = await tx.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
      if (isThere) continue
      await createGeneration(tx, projection, generation, 'active')
      const indexes = projection.tables.flatMap((table) => createIndexes(schema, table))
      for (const index of indexes) await tx.query(index)
      await pointReaders(tx, projection, schema)
      isComplete ??= await holdsNothing()
      if (isComplete) await markComplete(tx, projection, generation)
    }
  })
}

/** A projection whose active generation other code has folded, and the command that mends it. */
export interface Outdated { name: string, foldedBy: number, version: number, mend: string }

export async function outdated (pool: Pool, projections: readonly Projection[]): Promise<Outdated[]> {
  const found = await Promise.all(projections.map(async (projection) => {
    const active = (await generationsOf(pool, projection)).find(({ state }) => state === 'active')
    const { name, version } = projection
    if (!active || active.codeVersion === version) return []
    return [{ name, foldedBy: active.codeVersion, version, mend: `ringledger projections replay ${name}` }]
  }))
  return found.flat()
}

/** Every generation that there is, the oldest first. */
export async function generationsOf (db: Pool | PoolClient, { name }: Pick<Projection, 'name'>): Promise<Generation[]> {
  const { rows } = await db.query<Generation>({ name: 'generations', text: generationsSql, values: [[name]] })
  return rows
}

/** Of the projections with these names; all of what a Generation has, and the name. */
export const generationsSql = `
  SELECT projection, generation, state, code_version AS "codeVersion", verified, complete, paused.since AS "pausedSince"
  FROM ledger.generations LEFT JOIN ledger.paused_projections paused USING (projection)
  WHERE projection = ANY($1) ORDER BY generation`

/** The generation that readers see; 1 when the projection is new. */
export async function activeGeneration (db: Pool | PoolClient, projection: Projection): Promise<number> {
  return (await generationsOf(db, projection)).find(({ state }) => state === 'active')?.generation ?? 1
}

/** Whether projectors of this code feed the generation. */
export const isFed = ({ version }: Projection, { state, codeVersion, pausedSince }: Generation) =>
  codeVersion === version && pausedSince === null && (state === 'active' || state === 'ready' || state === 'retained')

/** Makes an empty generation without indexes, and drops what an unfinished earlier try has left. */
export async function createGeneration (
  tx: PoolClient, projection: Projection, generation: number, state: State
): Promise<void> {
  const schema = schemaOf(projection, generation)
  await removeGeneration(tx, projection, generation)
  await tx.query(`CREATE SCHEMA ${schema}`)
  for (const table of projection.tables) await tx.query(createTable(schema, table))
  await tx.query(checkpointTable(checkpointOf(projection, generation)))
  const madeBy = `Ringledger projection ${projection.name}, code version ${projection.version}`
  await tx.query(`COMMENT ON SCHEMA ${schema} IS '${madeBy}: rebuildable from the log'`)
  await tx.query('INSERT INTO ledger.generations (projection, generation, state, code_version) VALUES ($1, $2, $3, $4)',
    [projection.name, generation, state, projection.version])
}

/** Moves a generation on from a state; false when it is not in that state. */
export async function changeState (
  db: Pool | PoolClient, projection: Projection, generation: number, from: State, to: State
): Promise<boolean> {
  const { rowCount } = await db.query(`
    UPDATE ledger.generations SET state = $4, changed_at = now()
    WHERE projection = $1 AND generation = $2 AND state = $3`, [projection.name, generation, from, to])
  return rowCount === 1
}

/** Only one transaction at a time makes generations or changes which of them are next. */
export async function lockGenerations (tx: PoolClient): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtext(\'ringledger projections\'))')
}

/** Drops the tables of a generation that no process feeds any more, and every record of it. */
export async function removeGeneration (tx: PoolClient, projection: Projection, generation: number): Promise<void> {
  const schema = schemaOf(projection, generation)
  await tx.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await tx.query('DELETE FROM ledger.parked_events WHERE consumer = $1', [schema])
  await tx.query('DELETE FROM ledger.circuit_breakers WHERE consumer = $1', [schema])
  await tx.query(
    'DELETE FROM ledger.generations WHERE projection = $1 AND generation = $2', [projection.name, generation])
}
