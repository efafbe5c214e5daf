// The rows of a projection in memory, while events are folded into them: for a batch, for a replay and for a sample.
import { sizeOf } from '../../src/event-store/size.js'
import type { RowKey, Rows } from './projection.js'
import { keyOf, type AnyTable, type Key, type Table } from './table.js'

export interface RowsOptions {
  /** The tables in the database are empty: a row that was never put does not exist. */
  isEmpty?: boolean
  /** Memory for rows that are in the database, in bytes. */
  budgetBytes?: number
  /** Every version of a row is written: whether Postgres takes an event then does not depend on the events after it. */
  everyVersion?: boolean
  /** Which rows are kept; all of them when absent. */
  keeps? (table: AnyTable, key: Key): boolean
}

/** Rows of one table, to be written in one statement. */
export interface Changes { table: AnyTable, rows: object[] }

interface Entry {
  /** Absent where the table is known to have no such row. */
  row: object | undefined
  bytes: number
}

class TableRows {
  readonly entries = new Map<Key, Entry>()
  /** What each row became since changes were last taken, the oldest version first. */
  changed = new Map<Key, object[]>()
  bytes = 0
  /** Whether any event reads rows of it: those of other tables are not kept. */
  isRead = false

  /** `isWhole` as long as nothing was forgotten: a row that is not here does not exist then. */
  constructor (public isWhole: boolean) {}
}

/** What an entry takes beside its row. */
const entryBytes = 100

export class MemoryRows implements Rows {
  readonly #tables: Map<AnyTable, TableRows>
  readonly #options: RowsOptions
  /** Of rows that changed and were not taken yet. */
  changedBytes = 0

  constructor (tables: readonly AnyTable[], options: RowsOptions = {}) {
    this.#options = options
    this.#tables = new Map(tables.map((table) => [table, new TableRows(options.isEmpty ?? false)]))
  }

  /** Of all rows that are in memory. */
  get bytes (): number {
    return [...this.#tables.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined {
    // Only rows of `table` are ever stored under it.
    return this.#of(table).entries.get(key)?.row as Row | undefined
  }

  put<Row extends object> (table: Table<Row>, row: Row): void {
    const key = keyOf(table, row)
    if (this.#options.keeps?.(table, key) === false) return
    const rows = this.#of(table)
    const earlier = rows.changed.get(key)
    if (earlier) this.changedBytes -= rows.entries.get(key)?.bytes ?? 0
    this.changedBytes += remember(rows, key, row)
    rows.changed.set(key, earlier && this.#options.everyVersion ? [...earlier, row] : [row])
  }

  /** The keys that have to be loaded before events that read these can be folded. */
  missing (keys: RowKey[]): Map<AnyTable, Set<Key>> {
    const missing = new Map<AnyTable, Set<Key>>()
    for (const [table, key] of keys) {
      const rows = this.#of(table)
      rows.isRead = true
      if (rows.isWhole || rows.entries.has(key)) continue
      const ofTable = missing.get(table) ?? new Set()
      missing.set(table, ofTable.add(key))
    }
    return missing
  }

  /** Keeps what the database has under keys that were missing. */
  loaded (table: AnyTable, keys: Set<Key>, found: object[]): void {
    const rows = this.#of(table)
    for (const key of keys) remember(rows, key, undefined)
    for (const row of found) remember(rows, keyOf(table, row), row)
  }

  /**
   * Takes the changes, to be written in this order. Replayed rows stay in memory until `written`, which comes before
   * the next take.
   */
  take (): Changes[] {
    this.changedBytes = 0
    return [...this.#tables].flatMap(([table, rows]) => {
      const versions = [...rows.changed.values()]
      rows.changed = new Map()
      const most = versions.reduce((longest, { length }) => Math.max(longest, length), 0)
      const nthOfEach = (nth: number) => versions.flatMap((ofRow) => ofRow[nth] ?? [])
      return Array.from({ length: most }, (_, nth) => ({ table, rows: nthOfEach(nth) }))
    })
  }

  /** What was taken is in the database: it is forgotten as far as memory is short. */
  written (): void {
    const { budgetBytes = 0 } = this.#options
    let bytes = 0
    for (const rows of this.#tables.values()) {
      if (!rows.isRead) forget(rows, Infinity)
      bytes += rows.bytes
    }
    const largestFirst = [...this.#tables.values()].sort((one, other) => other.bytes - one.bytes)
    for (const rows of largestFirst) bytes -= forget(rows, bytes - budgetBytes)
  }

  #of (table: AnyTable): TableRows {
    const rows = this.#tables.get(table)
    if (!rows) throw new Error(`${table.name} is no table of this projection`)
    return rows
  }
}

/** @returns the bytes of the row */
function remember (rows: TableRows, key: Key, row: object | undefined): number {
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
function forget (rows: TableRows, bytes: number): number {
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
