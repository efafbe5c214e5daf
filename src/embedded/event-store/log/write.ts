// Turns one decided request into the events it adds; deletes and tombstones are events like any other.
import { any, decide, type ExpectedRevision, noStream, type Sightings, streamExists } from './decide.js'
import { randomUUID } from 'node:crypto'
import { metastreamOf, type ProposedEvent, tombstoneRevision } from './event.js'
import { isSoftDeleted, type StreamState } from './stream-state.js'

export interface WriteRequest {
  action: 'append' | 'delete' | 'tombstone'
  stream: string
  expected: ExpectedRevision
  /** Empty for deletes. */
  events: readonly ProposedEvent[]
  /** Unix ms after which nobody waits for it: then it is not begun. */
  expiresAt?: number
}

export type Outcome =
  /** `revision` is -1 and `position` undefined when an empty append found no stream. */
  | { kind: 'written', revision: number, position: number | undefined }
  | { kind: 'wrong-revision', current: number }
  | { kind: 'stream-deleted' }
  /** Not written: there is no database to write to, or nobody waits any more. */
  | { kind: 'unavailable' | 'expired' }
  /** The connection broke while it was committed: written or not, nobody knows. */
  | { kind: 'unknown' }

export interface Placed { stream: string, revision: number, event: ProposedEvent }

/** What a request adds to the log, and what to answer once that is durable (positions apart). */
export type Plan =
  | { kind: 'look-up' }
  | { kind: 'refuse', outcome: Outcome }
  | { kind: 'repeat', revision: number, position: number | undefined }
  | { kind: 'add', placed: Placed[], answer: number }

/** Plans a request against the state of its stream. `answer` is the index of the event whose place is the reply. */
export function plan (request: WriteRequest, state: StreamState, seen: Sightings): Plan {
  if (request.action === 'append') return planAppend(request, state, seen)
  if (state.isTombstoned) return { kind: 'refuse', outcome: { kind: 'stream-deleted' } }
  return request.action === 'delete' ? planDelete(request, state) : planTombstone(request, state)
}

function planAppend (request: WriteRequest, state: StreamState, seen: Sightings): Plan {
  const { stream, expected, events } = request
  const decision = decide(stream, expected, events.map((event) => event.id), state, seen)
  switch (decision.kind) {
    case 'look-up': return decision
    case 'repeat': return decision
    case 'wrong-revision':
    case 'stream-deleted': return { kind: 'refuse', outcome: decision }
    case 'append': break
  }
  if (events.length === 0) return { kind: 'repeat', revision: state.last, position: undefined }
  const placed = events.map((event, index) => ({ stream, revision: state.last + 1 + index, event }))
  const answer = placed.length - 1
  return { kind: 'add', placed: isSoftDeleted(state) ? [...placed, undelete(stream, state)] : placed, answer }
}

function planDelete ({ stream, expected }: WriteRequest, state: StreamState): Plan {
  const isUnknown = state.last < 0 && state.lastMetadata < 0
  if (isUnknown || !holds(expected, state)) return { kind: 'refuse', outcome: { kind: 'wrong-revision', current: state.last } }
  // int64's maximum is written by hand: JSON.stringify would round it.
  return { kind: 'add', placed: [metadataEvent(stream, state, `{"$tb":${2n ** 63n - 1n}}`)], answer: 0 }
}

function planTombstone ({ stream, expected }: WriteRequest, state: StreamState): Plan {
  if (!holds(expected, state)) return { kind: 'refuse', outcome: { kind: 'wrong-revision', current: state.last } }
  const event = { id: randomUUID(), type: '$streamDeleted', isJson: false, data: new Uint8Array(), metadata: new Uint8Array() }
  return { kind: 'add', placed: [{ stream, revision: tombstoneRevision, event }], answer: 0 }
}

function holds (expected: ExpectedRevision, state: StreamState): boolean {
  if (expected === any) return true
  if (expected === streamExists) return state.last >= 0 || state.lastMetadata >= 0
  return expected === noStream ? state.last < 0 : expected === state.last
}

// After a re-creation only the new events are to be seen; the rest of the metadata stays.
function undelete (stream: string, state: StreamState): Placed {
  return metadataEvent(stream, state, JSON.stringify({ ...state.metadata, $tb: state.last + 1 }))
}

function metadataEvent (stream: string, state: StreamState, json: string): Placed {
  const event = { id: randomUUID(), type: '$metadata', isJson: true, data: Buffer.from(json), metadata: new Uint8Array() }
  return { stream: metastreamOf(stream), revision: state.lastMetadata + 1, event }
}
