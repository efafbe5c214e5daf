// Reads the log: pages of events, single events, and what is durable of a stream.
import {
  describedBy, overhead, weightOf, type PageSize, type Range, type RecordedEvent, type StreamPlace
} from './event.js'
import type { Storage } from './session.js'
import { isSoftDeleted, type StreamState } from './stream-state.js'
import type { Writer } from './writer.js'

/** The database cannot be read at the moment. */
export class LogUnavailable extends Error {}

interface StreamView extends StreamState {
  /** Never written to or soft-deleted: a reader finds no stream. */
  isMissing: boolean
}

/** Everything that it reads rejects with `LogUnavailable` while Postgres is away. */
export class LogReader {
  readonly #storage: Storage
  readonly #writer: Writer
  readonly #readers = new Readers()

  /** @param writer remembers the states of the streams used lately */
  constructor (storage: Storage, writer: Writer) {
    this.#storage = storage
    this.#writer = writer
  }

  /** What is durable of a stream. */
  async stream (name: string): Promise<StreamView> {
    const described = describedBy(name)
    const target = described === undefined ? undefined : this.#state(described)
    const [own, targets] = await Promise.all([this.#state(name), target])
    const state = targets === undefined ? own : stateOfMetadata(own, targets)
    return { ...state, isMissing: state.last < 0 || isSoftDeleted(state) }
  }

  /** Pages of $all, by position. Between pages nothing is held open. */
  allPages (range: Range, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    const { table, readers } = this.#storage
    return pages(this.#readers, range, wanted, {
      read: (from, to, size) => reading(table.readAll(readers, range.direction, from, to, size)),
      key: (event) => event.position
    })
  }

  /** Pages of a stream, by revision, up to `head` in the log. */
  streamPages (stream: string, range: Range, head: number, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    const { table, readers } = this.#storage
    return pages(this.#readers, range, wanted, {
      read: (from, to, size) => reading(table.readStream(readers, stream, range.direction, from, to, head, size)),
      key: (event) => event.revision
    })
  }

  /** Events by stream and revision; what does not exist is left out. */
  eventsAt (targets: readonly StreamPlace[]): Promise<RecordedEvent[]> {
    return reading(this.#storage.table.readEach(this.#storage.readers, targets))
  }

  async #state (stream: string): Promise<StreamState> {
    const { known, epoch } = this.#writer
    const committed = known.committed(stream)
    if (committed !== undefined) return committed
    const state = (await reading(this.#storage.table.states(this.#storage.readers, [stream]))).get(stream)
    if (state === undefined) throw new LogUnavailable('Postgres did not answer for the stream')
    if (this.#writer.epoch === epoch) known.remember(stream, state)
    return state
  }
}

/** Of a stream that holds the metadata of another: one event counts, and a tombstone of the other ends it too. */
function stateOfMetadata (state: StreamState, target: StreamState): StreamState {
  return { ...state, maxCount: 1, isTombstoned: state.isTombstoned || target.isTombstoned }
}

async function reading<T> (result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw new LogUnavailable('Postgres cannot be read at the moment', { cause: error })
  }
}

const first = 64
const largest: PageSize = { events: 1024, bytes: 2 * 1024 * 1024 }
/** How much all readers together may have read ahead, in bytes. */
const together = 32 * 1024 * 1024

/**
 * All readers share one amount of memory. No reader waits for its share: when the amount is exceeded, the reader that
 * has waited longest drops what it has read ahead, and reads it again when it goes on.
 */
export class Readers {
  readonly #stocks = new Set<Stock>() // in the order in which they moved last

  /** Notes that this reader has moved. Answers how large a page it may read; its share is two of them. */
  moved (stock: Stock): PageSize {
    this.#stocks.delete(stock)
    this.#stocks.add(stock)
    const bytes = Math.min(largest.bytes, Math.ceil(together / 2 / this.#stocks.size))
    return { events: Math.min(largest.events, Math.ceil(bytes / overhead)), bytes }
  }

  /** Frees memory for what this reader has read. */
  grown (stock: Stock): void {
    let excess = this.bytes - together
    for (const other of this.#stocks) {
      if (excess <= 0) return
      if (other === stock || other.bytes === 0) continue
      excess -= other.bytes
      this.leave(other)
    }
  }

  leave (stock: Stock): void {
    this.#stocks.delete(stock)
    stock.drop()
  }

  /** What all of them hold. */
  get bytes (): number {
    let sum = 0
    for (const { bytes } of this.#stocks) sum += bytes
    return sum
  }
}

export interface Source {
  read (from: number, to: number, size: PageSize): Promise<RecordedEvent[]>
  key (event: RecordedEvent): number
}

/** The events of a range in portions; `wanted` is the most that the consumer will take. */
export async function * pages (
  readers: Readers, range: Range, wanted: number, source: Source
): AsyncGenerator<RecordedEvent[]> {
  const stock = new Stock(readers, range, wanted, source)
  try {
    for (let events = await stock.take(); events.length > 0; events = await stock.take()) yield events
  } finally {
    readers.leave(stock)
  }
}

/** What one reader has read and not yet handed out. */
class Stock {
  readonly #readers: Readers
  readonly #source: Source
  #events: RecordedEvent[] = []
  #untaken: Range
  #unread: Range
  #wanted: number
  #isFirst = true
  #coming: Promise<void> | undefined
  /** What it weighs. */
  bytes = 0

  constructor (readers: Readers, range: Range, wanted: number, source: Source) {
    this.#readers = readers
    this.#source = source
    this.#untaken = this.#unread = range
    this.#wanted = wanted
  }

  /** The next portion, empty at the end. Meanwhile the next page is on its way. */
  async take (): Promise<RecordedEvent[]> {
    const size = this.#readers.moved(this)
    while (this.#events.length === 0 && !isEmpty(this.#unread)) await (this.#coming ??= this.#read(size))
    const events = portion(this.#events)
    this.#events.splice(0, events.length)
    for (const event of events) this.bytes -= weightOf(event)
    this.#untaken = this.#beyond(this.#untaken, events)
    this.#wanted -= events.length
    const isLow = this.bytes < size.bytes / 2 && this.#events.length < this.#wanted
    // A page that cannot be read ahead is read again when it is needed.
    if (isLow && !isEmpty(this.#unread)) (this.#coming ??= this.#read(size)).catch(() => {})
    return events
  }

  drop (): void {
    this.#events = []
    this.bytes = 0
    this.#unread = { ...this.#untaken }
  }

  async #read ({ events, bytes }: PageSize): Promise<void> {
    const range = this.#unread
    const most = this.#isFirst ? Math.min(first, this.#wanted) : Infinity
    try {
      const page = await this.#source.read(range.from, range.to, { events: Math.min(events, most), bytes })
      if (range !== this.#unread) return // dropped meanwhile
      this.#isFirst = false
      this.#events.push(...page)
      for (const event of page) this.bytes += weightOf(event)
      this.#unread = page.length === 0 ? nothing : this.#beyond(range, page)
      this.#readers.grown(this)
    } finally {
      this.#coming = undefined
    }
  }

  #beyond (range: Range, events: readonly RecordedEvent[]): Range {
    const last = events.at(-1)
    if (last === undefined) return range
    const key = this.#source.key(last)
    return range.direction === 'forward' ? { ...range, from: key + 1 } : { ...range, to: key - 1 }
  }
}

const nothing: Range = { direction: 'forward', from: 1, to: 0 }
const isEmpty = ({ from, to }: Range) => from > to

const most = 64 * 1024

/** The events from an index on, up to 64 KiB, but at least one: a consumer that stops holds no more than these. */
export function portion (events: readonly RecordedEvent[], start = 0): RecordedEvent[] {
  let weight = 0
  for (let end = start; ; end++) {
    const event = events[end]
    if (event === undefined || weight >= most) return events.slice(start, end)
    weight += weightOf(event)
  }
}
