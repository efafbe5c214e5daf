// Keyset paging: nothing is held open between pages, and the next one is under way while the last is sent.
import type { RecordedEvent } from './event.js'
import type { Direction } from './table.js'

/** How much one page may hold: so many events, or so many bytes of data and metadata, but always one event. */
export interface PageSize { events: number, bytes: number }

const first = 64
const largest: PageSize = { events: 1024, bytes: 4 * 1024 * 1024 }
/** What pages that are read from now on may take together. Who reads slowly keeps what he has, so a crowd costs more, but grows slower the larger it is. */
const together: PageSize = { events: 8 * largest.events, bytes: 8 * largest.bytes }

/** Those who read pages at the moment share what pages may take of memory. */
export class Readers {
  #count = 0

  enter (): void { this.#count++ }
  leave (): void { this.#count-- }

  get pageSize (): PageSize {
    const share = (what: keyof PageSize) => Math.min(largest[what], Math.ceil(together[what] / this.#count))
    return { events: share('events'), bytes: share('bytes') }
  }
}

type ReadPage = (from: number, to: number, size: PageSize) => Promise<RecordedEvent[]>

/** Pages of what has from <= key <= to, in that direction; `wanted` says how many the reader will take at most. */
export async function * pages (readers: Readers, direction: Direction, from: number, to: number, wanted: number, read: ReadPage, key: (event: RecordedEvent) => number): AsyncGenerator<RecordedEvent[]> {
  let [lower, upper] = [from, to]
  const next = (most: number) => {
    const { events, bytes } = readers.pageSize
    return lower > upper ? Promise.resolve([]) : read(lower, upper, { events: Math.min(events, most), bytes })
  }
  readers.enter()
  try {
    let page = await next(Math.min(first, wanted))
    for (let taken = page.length; ; taken += page.length) {
      const last = page.at(-1)
      if (last === undefined) return
      if (direction === 'forward') lower = key(last) + 1
      else upper = key(last) - 1
      const ahead = taken < wanted ? next(Infinity) : undefined
      ahead?.catch(() => {}) // told when it is awaited
      yield page
      page = await (ahead ?? next(Infinity))
    }
  } finally {
    readers.leave()
  }
}
