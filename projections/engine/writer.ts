// Writes batches of events into one generation: rows, parked events, checkpoint and notification in one statement.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Batch } from '../../src/log/follow.js'
import { isAboutData, isTaken } from '../../src/postgres/problems/about-data.js'
import { Fenced } from '../../src/subscriptions/checkpoint.js'
import { storable } from '../../src/subscriptions/park.js'
import { checkpointOf, schemaOf, checkpointChannel, hasSetApartSql, notifyReadersSql, told } from './generations.js'
import { loadParked } from './parked.js'
import { createdBy, fold, HighestIds, loadMissing, readEvents } from './fold.js'
import type { Projection } from './projection.js'
import { MemoryRows, type Changes } from './rows.js'
import { columnsOf, insert, upsert, type AnyTable } from './table.js'

/** An event that cannot be projected, and why. */
export interface Refused { stored: StoredEvent, error: string }

export interface WriterOptions {
  /** Called before events are parked. What it throws leaves the part of the batch unwritten that they are in. */
  refuse (refused: Refused[], position: bigint): Promise<void>
  /** Memory for rows that events read again and again, in bytes. */
  budgetBytes?: number
  /** Commits do not wait for the disk: a replay makes anew what a crash of Postgres loses. */
  isBulk?: boolean
  /** `db` is a transaction that holds the checkpoint, and goes on after what Postgres refuses. */
  isInTransaction?: boolean
}

const usualBudgetBytes = 8 * 2 ** 20

/**
 * What the process knows of the generation as of one version of its checkpoint row, which everybody changes who changes
 * anything beside it. A statement that finds another version writes nothing.
 */
interface Known {
  version: string
  rows: MemoryRows
  /** Whether any event is parked or skipped. */
  isApart: boolean
}

/** What a part of a batch comes to. */
interface Folded { changes: Changes[], parked: Refused[], refused: Refused[] }

export class Writer {
  #known: Known | undefined
  /** Events that create rows are not looked up: what they create is inserted, and refused where it is there. */
  #presumesNew = true
  readonly #ids: HighestIds
  readonly #schema: string

  constructor (
    private readonly projection: Projection, private readonly generation: number,
    private readonly db: Pool | PoolClient, private readonly options: WriterOptions
  ) {
    this.#ids = new HighestIds(projection)
    this.#schema = schemaOf(projection, generation)
  }

  /**
   * Moves the checkpoint from `from` to the end of the batch. What is too large, or refused by Postgres, is written in
   * halves, until one event is at fault: it is parked, with the later events of its stream.
   * @throws Fenced when another holder has the checkpoint; what `refuse` throws
   */
  async write (batch: Batch, from: bigint, epoch: bigint): Promise<void> {
    this.#presumesNew = true
    const refused = new Map<StoredEvent, string>()
    const parts = [batch]
    let position = from
    for (let part = parts.shift(); part; part = parts.shift()) {
      const left = await this.#attempt(part, position, epoch, refused)
      if (left.length === 0) position = part.position
      parts.unshift(...left)
    }
  }

  /** @returns what is to be tried instead; nothing when the part is written. `refused` are events, by Postgres. */
  async #attempt (part: Batch, from: bigint, epoch: bigint, refused: Map<StoredEvent, string>): Promise<Batch[]> {
    const { events, position } = part
    const known = this.#known ?? await this.#look(from, epoch)
    this.#known = undefined // until it is written, rows in memory are ahead of the database
    const folded = await this.#fold(events, known, refused)
    if (typeof folded === 'number') return split(part, folded)
    if (folded.refused.length > 0) await this.options.refuse(folded.refused, position)
    await this.#ids.raise(this.db)
    try {
      const version = await this.#save(folded, known, { position, from, epoch })
      if (version === undefined) return [part] // somebody changed what is beside the checkpoint
      known.rows.written()
      const isApart = known.isApart || folded.parked.length > 0
      this.#known = { rows: known.rows, version, isApart }
      return []
    } catch (error) {
      if (isTaken(error) && this.#presumesNew) {
        this.#presumesNew = false
        return [part]
      }
      if (!isRefusal(error, events)) throw error
      const [event, ...others] = events
      if (!event || refused.has(event)) throw error
      if (others.length === 0) refused.set(event, error.message)
      return split(part, Math.ceil(events.length / 2))
    }
  }

  async #look (from: bigint, epoch: bigint): Promise<Known> {
    const { rows: [found] } = await this.db.query<{ version: string, isHeld: boolean, isApart: boolean }>(`
      SELECT xmin::text AS version, position = $3 AND epoch = $4 AS "isHeld", ${hasSetApartSql('$1', '$2')} AS "isApart"
      FROM ${checkpointOf(this.projection, this.generation)}`, [this.#schema, this.projection.name, from, epoch])
    if (!found?.isHeld) throw new Fenced(`another holder moved ${checkpointOf(this.projection, this.generation)}`)
    const { budgetBytes = usualBudgetBytes } = this.options
    return { ...found, rows: new MemoryRows(this.projection.tables, { isEmpty: from === 0n, budgetBytes }) }
  }

  /** @returns how many of the events can be folded at once, where the rows that all of them read are too large */
  async #fold (
    events: StoredEvent[], { rows, isApart }: Known, refusedByPostgres: Map<StoredEvent, string>
  ): Promise<Folded | number> {
    const { projection, db } = this
    const { skipped, streams: waiting } = isApart
      ? await loadParked(db, this.#schema, projection.name, events)
      : { skipped: undefined, streams: new Set<string>() }
    const read = readEvents(projection, events.filter((stored) => !skipped?.has(stored)))
    if (this.#presumesNew) rows.presumeAbsent(createdBy(projection, read))
    const count = await loadMissing(db, this.#schema, rows, read)
    const next = read[count]
    if (next) return events.indexOf(next.stored)
    const folded: Folded = { changes: [], parked: [], refused: [] }
    for (const each of read) {
      const { stored } = each
      const stream = storable(stored.stream)
      if (waiting.has(stream)) {
        folded.parked.push({ stored, error: 'an earlier event of this stream is parked' })
        continue
      }
      const error = refusedByPostgres.get(stored) ?? ('problem' in each ? each.problem : fold(projection, each, rows))
      if (error !== undefined) {
        waiting.add(stream)
        folded.refused.push({ stored, error })
      } else if ('event' in each) this.#ids.add(each.event)
    }
    folded.changes = rows.take()
    folded.parked.push(...folded.refused)
    return folded
  }

  /** @returns the new version of the checkpoint; nothing when it was not the known one, and nothing was written */
  async #save (
    { changes, parked }: Folded, known: Known, { position, from, epoch }: Record<'position' | 'from' | 'epoch', bigint>
  ): Promise<string | undefined> {
    const { name } = this.projection
    const payload = told(name, position, known.isApart || parked.length > 0)
    const values: unknown[] = [position, from, epoch, known.version, checkpointChannel, payload, name, this.generation]
    const parts: string[] = []
    const tables: string[] = []
    const write = (table: AnyTable, kind: 'created' | 'others', rows: object[]) => {
      if (rows.length === 0) return
      const sql = (kind === 'created' ? insert : upsert)(this.#schema, table, values.length, 'moved')
      parts.push(`, ${table.name}_${kind} AS (${sql})`)
      tables.push(`${this.projection.tables.indexOf(table)}${kind === 'created' ? 'i' : ''}`)
      values.push(...columnsOf(table, rows))
    }
    for (const { table, created, others } of changes) {
      write(table, 'created', created)
      write(table, 'others', others)
    }
    if (parked.length > 0) {
      parts.push(`, parked AS (${parkSql(values.length)})`)
      tables.push('p')
      values.push(this.#schema, ...columnsOfParked(parked))
    }
    const { isBulk, isInTransaction } = this.options
    if (isBulk) {
      parts.push(", bulk AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))")
      tables.push('b')
    }
    if (isInTransaction) await this.db.query('SAVEPOINT unwritten')
    const { rows: [moved] } = await this.db.query<{ version: string }>({
      name: `write-${this.#schema}-${tables.join('')}`, // Postgres cuts names after 63 bytes
      text: `
        WITH moved AS (
          UPDATE ${checkpointOf(this.projection, this.generation)} SET position = $1, updated_at = now()
          WHERE position = $2 AND epoch = $3 AND xmin = $4::text::xid RETURNING xmin::text AS version
        )${parts.join('')}
        SELECT version, (${notifyReadersSql('$5', '$6', '$7', '$8')})${isBulk ? ', (SELECT 1 FROM bulk)' : ''} FROM moved`,
      values
    }).catch(async (error: unknown) => {
      if (isInTransaction) await this.db.query('ROLLBACK TO SAVEPOINT unwritten')
      throw error
    })
    return moved?.version
  }
}

/** The first events of the batch, and the others. A single event is tried again. */
function split (batch: Batch, count: number): Batch[] {
  const first = batch.events.slice(0, count)
  const last = first.at(-1)
  if (!last || first.length === batch.events.length) return [batch]
  return [{ events: first, position: last.position }, { events: batch.events.slice(count), position: batch.position }]
}

/** A RangeError may be a batch whose text is longer than a string can be: halves fit. Of one event it is a bug. */
const isRefusal = (error: unknown, { length }: StoredEvent[]): error is Error =>
  error instanceof RangeError ? length > 1 : isAboutData(error)

const parkSql = (after: number) => `
  INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
  SELECT $${after + 1}, event.* FROM moved, unnest($${after + 2}::text[], $${after + 3}::bigint[], $${after + 4}::bigint[],
    $${after + 5}::text[], $${after + 6}::text[]) AS event
  ON CONFLICT DO NOTHING`

const columnsOfParked = (parked: Refused[]): unknown[] => [
  parked.map(({ stored }) => storable(stored.stream)), parked.map(({ stored }) => stored.revision),
  parked.map(({ stored }) => stored.position), parked.map(({ stored }) => stored.type),
  parked.map(({ error }) => storable(error))
]
