// The rows of a projection in memory while events are folded into them.
import { type RowKey, type Rows, CannotProject, type Keyed, type Projection } from './projection.js'
import { keyOf, type AnyTable, type Key, type Table, loadRows } from './table.js'
import { sizeOf } from '../../src/log/stored.js'
import { LRUCache } from 'lru-cache'
import type { Pool, PoolClient } from 'pg'
import { tryDecode, type DomainEvent } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'

interface RowsOptions {
  /** The tables in the database are empty: a row that was never put does not exist. */
  isEmpty?: boolean
  /** Memory for rows that are in the database, in bytes. */
  budgetBytes?: number
}

/** Changed rows of one table: `created` are not in it, `others` may be. */
export interface Changes { table: AnyTable, created: object[], others: object[] }

/** A row that events have read or changed since the last write. */
interface Entry {
  /** Absent where the table has no such row, or is presumed to have none. */
  row: object | undefined
  isPresumed?: boolean
  isCached?: boolean
  /** It was changed, and is new to the table or may be in it. */
  change?: 'created' | 'others'
}

interface TableRows {
  entries: Map<Key, Entry>
  /** Nothing was forgotten: a row that is not here does not exist. */
  isWhole: boolean
  /** Whether any event reads rows of it: those of other tables are not kept. */
  isRead: boolean
}

/** What an entry takes beside its row. */
const entryBytes = 100
const nameOf = ({ name }: AnyTable, key: Key) => `${name} ${key}`

export class MemoryRows implements Rows {
  readonly #tables: Map<AnyTable, TableRows>
  /** Rows that are in the database. */
  readonly #cached: LRUCache<string, { rows: TableRows, row: object | undefined }>

  constructor (tables: readonly AnyTable[], { isEmpty = false, budgetBytes = 0 }: RowsOptions = {}) {
    this.#tables = new Map(tables.map((table) =>
      [table, { entries: new Map<Key, Entry>(), isWhole: isEmpty, isRead: false }]))
    this.#cached = new LRUCache({
      maxSize: Math.max(1, budgetBytes),
      dispose: ({ rows }, _name, reason) => { if (reason === 'evict') rows.isWhole = false }
    })
  }

  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined {
    // Only rows of `table` are ever stored under it.
    return this.#find(table, key)?.row as Row | undefined
  }

  put<Row extends object> (table: Table<Row>, row: Row): void {
    const key = keyOf(table, row)
    const known = this.#find(table, key)
    const { entries, isWhole } = this.#of(table)
    const isCreated = known ? known.row === undefined : isWhole
    entries.set(key, { row, change: known?.change ?? (isCreated ? 'created' : 'others') })
  }

  /** The keys that have to be loaded before events that read these can be folded. */
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

  /** Takes rows that are not in memory for rows that are nowhere, until the next write. */
  presumeAbsent (keys: RowKey[]): void {
    for (const [table, absent] of this.missing(keys)) {
      for (const key of absent) this.#of(table).entries.set(key, { row: undefined, isPresumed: true })
    }
  }

  /** Keeps what the database has under keys that were missing. */
  loaded (table: AnyTable, keys: Set<Key>, found: object[]): void {
    const { entries } = this.#of(table)
    for (const key of keys) entries.set(key, { row: undefined })
    for (const row of found) entries.set(keyOf(table, row), { row })
  }

  /** The last version of each changed row, to be written before `written` is called. */
  take (): Changes[] {
    return [...this.#tables].flatMap(([table, { entries }]) => {
      const changes: Changes = { table, created: [], others: [] }
      for (const { row, change } of entries.values()) if (row && change) changes[change].push(row)
      return changes.created.length + changes.others.length > 0 ? changes : []
    })
  }

  /** What was taken is in the database: it is kept as far as there is memory. */
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

/** An event that can be read. */
export interface Readable extends Keyed { stored: StoredEvent }

/** An event that cannot be read, and why. */
export interface Unreadable { stored: StoredEvent, problem: string }

/** What the events say; those whose type is not ours say nothing. */
export function readEvents (projection: Projection, events: StoredEvent[]): Array<Readable | Unreadable> {
  return events.flatMap((stored) => {
    const { event, problem } = tryDecode(stored)
    if (problem !== undefined) return { stored, problem }
    return event ? { stored, event, keys: projection.keys(event, stored) } : []
  })
}

/** The keys of the rows that these bring into the world: mostly there are none yet. */
export const createdBy = ({ creating }: Projection, events: Array<Readable | Unreadable>): RowKey[] =>
  events.flatMap((each) => 'keys' in each && creating?.includes(each.event.type) ? each.keys : [])

/** Small events may read large rows: of a table so much is loaded at once, in bytes. */
const mostLoaded = 4 * 2 ** 20

/**
 * Loads the rows that the events read and that are not in memory, in one statement for each table.
 * @returns for how many of the events: the first ones of them, when the rows of all are too large
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
export function fold (projection: Projection, { stored, event, keys }: Readable, rows: Rows): string | undefined {
  try {
    projection.project(event, stored, new NamedRows(projection, keys, rows))
    return undefined
  } catch (error) {
    if (error instanceof CannotProject) return error.message
    throw error
  }
}

/** A row that was not named was not loaded either: without an error it would look like one that does not exist. */
class NamedRows implements Rows {
  constructor (
    private readonly projection: Projection, private readonly keys: RowKey[], private readonly rows: Rows) {}

  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined {
    const isNamed = this.keys.some((named) => named[0] === table && named[1] === key)
    if (!isNamed) throw new Error(`${this.projection.name} reads ${table.name} ${key}, which its keys do not name`)
    return this.rows.get(table, key)
  }

  put<Row extends object> (table: Table<Row>, row: Row): void {
    this.rows.put(table, row)
  }
}

/** The highest id of each sequence in some events. */
export class HighestIds {
  readonly #highest = new Map<string, number>()
  /** Of each sequence, below which there is nothing to raise: ids are given out in blocks. */
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
