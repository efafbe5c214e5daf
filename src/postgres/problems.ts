// What an error of Postgres is about: a value, and not Postgres; a full disk. And whether there is room there.
import { DatabaseError, type Pool } from 'pg'
import { inTransaction } from './transaction.js'

/** Classes 22 and 23 of SQLSTATE: a value that Postgres does not take, however often it is asked. */
export function isAboutData (error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^2[23]/.test(error.code ?? '')
}

/** A row is there already under a key that was inserted. */
export const isTaken = (error: unknown): error is DatabaseError => error instanceof DatabaseError && error.code === '23505'

/** SQLSTATE disk_full. */
const diskFull = '53100'

/** Of Postgres itself, and of an event store that keeps its events in one. */
export function saysDiskFull (error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseError && error.code === diskFull) return true
  return /\bdisk .*is full\b/.test(error.message) || saysDiskFull(error.cause)
}

/**
 * Makes Postgres write 1 MiB beside its data, in a file that is gone at once: it touches no table and no log. @throws
 * what Postgres says, also when there is no room
 */
export async function writeProbe (pool: Pool): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query("SET LOCAL work_mem = '64kB'; SET LOCAL temp_tablespaces = ''")
    await tx.query('SELECT count(*) FROM generate_series(1, 80000)') // a function's rows are kept until all are there
  })
}
