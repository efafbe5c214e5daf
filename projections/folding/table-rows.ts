// The rows of one table in memory, with the bytes that they take.
import { sizeOf } from '../../src/log/stored.js'
import type { Key } from './table.js'

export interface Entry {
  /** Absent where the table is known to have no such row. */
  row: object | undefined
  bytes: number
  /** Since changes were last taken. */
  isChanged: boolean
  /** A changed row that is not in the table, as far as is known. */
  isFresh: boolean
  /** What a changed row was in between, the oldest version first, where every version is written. */
  earlier?: object[] | undefined
}

export class TableRows {
  readonly entries = new Map<Key, Entry>()
  /** In the order in which they were changed first. */
  changed: Entry[] = []
  bytes = 0
  /** Whether any event reads rows of it: those of other tables are not kept. */
  isRead = false

  /** `isWhole` as long as nothing was forgotten: a row that is not here does not exist then. */
  constructor (public isWhole: boolean) {}

  takeChanged (): Entry[] {
    const taken = this.changed
    this.changed = []
    for (const entry of taken) entry.isChanged = false
    return taken
  }
}

/** What an entry takes beside its row. */
const entryBytes = 100

export function remember (rows: TableRows, key: Key, row: object | undefined): Entry {
  const bytes = entryBytes + sizeOf(row)
  const entry = rows.entries.get(key) ?? { row, bytes: 0, isChanged: false, isFresh: false }
  if (entry.bytes > 0) rows.entries.delete(key) // so that it comes last: the oldest are forgotten first
  rows.entries.set(key, entry)
  rows.bytes += bytes - entry.bytes
  entry.row = row
  entry.bytes = bytes
  return entry
}

/**
 * Forgets the oldest rows that are in the database, until `bytes` are free or none is left.
 * @returns the bytes that are free now
 */
export function forget (rows: TableRows, bytes: number): number {
  let freed = 0
  for (const [key, entry] of rows.entries) {
    if (freed >= bytes) break
    if (entry.isChanged) continue
    rows.entries.delete(key)
    rows.isWhole = false
    freed += entry.bytes
  }
  rows.bytes -= freed
  return freed
}
