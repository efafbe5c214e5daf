// The rows of a projection in memory, while events are folded into them: for a batch, for a replay and for a sample.
import type { RowKey, Rows } from './projection.js'
import { keyOf, type AnyTable, type Key, type Table } from './table.js'
import { sizeOf } from '../../src/log/stored.js'

export interface RowsOptions {
  /** The tables in the database are empty: a row that was never put does not exist. */
  isEmpty?: boolean
  /** Memory for rows that are in the database, in bytes. */
  budgetBytes?: number
  /** Every version of a row is written: whether Postgres takes an event then does not depend on the events after it. */
  everyVersion?: boolean
  /** A row of a table that is mostly new is taken for new where nobody has read it. */
  presumesNew?: boolean
  /** Which rows are kept; all of them when absent. */
  keeps? (table: AnyTable, key: Key): boolean
}

/** Rows of one table, to be written in one statement. */
export interface Changes { table: AnyTable, rows: object[] }

/** Rows of one table: those that are not in it yet, as far as is known, apart from those that may be. */
export interface Split { table: AnyTable, fresh: object[], others: object[] }

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
    const known = rows.entries.get(key)
    const former = known?.isChanged ? { row: known.row, bytes: known.bytes } : undefined
    const isFresh = known?.isChanged ? known.isFresh : this.#isNew(table, rows, known)
    const entry = remember(rows, key, row)
    this.changedBytes += entry.bytes - (former?.bytes ?? 0)
    entry.isFresh = isFresh
    if (!former) rows.changed.push(entry)
    else if (this.#options.everyVersion && former.row) entry.earlier = [...entry.earlier ?? [], former.row]
    entry.isChanged = true
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

  /** Takes rows that are not in memory for rows that are nowhere. @returns those */
  presumeAbsent (keys: RowKey[]): Map<AnyTable, Set<Key>> {
    const presumed = this.missing(keys)
    for (const [table, absent] of presumed) this.loaded(table, absent, [])
    return presumed
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
    return this.#takeEach().flatMap(({ table, changed }) => {
      const versions = changed.map(({ earlier = [], row }) => row ? [...earlier, row] : earlier)
      for (const entry of changed) entry.earlier = undefined
      const most = versions.reduce((longest, { length }) => Math.max(longest, length), 0)
      const nthOfEach = (nth: number) => versions.flatMap((ofRow) => ofRow[nth] ?? [])
      return Array.from({ length: most }, (_, nth) => ({ table, rows: nthOfEach(nth) }))
    })
  }

  /** As `take`, where only the last version of each row is written. */
  takeSplit (): Split[] {
    return this.#takeEach().map(({ table, changed }) => {
      const split: Split = { table, fresh: [], others: [] }
      for (const { row, isFresh } of changed) if (row) (isFresh ? split.fresh : split.others).push(row)
      return split
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

  #takeEach (): Array<{ table: AnyTable, changed: Entry[] }> {
    this.changedBytes = 0
    const taken = [...this.#tables].map(([table, rows]) => ({ table, changed: rows.takeChanged() }))
    return taken.filter(({ changed }) => changed.length > 0)
  }

  #isNew (table: AnyTable, rows: TableRows, known: Entry | undefined): boolean {
    if (known) return known.row === undefined
    return rows.isWhole || (this.#options.presumesNew === true && table.isMostlyNew === true)
  }

  #of (table: AnyTable): TableRows {
    const rows = this.#tables.get(table)
    if (!rows) throw new Error(`${table.name} is no table of this projection`)
    return rows
  }
}

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
