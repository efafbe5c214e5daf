// The statements of a scavenge. Each of them looks at, or removes, a bounded number of rows.
import pg from 'pg'
import { metastreamOf } from '../event.js'
import { int8Array, textArray } from './binary-array.js'
import type { Removable } from './removable.js'

type Queryable = Pick<pg.Client, 'query'>

/** What was removed: its places in the log, and how many bytes of data and metadata. */
export interface Removed { positions: number[], bytes: number }

export class Removals {
  readonly #events: string

  constructor (schema: string) {
    this.#events = `${pg.escapeIdentifier(schema)}.events`
  }

  /** Names of streams of metadata, in order, after a name. */
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

  /** Those of which there is something to remove before a position. */
  async due (on: Queryable, removables: readonly Removable[], before: number): Promise<string[]> {
    const text = `select r.stream from ${from} where exists (
      select from ${this.#events} e where ${isRemovable} and e.position < $5)`
    const { rows } = await on.query<{ stream: string }>(text, [...valuesOf(removables), before])
    return rows.map(({ stream }) => stream)
  }

  /** Removes `most` events before a position, or as many as there are. */
  async remove (on: Queryable, removables: readonly Removable[], before: number, most: number): Promise<Removed> {
    const text = `delete from ${this.#events} where position = any(array(
        select e.position from ${from} join ${this.#events} e on ${isRemovable} and e.position < $5 limit $6))
      returning position, octet_length(data) + octet_length(metadata) as bytes`
    const values = [...valuesOf(removables), before, most]
    const { rows } = await on.query<{ position: string, bytes: number }>({ name: 'remove', text, values })
    const positions = rows.map(({ position }) => Number(position))
    return { positions, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }
  }
}

const from = 'unnest($1::text[], $2::int8[], $3::int8[], $4::int8[]) r (stream, upto, before, created)'
const isRemovable = 'e.stream = r.stream and e.revision < r.upto and (e.revision < r.before or e.created < r.created)'

const valuesOf = (removables: readonly Removable[]) => [
  textArray(removables.map(({ stream }) => stream)),
  int8Array(removables.map(({ end }) => revision(end))),
  int8Array(removables.map(({ before }) => revision(before))),
  int8Array(removables.map(({ created }) => created))
]

const revision = (value: number) => Math.min(value, Number.MAX_SAFE_INTEGER)
