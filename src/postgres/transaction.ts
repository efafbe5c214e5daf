// Runs work in one transaction: all of it, or nothing.
import type { Pool, PoolClient } from 'pg'

/**
 * Runs `work` between BEGIN and COMMIT on one connection and answers its result. Any error rolls back
 * and is thrown on; a connection whose rollback fails is closed instead of going back to the pool.
 */
export async function inTransaction<Result> (pool: Pool, work: (tx: PoolClient) => Promise<Result>): Promise<Result> {
  const tx = await pool.connect()
  let broken: Error | undefined
  const onError = (error: Error) => { broken = error }
  tx.on('error', onError)
  try {
    await tx.query('BEGIN')
    const result = await work(tx)
    await tx.query('COMMIT')
    return result
  } catch (error) {
    await tx.query('ROLLBACK').catch((rollbackError: Error) => { broken = rollbackError })
    throw error
  } finally {
    tx.off('error', onError)
    tx.release(broken)
  }
}
