// Folds one event into rows: the only way that rows of a projection change.
import type { Pool, PoolClient } from 'pg'
import { tryDecode, type DomainEvent } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { CannotProject, type Keyed, type Projection, type RowKey, type Rows } from './projection.js'
import type { MemoryRows } from './rows.js'
import { loadRows, type Key, type Table } from './table.js'

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
