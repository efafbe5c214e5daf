// Every statement on the table of events, and the way from a row to an event and back.
import pg from 'pg'
import { boolArray, byteaArray, int8Array, textArray, uuidArray } from './binary-array.js'
import { metastreamOf, type RecordedEvent, tombstoneRevision } from './event.js'
import { overhead } from './portion.js'
import type { Direction, PageSize } from './range.js'
import { afterEvent, afterMetadata, type StreamState, untouched } from './stream-state.js'

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

interface StateRow {
  stream: string
  revision: string | null
  meta_revision: string | null
  meta_is_json: boolean | null
  meta: Buffer | null
}

type Queryable = Pick<pg.Client, 'query'>

export class EventTable {
  readonly #events: string

  constructor (schema: string) {
    this.#events = `${pg.escapeIdentifier(schema)}.events`
  }

  /** Inserts all of them in one statement, which is one commit. */
  async insert (on: Queryable, events: readonly RecordedEvent[]): Promise<void> {
    const text = `insert into ${this.#events} (position, stream, revision, id, type, is_json, created, metadata, data)
      select * from unnest($1::int8[], $2::text[], $3::int8[], $4::uuid[], $5::text[], $6::bool[], $7::int8[], $8::bytea[], $9::bytea[])`
    const column = <T>(of: (event: RecordedEvent) => T) => events.map(of)
    await on.query({
      name: 'insert',
      text,
      values: [
        int8Array(column((e) => e.position)), textArray(column((e) => e.stream)), int8Array(column((e) => e.revision)),
        uuidArray(column((e) => e.id)), textArray(column((e) => e.type)), boolArray(column((e) => e.isJson)),
        int8Array(column((e) => e.created)), byteaArray(column((e) => e.metadata)), byteaArray(column((e) => e.data))
      ]
    })
  }

  /** The position of the last event, 0 for an empty log. */
  async head (on: Queryable): Promise<number> {
    const { rows: [row] } = await on.query<{ head: string | null }>(`select max(position) as head from ${this.#events}`)
    return Number(row?.head ?? 0)
  }

  // Rows of a page until they weigh too much, but always one: large events must not fill the memory.
  #page (where: string, order: string, limit: string, bytes: string): string {
    const size = `${overhead} + octet_length(data) + octet_length(metadata)`
    return `select * from (
      select *, sum(${size}) over (order by ${order} rows unbounded preceding) - (${size}) as before
      from ${this.#events} where ${where} order by ${order} limit ${limit}
    ) page where before < ${bytes} order by ${order}`
  }

  /** A page of the events with from <= position <= to, in that direction; empty only at the end. */
  async readAll (on: Queryable, direction: Direction, from: number, to: number, { events, bytes }: PageSize): Promise<RecordedEvent[]> {
    const text = this.#page('position between $1 and $2', `position ${order[direction]}`, '$3', '$4')
    const { rows } = await on.query<Row>({ name: `all ${direction}`, text, values: [from, to, events, bytes] })
    return rows.map(toEvent)
  }

  /** A page of the events of one stream with from <= revision <= to, no further than `head` in the log. */
  async readStream (on: Queryable, stream: string, direction: Direction, from: number, to: number, head: number, { events, bytes }: PageSize): Promise<RecordedEvent[]> {
    const text = this.#page('stream = $1 and revision between $2 and $3 and position <= $4', `revision ${order[direction]}`, '$5', '$6')
    const { rows } = await on.query<Row>({ name: `stream ${direction}`, text, values: [stream, int8(from), int8(to), head, events, bytes] })
    return rows.map(toEvent)
  }

  /** Events by stream and revision, in no order; those that do not exist are left out. */
  async readEach (on: Queryable, targets: ReadonlyArray<{ stream: string, revision: number }>): Promise<RecordedEvent[]> {
    const text = `select e.* from unnest($1::text[], $2::int8[]) t (stream, revision) join ${this.#events} e using (stream, revision)`
    const { rows } = await on.query<Row>({ name: 'each', text, values: [targets.map((t) => t.stream), targets.map((t) => int8(t.revision))] })
    return rows.map(toEvent)
  }

  /** The ids at some revisions of a stream. */
  async idsOf (on: Queryable, stream: string, from: number, to: number): Promise<Map<number, { id: string, position: number }>> {
    const text = `select revision, id, position from ${this.#events} where stream = $1 and revision between $2 and $3`
    const { rows } = await on.query<Row>({ name: 'ids', text, values: [stream, from, to] })
    return new Map(rows.map((row) => [Number(row.revision), { id: row.id, position: Number(row.position) }]))
  }

  /** Where the last `count` events stand, oldest first. */
  async lastSightings (on: Queryable, count: number): Promise<Array<{ id: string, stream: string, revision: number, position: number }>> {
    const { rows } = await on.query<Row>(`select id, stream, revision, position from ${this.#events} order by position desc limit $1`, [count])
    return rows.reverse().map((row) => ({ id: row.id, stream: row.stream, revision: toRevision(row.revision), position: Number(row.position) }))
  }

  /** The states of these streams. */
  async states (on: Queryable, streams: readonly string[]): Promise<Map<string, StreamState>> {
    const last = (stream: string, columns: string) => `left join lateral (select ${columns} from ${this.#events} where stream = ${stream} order by revision desc limit 1)`
    const text = `select s.stream, e.revision, m.revision as meta_revision, m.is_json as meta_is_json, m.data as meta
      from unnest($1::text[], $2::text[]) s (stream, metastream)
      ${last('s.stream', 'revision')} e on true
      ${last('s.metastream', 'revision, is_json, data')} m on true`
    const { rows } = await on.query<StateRow>({ name: 'states', text, values: [streams, streams.map(metastreamOf)] })
    return new Map(rows.map((row) => [row.stream, toState(row)]))
  }
}

const order = { forward: 'asc', backward: 'desc' }
const int8 = (revision: number) => revision === tombstoneRevision ? '9223372036854775807' : String(revision)

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
  const state = row.revision === null ? untouched : afterEvent(untouched, { revision: toRevision(row.revision) })
  if (row.meta_revision === null || row.meta === null) return state
  return afterMetadata(state, { revision: toRevision(row.meta_revision), isJson: row.meta_is_json === true, data: row.meta })
}
