// What a table needs after it was filled: its indexes, and statistics for the planner.
import { DatabaseError, type Pool } from 'pg'
import { onConnection } from '../../src/postgres/transaction.js'
import { schemaOf } from '../generations/generations.js'
import type { Projection } from '../engine/projection.js'
import { createIndexes } from '../engine/table.js'

/**
 * Builds what is missing, in statements that take as long as they take. Reads of an index alone need what VACUUM notes.
 * Of an empty table it would note that it is empty, and the plans of that would stay after it is filled.
 * @throws what `signal` was aborted with
 */
export async function finishTables (
  projection: Projection, generation: number, { pool, signal }: { pool: Pool, signal: AbortSignal }
): Promise<void> {
  const schema = schemaOf(projection, generation)
  for (const table of projection.tables) {
    for (const index of createIndexes(schema, table)) {
      await run(index, pool, signal)
    }
    const { rowCount } = await pool.query(`SELECT FROM ${schema}.${table.name} LIMIT 1`)
    if (rowCount === 1) await run(`VACUUM (ANALYZE) ${schema}.${table.name}`, pool, signal)
  }
}

/** Cancels the statement when `signal` is aborted: it would go on without us. */
async function run (statement: string, pool: Pool, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await onConnection(pool, async (client) => {
    const { rows: [backend] } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const cancel = () => { pool.query('SELECT pg_cancel_backend($1)', [backend?.pid]).catch(() => {}) }
    signal.addEventListener('abort', cancel, { once: true })
    try {
      await client.query(statement)
    } catch (error) {
      signal.throwIfAborted()
      if (!isMadeMeanwhile(error)) throw error
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  })
}

/** By the last statement of a replay that was killed. */
const isMadeMeanwhile = (error: unknown) =>
  error instanceof DatabaseError && error.code === '23505' && error.table === 'pg_class'
