// The rows of a projection in memory while events are folded into them.
import type { RowKey, Rows } from './projection.js'
import { keyOf, type AnyTable, type Key, type Table } from './table.js'
import { sizeOf } from '../../src/log/stored.js'

interface RowsOptions {
  /** The tables in the database are empty: a row that was never put does not exist. */
  isEmpty?: boolean
  /** Memory for rows that are in the database, in bytes. */
  budgetBytes?: number
}

/** Changed rows of one table: `created` are not in it, `others` may be. */
export interface Changes { table: AnyTable, created: object[], others: object[] }

export class MemoryRows implements Rows {
  readonly #tables: Map<AnyTable, TableRows>
  readonly #options: RowsOptions
  readonly #presumed: RowKey[] = []

  constructor (tables: readonly AnyTable[], options: RowsOptions = {}) {
    this.#options = options
    this.#tables = new Map(tables.map((table) => [table, new TableRows(options.isEmpty ?? false)]))
  }

  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined {
    // Only rows of `table` are ever stored under it.
    return this.#of(table).entries.get(key)?.row as Row | undefined
  }

  put<Row extends object> (table: Table<Row>, row: Row): void {
    const key = keyOf(table, row)
    const rows = this.#of(table)
    const known = rows.entries.get(key)
    const isCreated = known ? known.row === undefined : rows.isWhole
    const entry = rows.remember(key, row)
    if (entry.isChanged) return
    Object.assign(entry, { isChanged: true, isCreated })
    rows.changed.push(entry)
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

  /** Takes rows that are not in memory for rows that are nowhere, until the next write. */
  presumeAbsent (keys: RowKey[]): void {
    for (const [table, absent] of this.missing(keys)) {
      for (const key of absent) this.#presumed.push([table, key])
      this.loaded(table, absent, [])
    }
  }

  /** Keeps what the database has under keys that were missing. */
  loaded (table: AnyTable, keys: Set<Key>, found: object[]): void {
    const rows = this.#of(table)
    for (const key of keys) rows.remember(key, undefined)
    for (const row of found) rows.remember(keyOf(table, row), row)
  }

  /** The last version of each changed row, to be written before `written` is called. */
  take (): Changes[] {
    return [...this.#tables].flatMap(([table, rows]) => {
      const changes: Changes = { table, created: [], others: [] }
      for (const { row, isCreated } of rows.takeChanged()) {
        if (row) (isCreated ? changes.created : changes.others).push(row)
      }
      return changes.created.length + changes.others.length > 0 ? changes : []
    })
  }

  /** What was taken is in the database: it is forgotten as far as memory is short. */
  written (): void {
    const { budgetBytes = 0 } = this.#options
    for (const [table, key] of this.#presumed.splice(0)) this.#of(table).forgetAbsent(key)
    let bytes = 0
    for (const rows of this.#tables.values()) {
      if (!rows.isRead) rows.forget(Infinity)
      bytes += rows.bytes
    }
    const largestFirst = [...this.#tables.values()].sort((one, other) => other.bytes - one.bytes)
    for (const rows of largestFirst) bytes -= rows.forget(bytes - budgetBytes)
  }

  #of (table: AnyTable): TableRows {
    const rows = this.#tables.get(table)
    if (!rows) throw new Error(`${table.name} is no table of this projection`)
    return rows
  }
}

interface Entry {
  /** Absent where the table is known to have no such row. */
  row: object | undefined
  bytes: number
  /** Since changes were last taken. */
  isChanged: boolean
  /** A changed row that the table does not have. */
  isCreated: boolean
}

/** What an entry takes beside its row. */
const entryBytes = 100

class TableRows {
  readonly entries = new Map<Key, Entry>()
  /** In the order in which they were changed first. */
  changed: Entry[] = []
  bytes = 0
  /** Whether any event reads rows of it: those of other tables are not kept. */
  isRead = false

  /** `isWhole` as long as nothing was forgotten: a row that is not here does not exist then. */
  constructor (public isWhole: boolean) {}

  remember (key: Key, row: object | undefined): Entry {
    const bytes = entryBytes + sizeOf(row)
    const entry = this.entries.get(key) ?? { row, bytes: 0, isChanged: false, isCreated: false }
    if (entry.bytes > 0) this.entries.delete(key) // so that it comes last: the oldest are forgotten first
    this.entries.set(key, entry)
    this.bytes += bytes - entry.bytes
    entry.row = row
    entry.bytes = bytes
    return entry
  }

  /** Nobody knows whether there is such a row, unless one was put. */
  forgetAbsent (key: Key): void {
    const entry = this.entries.get(key)
    if (!entry || entry.row) return
    this.entries.delete(key)
    this.bytes -= entry.bytes
  }

  takeChanged (): Entry[] {
    const taken = this.changed
    this.changed = []
    for (const entry of taken) entry.isChanged = false
    return taken
  }

  /**
   * Forgets the oldest rows that are in the database, until `bytes` are free or none is left.
   * @returns the bytes that are free now
   */
  forget (bytes: number): number {
    let freed = 0
    for (const [key, entry] of this.entries) {
      if (freed >= bytes) break
      if (entry.isChanged) continue
      this.entries.delete(key)
      this.isWhole = false
      freed += entry.bytes
    }
    this.bytes -= freed
    return freed
  }
}
