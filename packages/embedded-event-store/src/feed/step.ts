// What a subscription sends, one after the other.
import type { RecordedEvent } from '../log/event.js'

export type Step =
  | { kind: 'events', events: RecordedEvent[] }
  /** `nowhere` or a position. */
  | { kind: 'checkpoint', position: number }
  | { kind: 'caught-up' }
  /** The stream was tombstoned; nothing follows. */
  | { kind: 'stream-deleted' }

/** Stands for 2^64-1, which no JavaScript number holds. */
export const nowhere = Infinity
