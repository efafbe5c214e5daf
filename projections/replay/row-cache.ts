// The rows of a generation while it is folded in memory: written back in bulk, forgotten when there are too many.
import { sizeOf } from '../../src/event-store/size.js'
import type { Rows, RowKey } from '../engine/projection.js'
import { keyOf, type AnyTable, type Key, type Table } from '../engine/table.js'

interface Entry {
  /** None where the table is known to have no such row. */
  row: object | undefined
  bytes: number
  isDirty: boolean
}

class CachedTable {
  readonly entries = new Map<Key, Entry>()
  dirty = new Map<Key, Entry>()
  bytes = 0
  /** Whether any event asks for rows of it; those of other tables are not kept. */
  isRead = false

  /** `isWhole` as long as nothing was forgotten: what is not here then does not exist. */
  constructor (public isWhole: boolean) {}
}

/** Rows that changed since they were last taken. */
export interface Changes { table: AnyTable, rows: object[] }

/** What a row takes beside its own size: its place in maps. */
const entryBytes = 100

export class RowCache implements Rows {
  readonly #tables: Map<AnyTable, CachedTable>
  /** Of rows that are not taken yet. */
  dirtyBytes = 0

  /** `isEmpty` when the tables in the database are empty as well. */
  constructor (tables: readonly AnyTable[], isEmpty: boolean, private readonly budgetBytes: number) {
    this.#tables = new Map(tables.map((table) => [table, new CachedTable(isEmpty)]))
  }

  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined {
    // Only rows of `table` are ever stored under it.
    return this.#of(table).entries.get(key)?.row as Row | undefined
  }

  put<Row extends object> (table: Table<Row>, row: Row): void {
    const key = keyOf(table, row)
    const { dirty } = this.#of(table)
    this.dirtyBytes -= dirty.get(key)?.bytes ?? 0
    const entry = this.#remember(table, key, row, true)
    this.dirtyBytes += entry.bytes
    dirty.set(key, entry)
  }

  /** The rows that have to be loaded before events that touch these can be folded. */
  missing (touched: RowKey[]): Map<AnyTable, Set<Key>> {
    const missing = new Map<AnyTable, Set<Key>>()
    for (const [table, key] of touched) {
      const cached = this.#of(table)
      cached.isRead = true
      if (cached.isWhole || cached.entries.has(key)) continue
      const keys = missing.get(table) ?? new Set()
      missing.set(table, keys.add(key))
    }
    return missing
  }

  /** Keeps what was found under keys that were missing. */
  loaded (table: AnyTable, keys: Set<Key>, rows: object[]): void {
    for (const key of keys) this.#remember(table, key, undefined, false)
    for (const row of rows) this.#remember(table, keyOf(table, row), row, false)
  }

  /** Takes the changes, to be written. They stay here until `written`, which has to come before the next are taken. */
  take (): Changes[] {
    this.dirtyBytes = 0
    return [...this.#tables].map(([table, cached]) => {
      const rows: object[] = []
      for (const entry of cached.dirty.values()) {
        entry.isDirty = false
        if (entry.row) rows.push(entry.row)
      }
      cached.dirty = new Map()
      return { table, rows }
    })
  }

  /** What was taken is in the database: it may be forgotten, as far as memory is short. */
  written (): void {
    let bytes = 0
    for (const cached of this.#tables.values()) {
      if (!cached.isRead) forget(cached, Infinity)
      bytes += cached.bytes
    }
    const largestFirst = [...this.#tables.values()].sort((one, other) => other.bytes - one.bytes)
    for (const cached of largestFirst) bytes -= forget(cached, bytes - this.budgetBytes)
  }

  #of (table: AnyTable): CachedTable {
    const cached = this.#tables.get(table)
    if (!cached) throw new Error(`${table.name} is no table of this projection`)
    return cached
  }

  #remember (table: AnyTable, key: Key, row: object | undefined, isDirty: boolean): Entry {
    const cached = this.#of(table)
    const entry = { row, isDirty, bytes: entryBytes + sizeOf(row) }
    cached.bytes += entry.bytes - (cached.entries.get(key)?.bytes ?? 0)
    cached.entries.delete(key) // so that it comes last: the oldest are forgotten first
    cached.entries.set(key, entry)
    return entry
  }
}

/** Forgets the oldest rows that are in the database, `bytes` of them if there are as many; answers how many. */
function forget (cached: CachedTable, bytes: number): number {
  let forgotten = 0
  for (const [key, entry] of cached.entries) {
    if (forgotten >= bytes) break
    if (entry.isDirty) continue
    cached.entries.delete(key)
    cached.isWhole = false
    forgotten += entry.bytes
  }
  cached.bytes -= forgotten
  return forgotten
}
