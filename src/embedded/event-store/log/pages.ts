// Keyset paging: nothing is held open between pages, and the next one is under way while the last is sent.
import type { RecordedEvent } from './event.js'
import type { Direction } from './table.js'

const events = { first: 64, most: 1024 }

type ReadPage = (from: number, to: number, limit: number) => Promise<RecordedEvent[]>

/** Pages of what has from <= key <= to, in that direction; `wanted` says how many the reader will take at most. */
export async function * pages (direction: Direction, from: number, to: number, wanted: number, read: ReadPage, key: (event: RecordedEvent) => number): AsyncGenerator<RecordedEvent[]> {
  let [lower, upper] = [from, to]
  const next = (limit: number) => lower > upper ? Promise.resolve([]) : read(lower, upper, limit)
  let page = await next(Math.min(events.first, wanted))
  for (let taken = page.length; ; taken += page.length) {
    const last = page.at(-1)
    if (last === undefined) return
    if (direction === 'forward') lower = key(last) + 1
    else upper = key(last) - 1
    const ahead = taken < wanted ? next(events.most) : undefined
    ahead?.catch(() => {}) // told when it is awaited
    yield page
    page = await (ahead ?? next(events.most))
  }
}
