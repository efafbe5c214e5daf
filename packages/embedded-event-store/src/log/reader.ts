// Reads the log: pages of events, single events, and the durable state of a stream.
import {
  describedBy, weightOf, type PageSize, type Range, type RecordedEvent, type StreamPlace
} from './event.js'
import type { Storage } from './session.js'
import { isSoftDeleted, type StreamState } from './stream-state.js'
import type { Writer } from './writer.js'

export class LogUnavailable extends Error {}

interface StreamView extends StreamState {
  /** Never written to or soft-deleted: readers get "no stream". */
  isMissing: boolean
}

/** All reads reject with `LogUnavailable` while Postgres is away. */
export class LogReader {
  /** Number of open page readers. */
  #open = 0

  /** @param writer caches the states of recently used streams */
  constructor (private readonly storage: Storage, private readonly writer: Writer) {}

  /** The durable state of a stream. */
  async stream (name: string): Promise<StreamView> {
    const described = describedBy(name)
    const target = described === undefined ? undefined : this.#state(described)
    const [own, targets] = await Promise.all([this.#state(name), target])
    // A metadata stream keeps one event, and a tombstone of the stream it describes ends it too.
    const state = targets ? { ...own, maxCount: 1, isTombstoned: own.isTombstoned || targets.isTombstoned } : own
    return { ...state, isMissing: state.last < 0 || isSoftDeleted(state) }
  }

  /** Pages of $all, by position. No cursor or transaction stays open between pages. */
  allPages (range: Range, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    const { table, readers } = this.storage
    const read = (from: number, to: number, size: PageSize) => table.readAll(readers, range.direction, from, to, size)
    return this.#pages(range, wanted, read, (event) => event.position)
  }

  /** Pages of a stream, by revision, up to `head` in the log. */
  streamPages (stream: string, range: Range, head: number, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    const { table, readers } = this.storage
    const read = (from: number, to: number, size: PageSize) =>
      table.readStream(readers, stream, range.direction, from, to, head, size)
    return this.#pages(range, wanted, read, (event) => event.revision)
  }

  /** Events by stream and revision; omits those that do not exist. */
  eventsAt (targets: readonly StreamPlace[]): Promise<RecordedEvent[]> {
    return reading(this.storage.table.readEach(this.storage.readers, targets))
  }

  /** Yields portions of pages. Prefetches the next page while the consumer takes one, unless it has all it wants. */
  async * #pages (
    range: Range, wanted: number, read: (from: number, to: number, size: PageSize) => Promise<RecordedEvent[]>,
    keyOf: (event: RecordedEvent) => number
  ): AsyncGenerator<RecordedEvent[]> {
    let { from, to } = range
    const next = async (mostEvents = Infinity): Promise<RecordedEvent[]> => {
      if (from > to) return []
      const bytes = Math.min(largest.bytes, Math.ceil(together / this.#open))
      return await reading(read(from, to, { events: Math.min(mostEvents, largest.events), bytes }))
    }
    this.#open++
    try {
      let page = await next(Math.min(first, wanted))
      let left = wanted
      for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
        if (range.direction === 'forward') from = keyOf(last) + 1
        else to = keyOf(last) - 1
        left -= page.length
        const ahead = left > 0 ? next() : undefined
        ahead?.catch(() => {}) // a failed page is read again when needed
        for (let start = 0; start < page.length;) {
          const events = portion(page, start)
          yield events
          start += events.length
        }
        page = await ahead?.catch(() => undefined) ?? await next()
      }
    } finally {
      this.#open--
    }
  }

  async #state (stream: string): Promise<StreamState> {
    const { known, epoch } = this.writer
    const committed = known.committed(stream)
    if (committed !== undefined) return committed
    const state = (await reading(this.storage.table.states(this.storage.readers, [stream]))).get(stream)
    if (state === undefined) throw new LogUnavailable('Postgres did not answer for the stream')
    if (this.writer.epoch === epoch) known.remember(stream, state)
    return state
  }
}

async function reading<T> (result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw new LogUnavailable('Postgres cannot be read at the moment', { cause: error })
  }
}

/** Events of the first page: most readers of a stream want no more. */
const first = 64
const largest = { events: 1024, bytes: 2 * 1024 * 1024 }
/** Approximate bytes that all readers together prefetch: the more readers, the smaller their pages. */
const together = 16 * 1024 * 1024

const most = 64 * 1024

/** Events from an index on, up to 64 KiB but at least one: a stalled consumer holds no more memory than this. */
export function portion (events: readonly RecordedEvent[], start = 0): RecordedEvent[] {
  let weight = 0
  for (let end = start; ; end++) {
    const event = events[end]
    if (event === undefined || weight >= most) return events.slice(start, end)
    weight += weightOf(event)
  }
}
