// The rows of one table in memory, with the bytes that they take.
import { sizeOf } from '../../src/event-store/size.js'
import type { Key } from './table.js'

interface Entry {
  /** Absent where the table is known to have no such row. */
  row: object | undefined
  bytes: number
}

export class TableRows {
  readonly entries = new Map<Key, Entry>()
  /** What each row became since changes were last taken, the oldest version first. */
  changed = new Map<Key, object[]>()
  /** Those of `changed` that are not in the table, as far as is known. */
  fresh = new Set<Key>()
  bytes = 0
  /** Whether any event reads rows of it: those of other tables are not kept. */
  isRead = false

  /** `isWhole` as long as nothing was forgotten: a row that is not here does not exist then. */
  constructor (public isWhole: boolean) {}
}

/** What an entry takes beside its row. */
const entryBytes = 100

/** @returns the bytes of the row */
export function remember (rows: TableRows, key: Key, row: object | undefined): number {
  const bytes = entryBytes + sizeOf(row)
  rows.bytes += bytes - (rows.entries.get(key)?.bytes ?? 0)
  rows.entries.delete(key) // so that it comes last: the oldest are forgotten first
  rows.entries.set(key, { row, bytes })
  return bytes
}

/**
 * Forgets the oldest rows that are in the database, until `bytes` are free or none is left.
 * @returns the bytes that are free now
 */
export function forget (rows: TableRows, bytes: number): number {
  let freed = 0
  for (const [key, entry] of rows.entries) {
    if (freed >= bytes) break
    if (rows.changed.has(key)) continue
    rows.entries.delete(key)
    rows.isWhole = false
    freed += entry.bytes
  }
  rows.bytes -= freed
  return freed
}
