// Runs work in one transaction: all of it, or nothing.
import type { Pool, PoolClient } from 'pg'

/**
 * Runs `work` between BEGIN and COMMIT on one connection and returns its result. Any error rolls back and is rethrown;
 * a connection whose rollback fails is closed instead of going back to the pool.
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
      // A ROLLBACK would wait just as long on a connection without an answer. Closing it rolls back as well.
      if (error instanceof Error && error.message === 'Query read timeout') isBroken(error)
      else await tx.query('ROLLBACK').catch(isBroken)
      throw error
    }
  })
}

/** Runs `work` on one snapshot: everything it reads is of one instant, however long it takes. */
export const inSnapshot = <Result>(pool: Pool, work: (snapshot: PoolClient) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, work, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')

/**
 * Runs `work` on a connection of its own. If the connection is lost between two queries, the next query fails and the
 * process survives. Closes a connection afterwards that was lost or that `work` calls broken.
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

const lockSpace = 0x62_67 // any number that nothing else uses for advisory locks with two keys

/** Serialises the transactions that do this for one owner, for instance count before they add, so a limit is exact. */
export async function lockFor (tx: PoolClient, what: string, owner: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [lockSpace, `${what} ${owner}`])
}
