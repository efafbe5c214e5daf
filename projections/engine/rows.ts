// The rows of a projection in memory while events are folded into them.
import { type RowKey, type Rows, CannotProject, type Keyed, type Projection } from './projection.js'
import { keyOf, type AnyTable, type Key, type Table, loadRows } from './table.js'
import { sizeOf } from '../../src/log/stored.js'
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
