// Keys that are found by the way, with what somebody else looks up of the same persons.
import { keptKey, keyColumns, type KeyRow } from './ledger-keys.js'
import type { PersonKeys } from './person-keys.js'

/** For a look-up of persons in one statement. */
export function keysBeside (keys: Pick<PersonKeys, 'learnFromLedger'>) {
  return {
    select: (person: string) =>
      `SELECT ${keyColumns} FROM ledger.person_keys WHERE person = ${person} AND wrapped IS NOT NULL LIMIT 1`,
    found (persons: readonly string[], rows: ReadonlyArray<KeyRow | Record<keyof KeyRow, null>>, at: number): void {
      keys.learnFromLedger(persons, rows.flatMap((row) => row.id === null ? [] : keptKey(row)), at)
    }
  }
}
