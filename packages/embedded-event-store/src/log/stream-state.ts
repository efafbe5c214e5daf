// What decisions and reads need to know of a stream: its end, and what its metadata hides.
import { type RecordedEvent, tombstoneRevision } from './event.js'

/** What metadata leaves visible of a stream. */
interface Retention {
  /** `$tb`: hides events below this revision; `Infinity` marks a soft-deleted stream. */
  truncateBefore: number
  /** `$maxCount`, or `Infinity`. */
  maxCount: number
  /** `$maxAge` in seconds, or `Infinity`. */
  maxAge: number
}

const keepsAll: Retention = { truncateBefore: 0, maxCount: Infinity, maxAge: Infinity }

/** A JSON object. */
type Members = Readonly<Record<string, unknown>>

export interface StreamState extends Retention {
  /** Revision of the last event, -1 when there is none. */
  last: number
  /** Revision of the last event of its metadata stream, -1 when there is none. */
  lastMetadata: number
  isTombstoned: boolean
  /** Kept only while the stream is soft-deleted, for an undelete to carry it over. */
  metadata?: Members
}

type MetadataEvent = Pick<RecordedEvent, 'revision' | 'isJson' | 'data'>

export const untouched: StreamState = { last: -1, lastMetadata: -1, isTombstoned: false, ...keepsAll }

export const isSoftDeleted = (state: StreamState) => state.truncateBefore === Infinity

/** Revision of the first visible event, regardless of age. */
export function firstVisible (state: StreamState): number {
  return Math.max(state.truncateBefore, state.maxCount === Infinity ? 0 : state.last - state.maxCount + 1)
}

/** Whether an event is within the stream's `$maxAge`. */
export function isFresh (state: StreamState, event: Pick<RecordedEvent, 'created'>): boolean {
  return state.maxAge === Infinity || event.created >= Date.now() - state.maxAge * 1000
}

export function afterEvent (state: StreamState, event: { revision: number }): StreamState {
  return { ...state, last: event.revision, isTombstoned: state.isTombstoned || event.revision === tombstoneRevision }
}

export function afterMetadata ({ last, isTombstoned }: StreamState, event: MetadataEvent): StreamState {
  const metadata = event.isJson ? membersOf(event.data) : undefined
  const retention = metadata === undefined ? keepsAll : retentionOf(metadata)
  const carriedOn = metadata !== undefined && retention.truncateBefore === Infinity && { metadata }
  return { last, isTombstoned, lastMetadata: event.revision, ...retention, ...carriedOn }
}

/** Parses a JSON object; undefined when it is none. */
export function membersOf (data: Uint8Array): Members | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(data).toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The metadata as JSON with a new `$tb`. */
export const withTruncation = (members: Members, truncateBefore: number) =>
  JSON.stringify({ ...members, $tb: truncateBefore })

/** A soft delete sets `$tb` to int64's maximum, which JSON.parse rounds up. */
const deletedFrom = 2 ** 63

/** A value of the wrong type voids all metadata; a number that is too small voids only itself. */
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

/** Roles are a string or a list of strings. */
function isAcl (acl: unknown): boolean {
  const isRole = (role: unknown) => typeof role === 'string'
  return isObject(acl) && Object.entries(acl).every(([key, roles]) => (
    aclKeys.includes(key) && (isRole(roles) || (Array.isArray(roles) && roles.every(isRole)))
  ))
}
