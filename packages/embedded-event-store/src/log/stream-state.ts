// What a decision or a read must know of a stream: its end, and what its metadata still lets one see.
import { type RecordedEvent, tombstoneRevision } from './event.js'
import { keepsAll, type Members, membersOf, type Retention, retentionOf } from './metadata.js'

export interface StreamState extends Retention {
  /** Revision of the last event, -1 when there is none. */
  last: number
  /** Revision of the last event of its metadata stream, -1 when there is none. */
  lastMetadata: number
  isTombstoned: boolean
  /** The metadata as written, kept only while the stream is soft-deleted: an undelete carries it on. */
  metadata?: Members
}

export type MetadataEvent = Pick<RecordedEvent, 'revision' | 'isJson' | 'data'>

export const untouched: StreamState = { last: -1, lastMetadata: -1, isTombstoned: false, ...keepsAll }

export const isSoftDeleted = (state: StreamState) => state.truncateBefore === Infinity

/** The revision of the first event that may be seen (age apart). */
export function firstVisible (state: StreamState): number {
  return Math.max(state.truncateBefore, state.maxCount === Infinity ? 0 : state.last - state.maxCount + 1)
}

/** Whether an event is not yet older than its stream keeps events. */
export function isFresh (state: StreamState, event: Pick<RecordedEvent, 'created'>): boolean {
  return state.maxAge === Infinity || event.created >= Date.now() - state.maxAge * 1000
}

/** The state of a stream after one more event in it. */
export function afterEvent (state: StreamState, event: { revision: number }): StreamState {
  return { ...state, last: event.revision, isTombstoned: state.isTombstoned || event.revision === tombstoneRevision }
}

/** The state of a stream after one more event in its metadata stream. */
export function afterMetadata ({ last, isTombstoned }: StreamState, event: MetadataEvent): StreamState {
  const metadata = event.isJson ? membersOf(event.data) : undefined
  const retention = metadata === undefined ? keepsAll : retentionOf(metadata)
  const carriedOn = metadata !== undefined && retention.truncateBefore === Infinity && { metadata }
  return { last, isTombstoned, lastMetadata: event.revision, ...retention, ...carriedOn }
}
