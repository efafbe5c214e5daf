// Paging by key: nothing is open between two pages, and events that were read ahead may be dropped and read again.
import type { RecordedEvent } from '../event.js'
import { overhead, weightOf } from '../weight.js'
import { portion } from './portion.js'
import type { PageSize, Range } from '../range.js'

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
