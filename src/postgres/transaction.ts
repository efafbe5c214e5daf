// Runs work in one transaction: all of it, or nothing.
import type { Pool, PoolClient } from 'pg'

/**
 * Runs `work` between BEGIN and COMMIT on one connection and answers its result. Any error rolls back
 * and is thrown on; a connection whose rollback fails is closed instead of going back to the pool.
 */
export async function inTransaction<Result> (
  pool: Pool, work: (tx: PoolClient) => Promise<Result>, begin = 'BEGIN'
): Promise<Result> {
  return await onConnection(pool, async (tx, isBroken) => {
    try {
      await tx.query(begin)
      const result = await work(tx)
      await tx.query('COMMIT')
      return result
    } catch (error) {
      if (isUnanswered(error)) isBroken(error)
      else await tx.query('ROLLBACK').catch(isBroken)
      throw error
    }
  })
}

/** Runs `work` on one snapshot: all that it reads is of one instant, however long it takes. */
export const inSnapshot = <Result>(pool: Pool, work: (snapshot: PoolClient) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, work, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')

/** A rollback would wait on the same connection for as long again: it is closed instead, which rolls back as well. */
function isUnanswered (error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout'
}

/**
 * Runs `work` with one connection for itself. When the connection is lost between two queries, the next query fails and
 * the process lives. A lost connection is closed afterwards, like one that `work` calls broken.
 */
export async function onConnection<Result> (
  pool: Pool, work: (client: PoolClient, isBroken: (reason: Error) => void) => Promise<Result>
): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  const isBroken = (reason: Error) => { broken = reason }
  client.on('error', isBroken)
  try {
    return await work(client, isBroken)
  } finally {
    client.off('error', isBroken)
    client.release(broken)
  }
}
