// Decides a request like EventStoreDB and turns it into the events to add. Deletes and tombstones are events too.
// Callers pass in the stream's state and the sightings of ids.
import { randomUUID } from 'node:crypto'
import {
  int64Max, metastreamOf, tombstoneRevision, type Identified, type ProposedEvent, type StreamPlace
} from './event.js'
import {
  afterMetadata, firstVisible, isSoftDeleted, membersOf, withTruncation, type StreamState
} from './stream-state.js'

/** An exact revision, or `noStream`, `any` or `streamExists` (numbers of the protocol). */
export type ExpectedRevision = number
export const noStream: ExpectedRevision = -1
export const any: ExpectedRevision = -2
export const streamExists: ExpectedRevision = -4

export interface WriteRequest {
  action: 'append' | 'delete' | 'tombstone'
  stream: string
  expected: ExpectedRevision
  /** Empty for deletes. */
  events: readonly ProposedEvent[]
  /** Unix ms. The writer skips the request afterwards, as its client has stopped waiting. */
  expiresAt?: number
}

export type Outcome =
  /**
   * `revision` is -1 when an empty append found no stream. `position` is undefined when the event was written before
   * and is hidden now.
   */
  | { kind: 'written', revision: number, position: number | undefined }
  | { kind: 'wrong-revision', current: number }
  | { kind: 'stream-deleted' }
  /** Not written: no database connection, or the deadline has passed. */
  | { kind: 'unavailable' | 'expired' }
  /** Not written: the disk of Postgres is full. */
  | { kind: 'disk-full' }
  /** The connection broke during the commit: it may be written. */
  | { kind: 'unknown' }

export interface Sighting extends StreamPlace { position: number }

interface Sightings {
  /** The first place of an id among the recent events of all streams. */
  recent (id: string): Sighting | undefined
  /** Events of the stream by revision, as the table has them; undefined before the table was read. */
  recorded: ReadonlyMap<number, Identified> | undefined
}

interface Placed { stream: string, revision: number, event: ProposedEvent }

export type Plan =
  /** The decision needs the ids after the expected revision from the table. */
  | { kind: 'look-up' }
  | { kind: 'answer', outcome: Outcome }
  /** `answer`: index of the event whose position is the reply. An append of no events replies with the log's end. */
  | { kind: 'add', placed: Placed[], answer: number, revision: number }

/** The stream whose metadata the request writes, if it writes metadata. */
interface Described { stream: string, state: StreamState }

export function plan (
  request: WriteRequest, state: StreamState, described: Described | undefined, seen: Sightings
): Plan {
  const { action, stream, expected, events } = request
  const isAppend = action === 'append'
  // A delete is decided like an append of a new id.
  const ids = isAppend ? events.map((event) => event.id) : [randomUUID()]
  const decision = decide({ stream, expected, ids, state, seen: isAppend ? seen : nothingSeen })
  switch (decision.kind) {
    case 'look-up': return decision
    case 'wrong-revision':
    case 'stream-deleted': return { kind: 'answer', outcome: decision }
    case 'written': {
      // A repeat of a hidden event is answered without a position. Of metadata only the last event is visible.
      const isSeen = decision.revision >= (described === undefined ? firstVisible(state) : state.last)
      return { kind: 'answer', outcome: isSeen ? decision : { ...decision, position: undefined } }
    }
    case 'append': return isAppend
      ? planAppend(request, state, described)
      : action === 'delete' ? planDelete(stream, state) : planTombstone(stream)
  }
}

const none = new Uint8Array()
const nothingSeen: Sightings = { recent: () => undefined, recorded: new Map() }

function planAppend ({ stream, events }: WriteRequest, state: StreamState, described: Described | undefined): Plan {
  const placed = events.map((event, index) => ({ stream, revision: state.last + 1 + index, event }))
  const all = [...placed, ...undelete(stream, state, placed, described)]
  return { kind: 'add', placed: all, answer: Math.max(0, placed.length - 1), revision: state.last + placed.length }
}

function planDelete (stream: string, state: StreamState): Plan {
  if (state.last < 0 && state.lastMetadata < 0) return { kind: 'answer', outcome: wrong(state) }
  // An older log may have a tombstone on the metadata stream, which no event can follow.
  if (state.lastMetadata === tombstoneRevision) return { kind: 'answer', outcome: { kind: 'stream-deleted' } }
  // Written by hand: JSON.stringify would round int64's maximum.
  const placed = [metadataEvent(stream, state, `{"$tb":${int64Max}}`)]
  return { kind: 'add', placed, answer: 0, revision: state.lastMetadata + 1 }
}

function planTombstone (stream: string): Plan {
  const event = { id: randomUUID(), type: '$streamDeleted', isJson: false, data: none, metadata: none }
  const placed = [{ stream, revision: tombstoneRevision, event }]
  return { kind: 'add', placed, answer: 0, revision: tombstoneRevision }
}

// New events or metadata bring a soft-deleted stream back. Deleted events stay hidden; other metadata is kept.
function undelete (
  stream: string, state: StreamState, placed: readonly Placed[], described: Described | undefined
): Placed[] {
  if (isSoftDeleted(state)) {
    return [metadataEvent(stream, state, withTruncation(state.metadata ?? {}, state.last + 1))]
  }
  const last = placed.at(-1)
  if (described === undefined || last === undefined || !isSoftDeleted(described.state)) return []
  const metadata = membersOf(last.event.data) // whatever its content type
  const after = afterMetadata(described.state, { ...last.event, revision: last.revision })
  if (metadata === undefined || isSoftDeleted(after)) return []
  return [metadataEvent(described.stream, after, withTruncation(metadata, after.last + 1))]
}

function metadataEvent (stream: string, state: StreamState, json: string): Placed {
  const event = { id: randomUUID(), type: '$metadata', isJson: true, data: Buffer.from(json), metadata: none }
  return { stream: metastreamOf(stream), revision: state.lastMetadata + 1, event }
}

/** An append of events with these ids to a stream in this state. */
interface Proposal {
  stream: string
  expected: ExpectedRevision
  ids: readonly string[]
  state: StreamState
  seen: Sightings
}

/** `written`: a repeat of an earlier append. */
type Decision =
  | { kind: 'append' } | { kind: 'look-up' }
  | Extract<Outcome, { kind: 'written' | 'wrong-revision' | 'stream-deleted' }>

function decide (proposal: Proposal): Decision {
  const { expected, state } = proposal
  if (state.isTombstoned) return { kind: 'stream-deleted' }
  if (expected === streamExists && isSoftDeleted(state)) return { kind: 'stream-deleted' }
  if (expected === streamExists && state.last < 0 && state.lastMetadata < 0) return wrong(state)
  if (expected === any || expected === streamExists) return decideByRecentIds(proposal)
  if (expected > state.last) return wrong(state)
  if (expected === state.last) return { kind: 'append' }
  return decideByRecordedIds(proposal)
}

const wrong = (state: StreamState) => ({ kind: 'wrong-revision' as const, current: state.last })

function decideByRecentIds ({ stream, ids, state, seen }: Proposal): Decision {
  let last: Sighting | undefined
  for (const [index, id] of ids.entries()) {
    const sighting = seen.recent(id)
    if (sighting === undefined || sighting.stream !== stream) return index === 0 ? { kind: 'append' } : wrong(state)
    last = sighting
  }
  return last === undefined ? { kind: 'append' } : { kind: 'written', revision: last.revision, position: last.position }
}

function decideByRecordedIds ({ stream, expected, ids, state, seen }: Proposal): Decision {
  if (ids.length === 0) return wrong(state)
  let position: number | undefined
  for (const [index, id] of ids.entries()) {
    const revision = expected + 1 + index
    const recent = seen.recent(id)
    if (recent !== undefined && recent.stream === stream && recent.revision === revision) {
      position = recent.position
      continue
    }
    if (seen.recorded === undefined) return { kind: 'look-up' }
    const recorded = seen.recorded.get(revision)
    const isNew = index === 0 && expected === noStream && isSoftDeleted(state)
    if (recorded?.id !== id) return isNew ? { kind: 'append' } : wrong(state)
    position = recorded.position
  }
  return { kind: 'written', revision: expected + ids.length, position }
}
