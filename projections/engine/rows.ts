// The rows of a projection in memory while events are folded into them.
import { type RowKey, type Rows, CannotProject, type Keyed, type Projection } from './projection.js'
import { keyOf, type AnyTable, type Key, type Table, loadRows } from './table.js'
import { sizeOf } from '../../src/log/stored.js'
import { LRUCache } from 'lru-cache'
import type { Pool, PoolClient } from 'pg'
import { tryDecode, type DomainEvent } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'

/** Changed rows of one table: `created` are not in it, `others` may be. */
export interface Changes { table: AnyTable, created: object[], others: object[] }

/** A row that events have read or changed since the last write. */
interface Entry {
  /** Absent where the table has no such row, or is presumed to have none. */
  row: object | undefined
  isPresumed?: boolean
  isCached?: boolean
  /** Set once the row changed: `created` if the table surely lacks it. */
  change?: 'created' | 'others'
}

interface TableRows {
  entries: Map<Key, Entry>
  /** Nothing was evicted: a row that is not here does not exist. */
  isWhole: boolean
  /** Some event reads rows of it. Rows of other tables are not cached. */
  isRead: boolean
}

/** Memory of a cache entry besides its row. */
const entryBytes = 100
const nameOf = ({ name }: AnyTable, key: Key) => `${name} ${key}`

export class MemoryRows implements Rows {
  readonly #tables: Map<AnyTable, TableRows>
  /** Rows that are in the database. */
  readonly #cached: LRUCache<string, { rows: TableRows, row: object | undefined }>

  /**
   * @param isEmpty the tables in the database are empty: a row that was never put does not exist
   * @param budgetBytes size of the cache of rows that are in the database
   */
  constructor (tables: readonly AnyTable[], { isEmpty = false, budgetBytes = 0 } = {}) {
    this.#tables = new Map(tables.map((table) =>
      [table, { entries: new Map<Key, Entry>(), isWhole: isEmpty, isRead: false }]))
    this.#cached = new LRUCache({
      maxSize: Math.max(1, budgetBytes),
      dispose: ({ rows }, _name, reason) => { if (reason === 'evict') rows.isWhole = false }
    })
  }

  /** @throws for a row that was not loaded, as no key names it: it would look absent */
  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined {
    const found = this.#find(table, key)
    if (!found && !this.#of(table).isWhole) throw new Error(`${table.name} ${key} is read, which no key names`)
    // Only rows of `table` are ever stored under it.
    return found?.row as Row | undefined
  }

  put<Row extends object> (table: Table<Row>, row: Row): void {
    const key = keyOf(table, row)
    const known = this.#find(table, key)
    const { entries, isWhole } = this.#of(table)
    const isCreated = known ? known.row === undefined : isWhole
    entries.set(key, { row, change: known?.change ?? (isCreated ? 'created' : 'others') })
  }

  /** The keys that must be loaded before events that read `keys` can be folded. */
  missing (keys: RowKey[]): Map<AnyTable, Set<Key>> {
    const missing = new Map<AnyTable, Set<Key>>()
    for (const [table, key] of keys) {
      const rows = this.#of(table)
      rows.isRead = true
      if (this.#find(table, key) || rows.isWhole) continue
      missing.set(table, (missing.get(table) ?? new Set()).add(key))
    }
    return missing
  }

  /** Presumes that the database has no such rows, unless they are in memory. Holds until the next write. */
  presumeAbsent (keys: RowKey[]): void {
    for (const [table, absent] of this.missing(keys)) {
      for (const key of absent) this.#of(table).entries.set(key, { row: undefined, isPresumed: true })
    }
  }

  /** Stores the rows found under missing keys; a key without a row is noted as absent. */
  loaded (table: AnyTable, keys: Set<Key>, found: object[]): void {
    const { entries } = this.#of(table)
    for (const key of keys) entries.set(key, { row: undefined })
    for (const row of found) entries.set(keyOf(table, row), { row })
  }

  /** The last version of each changed row. The caller writes them, then calls `written`. */
  take (): Changes[] {
    return [...this.#tables].flatMap(([table, { entries }]) => {
      const changes: Changes = { table, created: [], others: [] }
      for (const { row, change } of entries.values()) if (row && change) changes[change].push(row)
      return changes.created.length + changes.others.length > 0 ? changes : []
    })
  }

  /** Caches the rows, which are now in the database, as far as the budget allows. */
  written (): void {
    for (const [table, rows] of this.#tables) {
      for (const [key, { row, isPresumed, isCached }] of rows.isRead ? rows.entries : []) {
        if (isCached || (isPresumed && !row)) continue
        const size = entryBytes + sizeOf(row)
        const isKept = size <= this.#cached.maxSize
        if (isKept) this.#cached.set(nameOf(table, key), { rows, row }, { size })
        else this.#cached.delete(nameOf(table, key))
        rows.isWhole &&= isKept
      }
      rows.isWhole &&= rows.isRead || rows.entries.size === 0
      rows.entries.clear()
    }
  }

  #find (table: AnyTable, key: Key): Entry | undefined {
    const { entries, isRead } = this.#of(table)
    const known = entries.get(key)
    const cached = known || !isRead ? undefined : this.#cached.get(nameOf(table, key))
    if (!cached) return known
    const entry = { row: cached.row, isCached: true }
    entries.set(key, entry)
    return entry
  }

  #of (table: AnyTable): TableRows {
    const rows = this.#tables.get(table)
    if (!rows) throw new Error(`${table.name} is no table of this projection`)
    return rows
  }
}

export interface Readable extends Keyed { stored: StoredEvent }

export interface Unreadable { stored: StoredEvent, problem: string }

/** Decodes the events, and leaves out those of unknown types. */
export function readEvents (projection: Projection, events: StoredEvent[]): Array<Readable | Unreadable> {
  return events.flatMap((stored) => {
    const { event, problem } = tryDecode(stored)
    if (problem !== undefined) return { stored, problem }
    return event ? { stored, event, keys: projection.keys(event, stored) } : []
  })
}

/** The keys of creating events: the database mostly has no such rows yet. */
export const createdBy = ({ creating }: Projection, events: Array<Readable | Unreadable>): RowKey[] =>
  events.flatMap((each) => 'keys' in each && creating?.includes(each.event.type) ? each.keys : [])

/** Bytes that are loaded from a table at once: small events may read large rows. */
const mostLoaded = 4 * 2 ** 20

/**
 * Loads the rows that the events read and that are not in memory, in one statement for each table.
 * @returns for how many events it did: only for the first ones if the rows of all are too large
 */
export async function loadMissing (
  { keysBehind }: Projection, db: Pool | PoolClient, schema: string, rows: MemoryRows,
  events: Array<Readable | Unreadable>
): Promise<number> {
  const count = await loadNamed(db, schema, rows, events)
  if (!keysBehind || count < events.length) return count
  keysBehind(events.filter((each) => 'keys' in each), rows)
  return await loadNamed(db, schema, rows, events)
}

async function loadNamed (
  db: Pool | PoolClient, schema: string, rows: MemoryRows, events: Array<Readable | Unreadable>
): Promise<number> {
  const keys = events.flatMap((each) => 'keys' in each ? each.keys : [])
  for (const [table, missing] of rows.missing(keys)) {
    const found = await loadRows(db, schema, table, [...missing], events.length > 1 ? mostLoaded : Infinity)
    if (!found) return await loadNamed(db, schema, rows, events.slice(0, Math.ceil(events.length / 2)))
    rows.loaded(table, missing, found)
  }
  return events.length
}

/** Folds the event. @returns why it cannot be projected, if so; then it changed no row */
export function fold (projection: Projection, { stored, event }: Readable, rows: Rows): string | undefined {
  try {
    projection.project(event, stored, rows)
    return undefined
  } catch (error) {
    if (error instanceof CannotProject) return error.message
    throw error
  }
}

/** The highest id of each sequence in some events. */
export class HighestIds {
  readonly #highest = new Map<string, number>()
  /** By sequence, the end of the last block of ids given out: up to there it needs no raise. */
  readonly #given = new Map<string, number>()

  constructor (private readonly projection: Projection) {}

  add (event: DomainEvent): void {
    const seen = this.projection.idsSeen?.(event)
    if (seen) this.#highest.set(seen.sequence, Math.max(seen.id, this.#highest.get(seen.sequence) ?? 0))
  }

  /** Raises the sequences past them. */
  async raise (db: Pool | PoolClient): Promise<void> {
    for (const [sequence, id] of this.#highest) {
      if (id <= (this.#given.get(sequence) ?? 0)) continue
      const { rows: [raised] } = await db.query<{ given: string }>(`
        WITH raised AS MATERIALIZED (SELECT ledger.raise_ids($1::regclass, $2))
        SELECT ledger.given_ids($1::regclass) AS given FROM raised`, [sequence, id])
      this.#given.set(sequence, Number(raised?.given ?? 0))
    }
    this.#highest.clear()
  }
}
