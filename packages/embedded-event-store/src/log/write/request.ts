// What the log is asked to write, and what became of it.
import type { ExpectedRevision } from './decide.js'
import type { ProposedEvent } from '../event.js'

export interface WriteRequest {
  action: 'append' | 'delete' | 'tombstone'
  stream: string
  expected: ExpectedRevision
  /** Empty for deletes. */
  events: readonly ProposedEvent[]
  /** Unix ms. Later it is not begun, because its client waits no more. */
  expiresAt?: number
}

export type Outcome =
  /**
   * `revision` is -1 when an empty append found no stream, `position` undefined when the event was written before and
   * can be seen no more.
   */
  | { kind: 'written', revision: number, position: number | undefined }
  | { kind: 'wrong-revision', current: number }
  | { kind: 'stream-deleted' }
  /** Not written: there is no database to write to, or the deadline has passed. */
  | { kind: 'unavailable' | 'expired' }
  /** Not written: Postgres has no room. */
  | { kind: 'disk-full' }
  /** The connection broke while it was committed: it may be written or not. */
  | { kind: 'unknown' }
