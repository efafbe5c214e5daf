// Folds a sample of rows straight from the log, without a database: a second opinion on what a generation holds.
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import type { Streams } from '../../../src/log/event-log.js'
import { fold, readEvents, type Readable } from '../../engine/fold.js'
import type { Projection, RowKey, Rows } from '../../engine/projection.js'
import { MemoryRows } from '../../engine/rows.js'
import { Needs } from './needs.js'
import { keyOf, type AnyTable, type Key } from '../../engine/table.js'

export interface SampleFoldOptions {
  streams: Streams
  signal: AbortSignal
  /** Events that the generation has passed over. */
  passedOver: { has (event: StoredEvent): boolean }
  /** The bytes of rows, by key as text; of a row that is not there none. */
  sizes (table: AnyTable, keys: Key[]): Promise<Map<string, number>>
  /** Events that were read, and which part of the work is done, 0 to 1. */
  onProgress? (events: number, done: number): void
}

interface Chosen { has (table: AnyTable, key: Key): boolean }

export interface Folded extends Chosen {
  /** By table. What `has` does not have any more is not among them. */
  rows: Map<AnyTable, object[]>
}

/**
 * The rows of `sample` once the log is folded up to `until`. The log is read twice: first to find the rows that sampled
 * ones depend on (an event that changes a row may read others), then to fold both kinds in memory. Small rows may
 * depend on large ones: so many of the sample are left out that the others depend on no more than fits.
 * A row that a sampled row depends on must not depend on further rows.
 */
export async function foldSample (
  projection: Projection, sample: Chosen, until: bigint, options: SampleFoldOptions
): Promise<Folded> {
  const needs = new Needs(sample)
  for await (const event of readable(projection, until, 0, options)) needs.add(event, changedBy(projection, event))
  const { needed, leftOut } = await needs.within(options.sizes)
  const has = (table: AnyTable, key: Key) => sample.has(table, key) && !leftOut.has(table, key)
  const keeps = (table: AnyTable, key: Key) => has(table, key) || needed.has(table, key)
  const rows = new MemoryRows(projection.tables, { isEmpty: true, keeps })
  for await (const event of readable(projection, until, 0.5, options)) fold(projection, event, rows)
  const isLeft = (table: AnyTable, row: object) => has(table, keyOf(table, row))
  const left = rows.take().map(({ table, created }) => [table, created.filter((row) => isLeft(table, row))] as const)
  return { has, rows: new Map(left) }
}

/** Of an event that cannot be read the generation must not have made rows either, so it is left out. */
async function * readable (
  projection: Projection, until: bigint, done: number, options: SampleFoldOptions
): AsyncGenerator<Readable> {
  const { streams, signal, passedOver, onProgress } = options
  if (until === 0n) return
  let count = 0
  for await (const { events, position } of streams.follow({ after: 0n, eventTypes: projection.eventTypes, signal })) {
    const wanted = events.filter((stored) => stored.position <= until && !passedOver.has(stored))
    for (const each of readEvents(projection, wanted)) if ('event' in each) yield each
    count += events.length
    onProgress?.(count, done + Math.min(1, Number(position) / Number(until)) / 2)
    if (position >= until) return
  }
  signal.throwIfAborted()
}

function changedBy (projection: Projection, event: Readable): RowKey[] {
  const changed: RowKey[] = []
  const collect: Rows = { get: () => undefined, put (table, row) { changed.push([table, keyOf(table, row)]) } }
  fold(projection, event, collect)
  return changed
}
