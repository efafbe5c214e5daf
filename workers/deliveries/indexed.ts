// Executes statements of the delivery log that Postgres plans for indexes alone. The table of due rows is almost empty
// whenever Postgres plans, so it would read all of it, for each assistant; between two vacuums it has thousands of dead
// rows.
import type { Pool, QueryResult } from 'pg'
import { onConnection } from '../../src/postgres/transaction.js'

/** What each session has prepared. */
const prepared = new WeakMap<object, Set<string>>()

/**
 * Sends all of `text` in one message, which is one transaction.
 * @param preparing the statements that it executes, which each session prepares once
 * @returns the rows of each of its statements
 */
export async function executeIndexed<Rows extends object[]> (
  pool: Pool, preparing: string, text: string
): Promise<{ [nth in keyof Rows]: Array<Rows[nth]> }> {
  return await onConnection(pool, async (client, isBroken) => {
    const known = prepared.get(client.connection) ?? new Set()
    prepared.set(client.connection, known)
    try {
      if (!known.has(preparing)) await client.query(preparing)
      known.add(preparing)
      // pg returns one result for each statement, which its types do not say.
      const [, ...results] = await client.query(`SET LOCAL enable_seqscan = off; ${text}`) as unknown as QueryResult[]
      return results.map(({ rows }) => rows as unknown[]) as { [nth in keyof Rows]: Array<Rows[nth]> }
    } catch (error) {
      isBroken(error as Error) // it may be committed, and may still run
      throw error
    }
  })
}
