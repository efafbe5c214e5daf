// Every statement on the table of events.
import pg from 'pg'
import { columns } from './columns.js'
import { copiedColumns, CopiedEvents } from './copied-event.js'
import { copyOut } from './copy-out.js'
import { type Identified, metastreamOf, type RecordedEvent, type StreamPlace } from '../event.js'
import { mostAtOnce, partsOf } from '../turns.js'
import { overhead } from '../weight.js'
import type { Direction, PageSize } from '../range.js'
import { int8, type Row, type StateRow, toEvent, toState } from './row.js'
import type { StreamState } from '../stream-state.js'

type Queryable = Pick<pg.Client, 'query'>

export class EventTable {
  readonly #events: string

  constructor (schema: string) {
    this.#events = `${pg.escapeIdentifier(schema)}.events`
  }

  /**
   * Inserts all of them with one commit; very many in several statements, so that reads have their turn between.
   * Inserts none, and answers false, when the table has anything of the streams that are to be untouched.
   */
  async insert (
    on: Queryable, events: readonly RecordedEvent[], untouched: readonly string[] = []
  ): Promise<boolean> {
    if (events.length <= mostAtOnce) return await this.#insert(on, events, untouched)
    await on.query('begin')
    try {
      const [first = [], ...others] = partsOf(events)
      const isInserted = await this.#insert(on, first, untouched)
      if (isInserted) for (const part of others) await this.#insert(on, part, [])
      await on.query(isInserted ? 'commit' : 'rollback')
      return isInserted
    } catch (error) {
      await on.query('rollback').catch(() => {}) // it fails when the connection is gone, and nothing is committed
      throw error
    }
  }

  async #insert (on: Queryable, events: readonly RecordedEvent[], untouched: readonly string[]): Promise<boolean> {
    const names = columns.map(({ name }) => name)
    const parameters = columns.map(({ type }, index) => `$${index + 1}::${type}[]`)
    const text = `insert into ${this.#events} (${names.join()}) select * from unnest(${parameters.join()})
      where not exists (select from ${this.#events} where stream = any($${columns.length + 1}::text[]))`
    const values = [...columns.map(({ arrayOf }) => arrayOf(events)), [...untouched, ...untouched.map(metastreamOf)]]
    const { rowCount } = await on.query({ name: 'insert', text, values })
    return rowCount !== 0
  }

  /** The position of the last event, 0 for an empty log. */
  async head (on: Queryable): Promise<number> {
    const { rows: [row] } = await on.query<{ head: string | null }>(`select max(position) as head from ${this.#events}`)
    return Number(row?.head ?? 0)
  }

  // Rows of a page until they weigh too much, but always one: large events must not fill the memory.
  #page (where: string, order: string, limit: string, bytes: string, shown = '*'): string {
    const size = `${overhead} + octet_length(data) + octet_length(metadata)`
    return `select ${shown} from (
      select *, sum(${size}) over (order by ${order} rows unbounded preceding) - (${size}) as before
      from ${this.#events} where ${where} order by ${order} limit ${limit}
    ) page where before < ${bytes} order by ${order}`
  }

  /** A page of the events with from <= position <= to, in that direction; empty only at the end. */
  async readAll (
    on: Pick<pg.Pool, 'connect'>, direction: Direction, from: number, to: number, { events, bytes }: PageSize
  ): Promise<RecordedEvent[]> {
    const [first, last, limit, most] = [from, to, events, bytes].map((value) => String(BigInt(value)))
    const where = `position between ${first} and ${last}` // a copy takes no parameters
    const page = this.#page(where, `position ${order[direction]}`, `${limit}`, `${most}`, copiedColumns)
    const copied = new CopiedEvents()
    await copyOut(on, `copy (${page}) to stdout (format binary)`, (buffer, from) => {
      copied.add(buffer, from)
    })
    return copied.events
  }

  /** A page of the events of one stream with from <= revision <= to, no further than `head` in the log. */
  async readStream (
    on: Queryable, stream: string, direction: Direction, from: number, to: number, head: number,
    { events, bytes }: PageSize
  ): Promise<RecordedEvent[]> {
    const where = 'stream = $1 and revision between $2 and $3 and position <= $4'
    const text = this.#page(where, `revision ${order[direction]}`, '$5', '$6')
    const values = [stream, int8(from), int8(to), head, events, bytes]
    const { rows } = await on.query<Row>({ name: `stream ${direction}`, text, values })
    return rows.map(toEvent)
  }

  /** Events by stream and revision, in no order; those that do not exist are left out. */
  async readEach (on: Queryable, targets: readonly StreamPlace[]): Promise<RecordedEvent[]> {
    const text = `
      select e.* from unnest($1::text[], $2::int8[]) t (stream, revision)
      join ${this.#events} e using (stream, revision)`
    const values = [targets.map(({ stream }) => stream), targets.map(({ revision }) => int8(revision))]
    const { rows } = await on.query<Row>({ name: 'each', text, values })
    return rows.map(toEvent)
  }

  /** The ids at some revisions of a stream. */
  async idsOf (on: Queryable, stream: string, from: number, to: number): Promise<Map<number, Identified>> {
    const text = `select revision, id, position from ${this.#events} where stream = $1 and revision between $2 and $3`
    const { rows } = await on.query<Row>({ name: 'ids', text, values: [stream, from, to] })
    return new Map(rows.map((row) => [Number(row.revision), { id: row.id, position: Number(row.position) }]))
  }

  /** The states of these streams. */
  async states (on: Queryable, streams: readonly string[]): Promise<Map<string, StreamState>> {
    const last = (stream: string, columns: string) => `left join lateral (
      select ${columns} from ${this.#events} where stream = ${stream} order by revision desc limit 1)`
    const text = `select s.stream, e.revision, m.revision as meta_revision, m.is_json as meta_is_json, m.data as meta
      from unnest($1::text[], $2::text[]) s (stream, metastream)
      ${last('s.stream', 'revision')} e on true
      ${last('s.metastream', 'revision, is_json, data')} m on true`
    const { rows } = await on.query<StateRow>({ name: 'states', text, values: [streams, streams.map(metastreamOf)] })
    return new Map(rows.map((row) => [row.stream, toState(row)]))
  }
}

const order = { forward: 'asc', backward: 'desc' }
