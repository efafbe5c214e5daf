// What a subscription sends, one after the other.
import type { RecordedEvent } from '../log/event.js'

export type Step =
  | { kind: 'events', events: RecordedEvent[] }
  | { kind: 'checkpoint', position: number }
  | { kind: 'caught-up' }
  /** The stream was tombstoned; nothing follows. */
  | { kind: 'stream-deleted' }
