// Writes a batch in one statement: rows, checkpoint and notification, while nobody else touches the generation.
import type { Pool } from 'pg'
import type { Batch } from '../../src/log/follow.js'
import { isTaken } from '../../src/postgres/problems/about-data.js'
import { checkpointOf, schemaOf } from '../generations/generations.js'
import { storable } from '../../src/subscriptions/park.js'
import { createdBy, fold, loadMissing, readEvents, HighestIds } from './fold.js'
import type { Projection } from './projection.js'
import { checkpointChannel, notifyReadersSql, told } from '../generations/readers.js'
import { MemoryRows, type Changes } from './rows.js'
import { columnsOf, insert, keyOf, upsert, type AnyTable, type Key } from './table.js'

/** For rows that events read again and again, in bytes. */
const budgetBytes = 8 * 2 ** 20

/**
 * What the process knows of the generation as of one version of its checkpoint row, which everybody changes who changes
 * anything beside it. A statement that finds another version writes nothing.
 */
interface Known {
  version: string
  rows: MemoryRows
  /** Streams with events that are parked or skipped. */
  setApart: Set<string>
}

/** With more streams than these set apart, batches are written in a transaction. */
const mostSetApart = 100

/** Rows of one table that are written: those that are inserted were not looked for, and may not be there. */
interface Part extends Changes { isInserted: boolean }

export class AtOnce {
  #known: Known | undefined
  readonly #ids: HighestIds
  readonly #schema: string
  readonly #checkpoint: string

  constructor (
    private readonly projection: Projection, private readonly generation: number, private readonly pool: Pool
  ) {
    this.#ids = new HighestIds(projection)
    this.#schema = schemaOf(projection, generation)
    this.#checkpoint = checkpointOf(projection, generation)
  }

  /**
   * Writes the batch, if none is set apart or has to be, no row changes twice, and what it creates is new.
   * @returns whether it was written: otherwise nothing was
   */
  async write ({ events, position }: Batch, from: bigint, epoch: bigint): Promise<boolean> {
    const known = this.#known ?? await this.#look()
    this.#known = undefined // until it is written, rows in memory are ahead of the database
    if (!known || events.some(({ stream }) => known.setApart.has(storable(stream)))) return false
    const changes = await this.#fold(events, known.rows)
    if (!changes) return false
    const payload = told(this.projection.name, position, known.setApart.size > 0)
    const version = await this.#save(changes, [position, from, epoch, known.version], payload)
    if (version === undefined) return false
    known.rows.written()
    this.#known = { ...known, version }
    return true
  }

  async #look (): Promise<Known | undefined> {
    const { rows } = await this.pool.query<{ version: string, stream: string | null }>(`
      SELECT checkpoint.xmin::text AS version, stream FROM ${this.#checkpoint} LEFT JOIN (
        SELECT stream FROM ledger.parked_events WHERE consumer = $1
        UNION SELECT stream FROM ledger.skipped_events WHERE projection = $2
        LIMIT $3
      ) set_apart ON true`, [this.#schema, this.projection.name, mostSetApart + 1])
    const [found] = rows
    if (!found || rows.length > mostSetApart) return undefined
    const memory = new MemoryRows(this.projection.tables, { everyVersion: true, budgetBytes })
    return { version: found.version, rows: memory, setApart: new Set(rows.flatMap(({ stream }) => stream ?? [])) }
  }

  async #fold (events: Batch['events'], rows: MemoryRows): Promise<Part[] | undefined> {
    const read = readEvents(this.projection, events)
    const absent = rows.presumeAbsent(createdBy(this.projection, read))
    if (await loadMissing(this.pool, this.#schema, rows, read) < read.length) return undefined
    for (const each of read) {
      if ('problem' in each || fold(this.projection, each, rows) !== undefined) return undefined
      this.#ids.add(each.event)
    }
    await this.#ids.raise(this.pool)
    const changes = rows.take()
    const tables = new Set(changes.map(({ table }) => table))
    return tables.size === changes.length ? changes.flatMap((each) => partsOf(each, absent.get(each.table))) : undefined
  }

  /** @returns the new version, or nothing when it was not `moves[3]` any more, or what is inserted is there */
  async #save (changes: Part[], moves: unknown[], payload: string): Promise<string | undefined> {
    const { name } = this.projection
    const values = [...moves, checkpointChannel, payload, name, this.generation]
    const parts: string[] = []
    for (const { table, rows, isInserted } of changes) {
      const write = isInserted ? insert : upsert
      parts.push(`, ${partName(table, isInserted)} AS (${write(this.#schema, table, values.length, 'moved')})`)
      values.push(...columnsOf(table, rows))
    }
    const written = changes.map(({ table, isInserted }) =>
      `${this.projection.tables.indexOf(table)}${isInserted ? 'i' : ''}`)
    const { rows: [moved] } = await this.pool.query<{ version: string }>({
      name: nameOf(this.#schema, written),
      text: `
        WITH moved AS (
          UPDATE ${this.#checkpoint} SET position = $1, updated_at = now()
          WHERE position = $2 AND epoch = $3 AND xmin = $4::text::xid RETURNING xmin::text AS version
        )${parts.join('')}
        SELECT version, (${notifyReadersSql('$5', '$6', '$7', '$8')}) FROM moved`,
      values
    }).catch((error: unknown) => {
      if (isTaken(error)) return { rows: [] }
      throw error
    })
    return moved?.version
  }
}

function partsOf ({ table, rows }: Changes, absent: ReadonlySet<Key> = new Set()): Part[] {
  const inserted = rows.filter((row) => absent.has(keyOf(table, row)))
  const others = rows.filter((row) => !absent.has(keyOf(table, row)))
  const parts = [{ table, rows: inserted, isInserted: true }, { table, rows: others, isInserted: false }]
  return parts.filter(({ rows }) => rows.length > 0)
}

const partName = ({ name }: AnyTable, isInserted: boolean) => `${name}_${isInserted ? 'inserted' : 'saved'}`

/** Of the prepared statement, which writes these tables: Postgres cuts names after 63 bytes. */
const nameOf = (schema: string, tables: string[]) => ['at-once', schema, ...tables].join('-')
