// What events weigh in memory, and how many of them a consumer is handed at a time.
import type { ProposedEvent, RecordedEvent } from '../event.js'

/** What an event takes besides its data and metadata, in bytes. */
export const overhead = 512
const most = 64 * 1024

/** About how many bytes of memory an event takes. */
export function weightOf (event: ProposedEvent & { readonly size?: number }): number {
  return overhead + (event.size ?? event.data.length + event.metadata.length)
}

/** The events from an index on, up to 64 KiB, but at least one: a consumer that stops holds no more than these. */
export function portion (events: readonly RecordedEvent[], start = 0): RecordedEvent[] {
  let weight = 0
  for (let end = start; ; end++) {
    const event = events[end]
    if (event === undefined || weight >= most) return events.slice(start, end)
    weight += weightOf(event)
  }
}
