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

/** The keys of an object of JSON, each with its value as it is written. */
type Members = ReadonlyMap<string, string>

export interface StreamState extends Retention {
  /** Revision of the last event, -1 when there is none. */
  last: number
  /** Revision of the last event of its metadata stream, -1 when there is none. */
  lastMetadata: number
  isTombstoned: boolean
  /** The metadata as written, kept only while the stream is soft-deleted: an undelete carries it on. */
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
  const text = Buffer.from(data).toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? split(text) : undefined
  } catch {
    return undefined
  }
}

/** The same with another `$tb`, as JSON. */
export function withTruncation (members: Members, truncateBefore: number): string {
  const changed = new Map(members).set('$tb', String(truncateBefore))
  return `{${[...changed].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`
}

function retentionOf (members: Members): Retention {
  const values = ['$tb', '$maxCount', '$maxAge', '$cacheControl'].map((key) => integer(members.get(key)))
  const [truncateBefore, maxCount, maxAge] = values
  if (values.includes(null) || !isFlag(members.get('$tmp')) || !isAcl(members.get('$acl'))) return keepsAll
  const isDeleted = truncateBefore === int64Max
  return {
    truncateBefore: isDeleted ? Infinity : Math.max(0, Number(truncateBefore ?? 0)),
    maxCount: positive(maxCount),
    maxAge: positive(maxAge)
  }
}

const int64Max = 2n ** 63n - 1n

/** The int64 in a text, undefined when there is no text, null when it is something else. */
function integer (text: string | undefined): bigint | undefined | null {
  if (text === undefined) return undefined
  const value = /^-?\d+$/.test(text) ? BigInt(text) : int64Max + 1n
  return BigInt.asIntN(64, value) === value ? value : null
}

const positive = (value: bigint | undefined | null) => value && value > 0n ? Number(value) : Infinity
const isFlag = (text: string | undefined) => text === undefined || /^(true|false)$/.test(text)

const aclKeys = ['$r', '$w', '$d', '$mr', '$mw']

/** Roles are a text or a list of texts. */
function isAcl (text: string | undefined): boolean {
  if (text === undefined) return true
  const acl: unknown = JSON.parse(text)
  if (typeof acl !== 'object' || acl === null || Array.isArray(acl)) return false
  const isRole = (role: unknown) => typeof role === 'string'
  return Object.entries(acl).every(([key, roles]) => (
    aclKeys.includes(key) && (isRole(roles) || (Array.isArray(roles) && roles.every(isRole)))
  ))
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/** Takes an object of JSON apart, which is known to be one. */
function split (text: string): Members {
  const members = new Map<string, string>()
  let [depth, key, value] = [0, '', '']
  for (const [part] of text.matchAll(token)) {
    if (part === '}' || part === ']') depth--
    const isBetween = depth === 1 && (part === ',' || part === ':')
    const isEnd = depth === 0 || (isBetween && part === ',')
    if (isEnd && value !== '') members.set(JSON.parse(key), value)
    if (isBetween && part === ':') key = value
    if (isEnd || isBetween) value = ''
    else if (depth > 0) value += part
    if (part === '{' || part === '[') depth++
  }
  return members
}
