// What events weigh in memory.
import type { ProposedEvent } from './event.js'

/** What an event takes besides its data and metadata, in bytes. */
export const overhead = 512

/** About how many bytes of memory an event takes. */
export function weightOf (event: ProposedEvent & { readonly size?: number }): number {
  return overhead + (event.size ?? event.data.length + event.metadata.length)
}
