// Turns one decided request into the events it adds; deletes and tombstones are events like any other.
import { randomUUID } from 'node:crypto'
import { decide, type Decision, type ExpectedRevision, type Sightings } from './decide.js'
import { metastreamOf, type ProposedEvent, tombstoneRevision } from './event.js'
import { afterMetadata, isSoftDeleted, metadataIn, type StreamState } from './stream-state.js'

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

/** The stream whose metadata the request writes, if that is what it does. */
export interface Described { stream: string, state: StreamState }

/** Plans a request against the state of its stream. `answer` is the index of the event whose place is the reply. */
export function plan (request: WriteRequest, state: StreamState, described: Described | undefined, seen: Sightings): Plan {
  const { action, stream, expected, events } = request
  if (described?.state.isTombstoned === true) return { kind: 'refuse', outcome: { kind: 'stream-deleted' } }
  if (action === 'append') return planned(decide(stream, expected, events.map((event) => event.id), state, seen), () => planAppend(request, state, described))
  // A delete is decided as an append of an id that nobody has seen.
  const decision = decide(stream, expected, [randomUUID()], state, { recent: () => undefined, recorded: new Map() })
  return planned(decision, () => action === 'delete' ? planDelete(stream, state) : planTombstone(stream))
}

function planned (decision: Decision, add: () => Plan): Plan {
  switch (decision.kind) {
    case 'look-up':
    case 'repeat': return decision
    case 'wrong-revision':
    case 'stream-deleted': return { kind: 'refuse', outcome: decision }
    case 'append': return add()
  }
}

function planAppend ({ stream, events }: WriteRequest, state: StreamState, described: Described | undefined): Plan {
  if (events.length === 0) return { kind: 'repeat', revision: state.last, position: undefined }
  const placed = events.map((event, index) => ({ stream, revision: state.last + 1 + index, event }))
  return { kind: 'add', placed: [...placed, ...undelete(stream, state, placed, described)], answer: placed.length - 1 }
}

function planDelete (stream: string, state: StreamState): Plan {
  if (state.last < 0 && state.lastMetadata < 0) return { kind: 'refuse', outcome: { kind: 'wrong-revision', current: state.last } }
  // int64's maximum is written by hand: JSON.stringify would round it.
  return { kind: 'add', placed: [metadataEvent(stream, state, `{"$tb":${2n ** 63n - 1n}}`)], answer: 0 }
}

function planTombstone (stream: string): Plan {
  const event = { id: randomUUID(), type: '$streamDeleted', isJson: false, data: new Uint8Array(), metadata: new Uint8Array() }
  return { kind: 'add', placed: [{ stream, revision: tombstoneRevision, event }], answer: 0 }
}

// Events or metadata bring a soft-deleted stream back. What was deleted stays hidden; the rest of the metadata stays.
function undelete (stream: string, state: StreamState, placed: readonly Placed[], described: Described | undefined): Placed[] {
  if (isSoftDeleted(state)) return [metadataEvent(stream, state, JSON.stringify({ ...state.metadata, $tb: state.last + 1 }))]
  const last = placed.at(-1)
  if (described === undefined || last === undefined || !isSoftDeleted(described.state)) return []
  const metadata = metadataIn(last.event)
  const after = afterMetadata(described.state, { ...last.event, revision: last.revision })
  if (metadata === undefined || isSoftDeleted(after)) return []
  return [metadataEvent(described.stream, after, JSON.stringify({ ...metadata, $tb: after.last + 1 }))]
}

function metadataEvent (stream: string, state: StreamState, json: string): Placed {
  const event = { id: randomUUID(), type: '$metadata', isJson: true, data: Buffer.from(json), metadata: new Uint8Array() }
  return { stream: metastreamOf(stream), revision: state.lastMetadata + 1, event }
}
