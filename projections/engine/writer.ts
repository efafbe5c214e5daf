// Writes batches of events: rows, parked events, effects, checkpoint and notification in one statement.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Batch, Taken } from '../../src/log/follow.js'
import { isAboutData, isTaken } from '../../src/postgres/problems.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { Fenced, movedSql } from '../../src/subscriptions/checkpoint.js'
import { checkpointChannel, checkpointOf, consumerOf, hasSetApartSql, schemaOf } from './generations.js'
import {
  createdBy, fold, HighestIds, loadMissing, type Readable, readEvents, type Unreadable, MemoryRows, type Changes
} from './rows.js'
import type { Projection, Refused, Statement } from './projection.js'
import { columnsOf, insert, table, upsert, type AnyTable } from './table.js'

export interface WriterOptions {
  /** Called before events are parked. If it throws, that part of the batch is not written. */
  refuse (refused: Refused[], position: bigint): Promise<void>
  /** Size of the row cache, in bytes. */
  budgetBytes?: number
}

const usualBudgetBytes = 8 * 2 ** 20

/**
 * State of the generation, cached for one version (xmin) of its checkpoint row. Whoever changes rows or parked events
 * also updates the checkpoint row; a statement that finds another version writes nothing.
 */
interface Known {
  version: string
  rows: MemoryRows
  /** Whether any event is parked or skipped. */
  isApart: boolean
}

/** The result of folding the first `count` events of a part. `parked` includes `refused`. */
interface Folded { count: number, changes: Changes[], parked: Refused[], refused: Refused[] }

/** `position` is the new checkpoint, if something was written; `left` is what to try next. */
interface Attempted { position?: bigint, left: Batch[] }

export class Writer {
  #known: Known | undefined
  /** Inserts the rows of creating events without a look first. If the primary key refuses one, retries with a look. */
  #presumesNew = true
  readonly #ids: HighestIds
  readonly #schema: string
  readonly #consumer: string
  readonly #checkpoint: string
  /** Moves the checkpoint from $2 to $1 if epoch and version are $3 and $4. */
  readonly #moving = (after: number) => `
    WITH moved AS (
      UPDATE ${this.#checkpoint} SET ${movedSql(after)}
      WHERE position = $2 AND epoch = $3 AND xmin = $4::text::xid RETURNING xmin::text AS version
    )`

  /** @param db a pool, or a transaction that holds the checkpoint: a savepoint guards each write in it */
  constructor (
    private readonly projection: Projection, private readonly generation: number,
    private readonly db: Pool | PoolClient, private readonly options: WriterOptions
  ) {
    this.#ids = new HighestIds(projection)
    this.#schema = schemaOf(projection, generation)
    this.#consumer = consumerOf(projection, generation)
    this.#checkpoint = checkpointOf(projection, generation)
  }

  /**
   * Writes the batch and moves the checkpoint from `from` to its end. If Postgres refuses it, or it is too large, tries
   * halves until one event is at fault: that event is parked, with the later events of its stream.
   * @throws Fenced when another holder has the checkpoint; what `refuse` throws
   */
  async write (batch: Batch, from: bigint, epoch: bigint): Promise<void> {
    this.#presumesNew = true
    const refused = new Map<StoredEvent, string>()
    const parts = [batch]
    let position = from
    for (let part = parts.shift(); part; part = parts.shift()) {
      const attempted = await this.#attempt(part, position, epoch, refused)
      position = attempted.position ?? position
      parts.unshift(...attempted.left)
    }
  }

  /** @param refused events that Postgres refused on their own, with its error */
  async #attempt (part: Batch, from: bigint, epoch: bigint, refused: Map<StoredEvent, string>): Promise<Attempted> {
    const { events } = part
    const { effects } = this.projection
    const known = this.#known ?? await this.#look(from, epoch)
    this.#known = undefined // until it is written, rows in memory are ahead of the database
    await effects?.begin(this.db, events, this.#presumesNew)
    try {
      const folded = await this.#fold(events, known, refused)
      if (typeof folded === 'number') return { left: split(part, folded) }
      if (folded.parked.length > 0 && this.#presumesNew) { // what is parked writes no row that proves it was absent
        this.#presumesNew = false
        return { left: [part] }
      }
      const [{ position }, ...left] = split(part, folded.count)
      const parked = [...folded.refused, ...effects?.parked ?? []]
      if (parked.length > 0) await this.options.refuse(parked, position)
      await this.#ids.raise(this.db)
      const version = await this.#save(folded, known, { position, from, epoch, taken: events[folded.count - 1] })
      if (version === undefined) { // somebody else updated the checkpoint row, or a presumption was wrong
        this.#presumesNew = false
        return { left: [part] }
      }
      known.rows.written()
      const isApart = known.isApart || folded.parked.length > 0
      this.#known = { rows: known.rows, version, isApart }
      return { position, left }
    } catch (error) {
      if (isTaken(error) && this.#presumesNew) {
        this.#presumesNew = false
        return { left: [part] }
      }
      if (!isRefusal(error, events)) throw error
      const [event, ...others] = events
      if (!event || refused.has(event)) throw error
      if (others.length === 0) refused.set(event, error.message)
      return { left: split(part, Math.ceil(events.length / 2)) }
    }
  }

  async #look (from: bigint, epoch: bigint): Promise<Known> {
    const { rows: [found] } = await this.db.query<{ version: string, isHeld: boolean, isApart: boolean }>(`
      SELECT xmin::text AS version, position = $3 AND epoch = $4 AS "isHeld", ${hasSetApartSql('$1', '$2')} AS "isApart"
      FROM ${this.#checkpoint}`, [this.#consumer, this.projection.name, from, epoch])
    if (!found?.isHeld) throw new Fenced(`another holder moved ${this.#checkpoint}`)
    const { budgetBytes = usualBudgetBytes } = this.options
    const isEmpty = from === 0n && !this.projection.effects
    return { ...found, rows: new MemoryRows(this.projection.tables, { isEmpty, budgetBytes }) }
  }

  /** @returns a number if the rows that the events read are too large together: so many events fit */
  async #fold (
    events: StoredEvent[], { rows, isApart }: Known, refusedByPostgres: Map<StoredEvent, string>
  ): Promise<Folded | number> {
    const { projection, projection: { effects, name }, db } = this
    const waits = (stored: StoredEvent) => !effects?.isAlone(stored)
    const mayWait = isApart ? events.filter(waits) : []
    const { isSkipped, streams: waiting } = await loadParked(db, this.#consumer, name, mayWait)
    const read = readEvents(projection, events.filter((stored) => !isSkipped(stored)))
    if (this.#presumesNew) rows.presumeAbsent(createdBy(projection, read))
    const count = await loadMissing(projection, db, this.#schema, rows, read)
    const next = read[count]
    if (next) return events.indexOf(next.stored)
    const folded: Folded = { count: events.length, changes: [], parked: [], refused: [] }
    for (const each of read) {
      const { stored } = each
      if (effects?.isFull()) {
        folded.count = events.indexOf(stored)
        break
      }
      const stream = storable(stored.stream)
      if ('event' in each) this.#ids.add(each.event) // parked or not: its ids are in the log
      if (waiting.has(stream) && waits(stored)) {
        folded.parked.push({ stored, error: 'an earlier event of this stream is parked' })
        continue
      }
      const error = this.#foldOne(each, rows, refusedByPostgres)
      if (error !== undefined) {
        waiting.add(stream)
        folded.refused.push({ stored, error })
      }
    }
    folded.changes = rows.take()
    folded.parked.push(...folded.refused, ...effects?.parked ?? [])
    return folded
  }

  /** @returns why the event must be parked, if so */
  #foldOne (
    each: Readable | Unreadable, rows: MemoryRows, refusedByPostgres: Map<StoredEvent, string>
  ): string | undefined {
    const { stored } = each
    const problem = refusedByPostgres.get(stored) ?? ('problem' in each ? each.problem : undefined)
    if (problem === undefined) return 'event' in each ? fold(this.projection, each, rows) : undefined
    return this.projection.effects?.unreadable(stored, problem) ? undefined : problem
  }

  /** @returns the new version of the checkpoint; nothing if it had changed or a presumption was wrong */
  async #save (
    { changes, parked }: Folded, known: Known,
    { position, from, epoch, taken }: Record<'position' | 'from' | 'epoch', bigint> & { taken: Taken | undefined }
  ): Promise<string | undefined> {
    const { effects, tables } = this.projection
    const { name = '', moving = this.#moving, part = '', end = 'SELECT version FROM moved', values: more } =
      effects?.statement() ?? this.#notifying(position, known.isApart || parked.length > 0)
    const values: unknown[] = [position, from, epoch, known.version, ...more]
    const move = moving(values.length)
    values.push(taken?.id, taken?.position)
    const parts: string[] = []
    const kinds: string[] = []
    const write = (table: AnyTable, kind: 'created' | 'others', rows: object[]) => {
      if (rows.length === 0) return
      const sql = (kind === 'created' ? insert : upsert)(this.#schema, table, values.length, 'moved')
      parts.push(`, ${table.name}_${kind} AS (${sql})`)
      kinds.push(`${tables.indexOf(table)}${kind === 'created' ? 'i' : ''}`)
      values.push(...columnsOf(table, rows))
    }
    for (const { table, created, others } of changes) {
      write(table, 'created', created)
      write(table, 'others', others)
    }
    if (parked.length > 0) {
      parts.push(`, parked AS (${insert('ledger', parkedEvents, values.length, 'moved')} ON CONFLICT DO NOTHING)`)
      kinds.push('p')
      values.push(...columnsOf(parkedEvents, parked.map(({ stored: { stream, type: event_type, ...place }, error }) =>
        ({ consumer: this.#consumer, ...place, stream: storable(stream), event_type, error: storable(error) }))))
    }
    const rows = await this.#run({
      name: `write-${this.#schema}-${name}${kinds.join('')}`, // Postgres cuts names after 63 bytes
      text: `${move}${parts.join('')}${part} ${end}`,
      values
    })
    if (rows[0]) effects?.written(rows)
    return rows[0]?.version
  }

  /** With a pool, opens a transaction only if the effects have a `rest`. */
  async #run (statement: { name: string, text: string, values: unknown[] }): Promise<Array<{ version: string }>> {
    const { db } = this
    const rest = this.projection.effects?.rest()
    const run = async (on: Pool | PoolClient) => (await on.query<{ version: string }>(statement)).rows
    const runAll = async (tx: PoolClient) => {
      const rows = await run(tx)
      if (rows.length > 0) await rest?.(tx)
      return rows
    }
    if (isPool(db)) return rest ? await inTransaction(db, runAll) : await run(db)
    await db.query('SAVEPOINT unwritten')
    return await runAll(db).catch(async (error: unknown) => {
      await db.query('ROLLBACK TO SAVEPOINT unwritten')
      throw error
    })
  }

  /** Notifies readers of the new position, if this is the generation that they see. */
  #notifying (position: bigint, isApart: boolean): Statement {
    const { name } = this.projection
    return {
      end: `
        SELECT version, (
          SELECT pg_notify($5, $6) FROM ledger.generations
          WHERE projection = $7 AND generation = $8 AND state = 'active' AND visible_from <= $1) FROM moved`,
      values: [checkpointChannel, `${name} ${position}${isApart ? ' parked' : ''}`, name, this.generation]
    }
  }
}

const isPool = (db: Pool | PoolClient): db is Pool => 'totalCount' in db

/** Splits off the first `count` events. A batch that cannot be split is returned whole, to be tried again. */
function split (batch: Batch, count: number): [Batch, ...Batch[]] {
  const first = batch.events.slice(0, count)
  const last = first.at(-1)
  if (!last || first.length === batch.events.length) return [batch]
  return [{ events: first, position: last.position }, { events: batch.events.slice(count), position: batch.position }]
}

/** A RangeError may mean that a batch exceeds the longest string: then halves fit. With one event it is a bug. */
const isRefusal = (error: unknown, { length }: StoredEvent[]): error is Error =>
  error instanceof RangeError ? length > 1 : isAboutData(error)

const parkedEvents = table({
  name: 'parked_events',
  key: 'stream',
  columns: { consumer: 'text', stream: 'text', revision: 'bigint', position: 'bigint', event_type: 'text', error: 'text' }
})

/** Postgres has no NUL in text. */
export const storable = (text: string) => text.replaceAll('\0', '\\0')

/**
 * Finds which events an operator has skipped on the streams of these, and which of the streams have parked events.
 * @param consumer names the generation, for instance `read_leads_g1`
 */
export async function loadParked (db: Pool | PoolClient, consumer: string, projection: string, events: StoredEvent[]) {
  if (events.length === 0) return { isSkipped: () => false, streams: new Set<string>() }
  const { rows } = await db.query<{ stream: string, revision: string | null }>(`
    WITH wanted AS MATERIALIZED (
      SELECT stream, ledger.digest_of(stream) AS digest FROM (SELECT DISTINCT unnest($3::text[]) AS stream) streams)
    SELECT stream, NULL AS revision FROM wanted WHERE EXISTS (
      SELECT FROM ledger.parked_events parked WHERE consumer = $1 AND parked.stream_digest = wanted.digest)
    UNION ALL
    SELECT wanted.stream, revision FROM wanted JOIN ledger.skipped_events skipped ON skipped.stream_digest = wanted.digest
    WHERE projection = $2`,
  [consumer, projection, events.map(({ stream }) => storable(stream))])
  const skipped = new Set(rows.map(({ stream, revision }) => revision !== null && `${revision}@${stream}`))
  return {
    isSkipped: ({ stream, revision }: StoredEvent) => skipped.has(`${revision}@${storable(stream)}`),
    streams: new Set(rows.flatMap(({ stream, revision }) => revision === null ? [stream] : []))
  }
}
