// What a decision or a read must know of a stream: its end, and what its metadata still lets one see.
import { type RecordedEvent, tombstoneRevision } from './event.js'

export interface Retention {
  /** `$tb`: events below this revision are gone; `Infinity` marks a soft-deleted stream. */
  truncateBefore: number
  /** `$maxCount`, or `Infinity`. */
  maxCount: number
  /** `$maxAge` in seconds, or `Infinity`. */
  maxAge: number
}

export interface StreamState extends Retention {
  /** Revision of the last event, -1 when there is none. */
  last: number
  /** Revision of the last event of its metadata stream, -1 when there is none. */
  lastMetadata: number
  isTombstoned: boolean
  /** The metadata as written, kept only while the stream is soft-deleted: an undelete carries it on. */
  metadata?: Record<string, unknown>
}

export type MetadataEvent = Pick<RecordedEvent, 'revision' | 'isJson' | 'data'>

const keepsAll: Retention = { truncateBefore: 0, maxCount: Infinity, maxAge: Infinity }
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
  const metadata = metadataIn(event) ?? {} // malformed metadata counts as none
  const retention = retentionOf(metadata)
  const carriedOn = retention.truncateBefore === Infinity && { metadata }
  return { last, isTombstoned, lastMetadata: event.revision, ...retention, ...carriedOn }
}

// int64's maximum does not survive JSON.parse; it arrives as 2^63.
const deletedMark = 2 ** 63

function retentionOf (metadata: Record<string, unknown>): Retention {
  const integer = (key: string, least: number) => {
    const value = metadata[key]
    return typeof value === 'number' && Number.isInteger(value) && value >= least ? value : undefined
  }
  const truncateBefore = integer('$tb', 0) ?? 0
  return {
    truncateBefore: truncateBefore >= deletedMark ? Infinity : truncateBefore,
    maxCount: integer('$maxCount', 1) ?? Infinity,
    maxAge: integer('$maxAge', 1) ?? Infinity
  }
}

/** What a metadata event says, or undefined when that is no JSON object. */
export function metadataIn ({ isJson, data }: Omit<MetadataEvent, 'revision'>): Record<string, unknown> | undefined {
  try {
    const value: unknown = isJson ? JSON.parse(Buffer.from(data).toString('utf8')) : undefined
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
