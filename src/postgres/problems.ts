// Classifies errors of Postgres: bad data, full disk. Also probes whether its disk has room.
import { DatabaseError, type Pool } from 'pg'
import { inTransaction } from './transaction.js'

/** SQLSTATE classes 22, 23 and 54: Postgres refuses the value, so a retry cannot help. */
export function isAboutData (error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^(22|23|54)/.test(error.code ?? '')
}

/** SQLSTATE unique_violation. */
export const isTaken = (error: unknown): error is DatabaseError => error instanceof DatabaseError && error.code === '23505'

/** SQLSTATE lock_not_available. */
export const isLocked = (error: unknown) => error instanceof DatabaseError && error.code === '55P03'

/** SQLSTATE disk_full. */
const diskFull = '53100'

/** Also recognises it in an error of the embedded event store, which keeps its events in Postgres. */
export function saysDiskFull (error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseError && error.code === diskFull) return true
  return /\bdisk .*is full\b/.test(error.message) || saysDiskFull(error.cause)
}

/**
 * Makes Postgres write 1 MiB to a temporary file: touches no table and no log. @throws what Postgres says, also when
 * there is no room
 */
export async function writeProbe (pool: Pool): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query("SET LOCAL work_mem = '64kB'; SET LOCAL temp_tablespaces = ''")
    await tx.query('SELECT count(*) FROM generate_series(1, 80000)') // Postgres spools a function's rows
  })
}
