// Tells what is wrong with a value from what is wrong with Postgres.
import { DatabaseError } from 'pg'

/** Classes 22 and 23 of SQLSTATE: a value that Postgres does not take, however often it is asked. */
export function isAboutData (error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^2[23]/.test(error.code ?? '')
}

/** A row is there already under a key that was inserted. */
export const isTaken = (error: unknown): error is DatabaseError => error instanceof DatabaseError && error.code === '23505'
