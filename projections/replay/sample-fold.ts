// Folds a sample of rows straight from the log, with nothing but maps: a second opinion on what a generation holds.
import { DecodeError, decode, type DomainEvent } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/event-store/streams.js'
import { CannotProject, type Projection, type Rows, type RowKey } from '../engine/projection.js'
import type { Skips } from '../parking/park.js'
import { keyOf, type AnyTable, type Key, type Table } from '../engine/table.js'

export interface SampleFoldOptions {
  streams: Streams
  signal: AbortSignal
  /** Events that the generation has passed over. */
  passedOver: Skips
  /** Which part of the work is done, 0 to 1, and the events that were read for it. */
  onProgress? (events: number, done: number): void
}

interface Chosen { has (table: AnyTable, key: Key): boolean }

/**
 * What the rows of `sample` are once the log is folded up to `until`. Reads the log twice: first for the rows that sampled
 * ones depend on (an event that changes a row may read others), then to fold both, in as much memory as they take.
 * Whatever a row depends on must not itself depend on further rows.
 */
export async function foldSample (projection: Projection, sample: Chosen, until: bigint, options: SampleFoldOptions): Promise<FewRows> {
  const needed = new KeySet()
  for await (const [event, stored] of readTwice(0)) for (const [table, key] of readFor(projection, event, stored, sample)) needed.add(table, key)
  const rows = new FewRows((table, key) => sample.has(table, key) || needed.has(table, key))
  for await (const [event, stored] of readTwice(0.5)) project(projection, event, stored, rows)
  return rows

  async function * readTwice (done: number) {
    let events = 0
    if (until === 0n) return
    for await (const batch of options.streams.follow({ after: 0n, eventTypes: projection.eventTypes, signal: options.signal })) {
      for (const stored of batch.events) {
        const event = stored.position <= until && !options.passedOver.has(stored) ? decoded(stored) : undefined
        if (event) yield [event, stored] as const
      }
      events += batch.events.length
      options.onProgress?.(events, done + Math.min(1, Number(batch.position) / Number(until)) / 2)
      if (batch.position >= until) return
    }
    options.signal.throwIfAborted()
  }
}

/** The rows outside of the sample that are read by an event which may change rows of it. */
function readFor (projection: Projection, event: DomainEvent, stored: StoredEvent, sample: Chosen): RowKey[] {
  const touched = projection.keys(event, stored)
  const put: RowKey[] = []
  project(projection, event, stored, { get: () => undefined, put: (table, row) => { put.push([table, keyOf(table, row)]) } })
  const isOf = ([table, key]: RowKey) => sample.has(table, key)
  return touched.some(isOf) || put.some(isOf) ? touched.filter((touch) => !isOf(touch)) : []
}

function project (projection: Projection, event: DomainEvent, stored: StoredEvent, rows: Rows): void {
  try {
    projection.project(event, stored, rows)
  } catch (error) {
    if (!(error instanceof CannotProject)) throw error // it changed nothing
  }
}

/** Nothing where the event has no meaning: then the generation must not have made rows of it either. */
function decoded (stored: StoredEvent): DomainEvent | undefined {
  try {
    return decode(stored)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

class KeySet implements Chosen {
  readonly #keys = new Map<AnyTable, Set<Key>>()

  add (table: AnyTable, key: Key): void {
    const keys = this.#keys.get(table) ?? new Set()
    this.#keys.set(table, keys.add(key))
  }

  has (table: AnyTable, key: Key): boolean {
    return this.#keys.get(table)?.has(key) ?? false
  }
}

/** Rows of which only some are kept. */
export class FewRows implements Rows {
  readonly #tables = new Map<AnyTable, Map<Key, object>>()

  constructor (private readonly keeps: (table: AnyTable, key: Key) => boolean) {}

  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined {
    // Only rows of `table` are ever stored under it.
    return this.#tables.get(table)?.get(key) as Row | undefined
  }

  put<Row extends object> (table: Table<Row>, row: Row): void {
    const key = keyOf(table, row)
    if (!this.keeps(table, key)) return
    const rows = this.#tables.get(table) ?? new Map<Key, object>()
    this.#tables.set(table, rows.set(key, row))
  }

  rowsOf (table: AnyTable, chosen: Chosen): object[] {
    return [...this.#tables.get(table) ?? []].flatMap(([key, row]) => chosen.has(table, key) ? row : [])
  }
}
