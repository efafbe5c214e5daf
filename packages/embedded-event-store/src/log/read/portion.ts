// How many events a consumer is handed at a time.
import type { RecordedEvent } from '../event.js'
import { weightOf } from '../weight.js'

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
