// Every SQL statement on the table of events.
import pg from 'pg'
import { copiedColumns, copyEvents } from './copied-rows.js'
import {
  metastreamOf, overhead, tombstoneRevision, type Direction, type Identified, type PageSize,
  type RecordedEvent, type StreamPlace
} from './event.js'
import { afterEvent, afterMetadata, type StreamState, untouched } from './stream-state.js'

export type Queryable = Pick<pg.Client, 'query'>

export class EventTable {
  readonly #events: string

  constructor (schema: string) {
    this.#events = `${pg.escapeIdentifier(schema)}.events`
  }

  /** Inserts all events. Inserts none and returns false when the table has any event of the `untouched` streams. */
  async insert (
    on: Queryable, events: readonly RecordedEvent[], untouched: readonly string[] = []
  ): Promise<boolean> {
    const names = columns.map(([name]) => name)
    const parameters = columns.map(([, type], index) => `$${index + 1}::${type}[]`)
    const text = `insert into ${this.#events} (${names.join()}) select * from unnest(${parameters.join()})
      where not exists (select from ${this.#events} where stream = any($${columns.length + 1}::text[]))`
    const values = columns.map(([,, valueOf]) => events.map(valueOf))
    values.push([...untouched, ...untouched.map(metastreamOf)])
    const { rowCount } = await on.query({ name: 'insert', text, values })
    return rowCount !== 0
  }

  /** The position of the last event, 0 for an empty log. */
  async head (on: Queryable): Promise<number> {
    const { rows: [row] } = await on.query<{ head: string | null }>(`select max(position) as head from ${this.#events}`)
    return Number(row?.head ?? 0)
  }

  // Limits a page in bytes, but always returns one row: large events must not fill the memory.
  #page (where: string, order: string, limit: string, bytes: string, shown = '*'): string {
    const size = `${overhead} + octet_length(data) + octet_length(metadata)`
    return `select ${shown} from (
      select *, sum(${size}) over (order by ${order} rows unbounded preceding) - (${size}) as before
      from ${this.#events} where ${where} order by ${order} limit ${limit}
    ) page where before < ${bytes} order by ${order}`
  }

  /** A page of events with from <= position <= to, in that direction; empty only at the end. */
  async readAll (
    on: Pick<pg.Pool, 'connect'>, direction: Direction, from: number, to: number, { events, bytes }: PageSize
  ): Promise<RecordedEvent[]> {
    const [first, last, limit, most] = [from, to, events, bytes].map((value) => String(BigInt(value)))
    const where = `position between ${first} and ${last}` // COPY takes no parameters
    const page = this.#page(where, `position ${order[direction]}`, `${limit}`, `${most}`, copiedColumns)
    return await copyEvents(on, `copy (${page}) to stdout (format binary)`)
  }

  /** A page of one stream with from <= revision <= to, up to `head` in the log. */
  async readStream (
    on: Queryable, stream: string, direction: Direction, from: number, to: number, head: number,
    { events, bytes }: PageSize
  ): Promise<RecordedEvent[]> {
    const where = 'stream = $1 and revision between $2 and $3 and position <= $4'
    const text = this.#page(where, `revision ${order[direction]}`, '$5', '$6')
    const values = [stream, int8Text(from), int8Text(to), head, events, bytes]
    const { rows } = await on.query<Row>({ name: `stream ${direction}`, text, values })
    return rows.map(toEvent)
  }

  /** Events by stream and revision, unordered; omits those that do not exist. */
  async readEach (on: Queryable, targets: readonly StreamPlace[]): Promise<RecordedEvent[]> {
    const text = `
      select e.* from unnest($1::text[], $2::int8[]) t (stream, revision)
      join ${this.#events} e using (stream, revision)`
    const values = [targets.map(({ stream }) => stream), targets.map(({ revision }) => int8Text(revision))]
    const { rows } = await on.query<Row>({ name: 'each', text, values })
    return rows.map(toEvent)
  }

  async idsOf (on: Queryable, stream: string, from: number, to: number): Promise<Map<number, Identified>> {
    const text = `select revision, id, position from ${this.#events} where stream = $1 and revision between $2 and $3`
    const { rows } = await on.query<Row>({ name: 'ids', text, values: [stream, from, to] })
    return new Map(rows.map((row) => [Number(row.revision), { id: row.id, position: Number(row.position) }]))
  }

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

  /** Names of metadata streams after `after`, in order. */
  async metastreams (on: Queryable, after: string, most: number): Promise<string[]> {
    const text = `select distinct stream from ${this.#events}
      where stream > $1 and stream >= '${metastreamOf('')}' and stream < '$%' order by stream limit $2`
    const { rows } = await on.query<{ stream: string }>(text, [after, most])
    return rows.map(({ stream }) => stream)
  }

  /** The streams with a tombstone at after < position <= upTo. */
  async tombstoned (on: Queryable, after: number, upTo: number): Promise<string[]> {
    const text = `select stream from ${this.#events}
      where position > $1 and position <= $2 and revision = 9223372036854775807`
    const { rows } = await on.query<{ stream: string }>(text, [after, upTo])
    return rows.map(({ stream }) => stream)
  }

  /** Streams that have something to remove before a position, and the revision after its last event. */
  async due (on: Queryable, removables: readonly Removable[], before: number): Promise<Map<string, number>> {
    const text = `select r.stream, last.revision from ${removable} cross join lateral (
      select e.revision from ${this.#events} e where ${isRemovable} and e.position < $5
      order by e.revision desc limit 1) last`
    const { rows } = await on.query<{ stream: string, revision: string }>(text, [...valuesOf(removables), before])
    return new Map(rows.map(({ stream, revision }) => [stream, Number(revision) + 1]))
  }

  /**
   * Removes up to `most` events before a position.
   * @returns their positions, and the bytes of their data and metadata
   */
  async remove (on: Queryable, removables: readonly Removable[], before: number, most: number) {
    const text = `delete from ${this.#events} where position = any(array(
        select found.position from ${removable} cross join lateral (
          select e.position from ${this.#events} e where ${isRemovable} and e.position < $5
          order by e.revision limit $6) found limit $6))
      returning position, octet_length(data) + octet_length(metadata) as bytes`
    const values = [...valuesOf(removables), before, most]
    const { rows } = await on.query<{ position: string, bytes: number }>({ name: 'remove', text, values })
    const positions = rows.map(({ position }) => Number(position))
    return { positions, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }
  }
}

const order = { forward: 'asc', backward: 'desc' }

/** Events below `end` that are below `before` or older than `created` (Unix ms). */
export interface Removable { stream: string, end: number, before: number, created: number }

const removable = 'unnest($1::text[], $2::int8[], $3::int8[], $4::int8[]) r (stream, upto, before, created)'
const isRemovable = 'e.stream = r.stream and e.revision < r.upto and (e.revision < r.before or e.created < r.created)'

const valuesOf = (removables: readonly Removable[]) => [
  removables.map(({ stream }) => stream),
  removables.map(({ end }) => int8Text(Math.min(end, tombstoneRevision))),
  removables.map(({ before }) => int8Text(Math.min(before, tombstoneRevision))),
  removables.map(({ created }) => created)
]

/** A row as `pg` returns it. */
interface Row {
  position: string
  stream: string
  revision: string
  id: string
  type: string
  is_json: boolean
  created: string
  metadata: Buffer
  data: Buffer
}

/** Last events of a stream and its metadata stream; null when there is none. */
interface StateRow {
  stream: string
  revision: string | null
  meta_revision: string | null
  meta_is_json: boolean | null
  meta: Buffer | null
}

/** A revision as a query parameter. */
const int8Text = (revision: number) => revision === tombstoneRevision ? '9223372036854775807' : String(revision)

function toRevision (text: string): number {
  const revision = Number(text)
  return Number.isSafeInteger(revision) ? revision : tombstoneRevision
}

function toEvent (row: Row): RecordedEvent {
  return {
    position: Number(row.position),
    stream: row.stream,
    revision: toRevision(row.revision),
    id: row.id,
    type: row.type,
    isJson: row.is_json,
    created: Number(row.created),
    metadata: row.metadata,
    data: row.data
  }
}

function toState (row: StateRow): StreamState {
  const { revision, meta_revision: metaRevision, meta_is_json: isJson, meta } = row
  const state = revision === null ? untouched : afterEvent(untouched, { revision: toRevision(revision) })
  if (metaRevision === null || meta === null) return state
  return afterMetadata(state, { revision: toRevision(metaRevision), isJson: isJson === true, data: meta })
}

/** Columns of an insert. */
const columns: ReadonlyArray<readonly [name: string, type: string, valueOf: (event: RecordedEvent) => unknown]> = [
  ['position', 'int8', (event) => event.position],
  ['stream', 'text', (event) => event.stream],
  ['revision', 'int8', (event) => int8Text(event.revision)],
  ['id', 'uuid', (event) => event.id],
  ['type', 'text', (event) => event.type],
  ['is_json', 'bool', (event) => event.isJson],
  ['created', 'int8', (event) => event.created],
  ['metadata', 'bytea', (event) => event.metadata],
  ['data', 'bytea', (event) => event.data]
]
