// What a decision or a read must know of a stream: its end, and what its metadata still lets one see.
import { type RecordedEvent, tombstoneRevision } from './event.js'

/** What metadata let one see of a stream. */
interface Retention {
  /** `$tb`: events below this revision are gone; `Infinity` marks a soft-deleted stream. */
  truncateBefore: number
  /** `$maxCount`, or `Infinity`. */
  maxCount: number
  /** `$maxAge` in seconds, or `Infinity`. */
  maxAge: number
}

const keepsAll: Retention = { truncateBefore: 0, maxCount: Infinity, maxAge: Infinity }

/** An object of JSON. */
type Members = Readonly<Record<string, unknown>>

export interface StreamState extends Retention {
  /** Revision of the last event, -1 when there is none. */
  last: number
  /** Revision of the last event of its metadata stream, -1 when there is none. */
  lastMetadata: number
  isTombstoned: boolean
  /** The metadata, kept only while the stream is soft-deleted: an undelete carries it on. */
  metadata?: Members
}

type MetadataEvent = Pick<RecordedEvent, 'revision' | 'isJson' | 'data'>

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

/** What these bytes say, or undefined when they are no object of JSON. */
export function membersOf (data: Uint8Array): Members | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(data).toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The same with another `$tb`, as JSON. */
export const withTruncation = (members: Members, truncateBefore: number) =>
  JSON.stringify({ ...members, $tb: truncateBefore })

/** `$tb` of a delete is int64's maximum, which JSON.parse rounds up. */
const deletedFrom = 2 ** 63

/** One bad value voids all of it; a number that is too small voids itself. */
function retentionOf (members: Members): Retention {
  const { $tb = 0, $maxCount = Infinity, $maxAge = Infinity, $cacheControl = 0, $tmp = false, $acl = {} } = members
  if (!isInteger($tb) || !isInteger($maxCount) || !isInteger($maxAge) || !isInteger($cacheControl)) return keepsAll
  if (typeof $tmp !== 'boolean' || !isAcl($acl)) return keepsAll
  return {
    truncateBefore: $tb >= deletedFrom ? Infinity : Math.max(0, $tb),
    maxCount: $maxCount > 0 ? $maxCount : Infinity,
    maxAge: $maxAge > 0 ? $maxAge : Infinity
  }
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isInteger = (value: unknown): value is number => Number.isInteger(value) || value === Infinity

const aclKeys = ['$r', '$w', '$d', '$mr', '$mw']

/** Roles are a text or a list of texts. */
function isAcl (acl: unknown): boolean {
  const isRole = (role: unknown) => typeof role === 'string'
  return isObject(acl) && Object.entries(acl).every(([key, roles]) => (
    aclKeys.includes(key) && (isRole(roles) || (Array.isArray(roles) && roles.every(isRole)))
  ))
}
