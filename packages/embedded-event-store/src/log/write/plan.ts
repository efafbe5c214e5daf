// Turns a decided request into the events that it adds. Deletes and tombstones are events like any other.
import { randomUUID } from 'node:crypto'
import { decide, type Decision, type Sightings } from './decide.js'
import { metastreamOf, type ProposedEvent, tombstoneRevision } from '../event.js'
import type { Outcome, WriteRequest } from './request.js'
import { afterMetadata, isSoftDeleted, metadataIn, type StreamState } from '../stream-state.js'

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
export function plan (
  request: WriteRequest, state: StreamState, described: Described | undefined, seen: Sightings
): Plan {
  const { action, stream, expected, events } = request
  if (described?.state.isTombstoned === true) return { kind: 'refuse', outcome: { kind: 'stream-deleted' } }
  if (action === 'append') {
    const decision = decide({ stream, expected, ids: events.map((event) => event.id), state, seen })
    return planned(decision, () => planAppend(request, state, described))
  }
  // A delete is decided as an append of an id that is new.
  const decision = decide({ stream, expected, ids: [randomUUID()], state, seen: nothingSeen })
  return planned(decision, () => action === 'delete' ? planDelete(stream, state) : planTombstone(stream))
}

const none = new Uint8Array()
const nothingSeen: Sightings = { recent: () => undefined, recorded: new Map() }

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
  if (state.last < 0 && state.lastMetadata < 0) {
    return { kind: 'refuse', outcome: { kind: 'wrong-revision', current: state.last } }
  }
  // int64's maximum is written by hand: JSON.stringify would round it.
  return { kind: 'add', placed: [metadataEvent(stream, state, `{"$tb":${2n ** 63n - 1n}}`)], answer: 0 }
}

function planTombstone (stream: string): Plan {
  const event = { id: randomUUID(), type: '$streamDeleted', isJson: false, data: none, metadata: none }
  return { kind: 'add', placed: [{ stream, revision: tombstoneRevision, event }], answer: 0 }
}

// Events or metadata bring a soft-deleted stream back. What was deleted stays hidden; the rest of the metadata stays.
function undelete (
  stream: string, state: StreamState, placed: readonly Placed[], described: Described | undefined
): Placed[] {
  if (isSoftDeleted(state)) {
    return [metadataEvent(stream, state, JSON.stringify({ ...state.metadata, $tb: state.last + 1 }))]
  }
  const last = placed.at(-1)
  if (described === undefined || last === undefined || !isSoftDeleted(described.state)) return []
  const metadata = metadataIn(last.event)
  const after = afterMetadata(described.state, { ...last.event, revision: last.revision })
  if (metadata === undefined || isSoftDeleted(after)) return []
  return [metadataEvent(described.stream, after, JSON.stringify({ ...metadata, $tb: after.last + 1 }))]
}

function metadataEvent (stream: string, state: StreamState, json: string): Placed {
  const event = { id: randomUUID(), type: '$metadata', isJson: true, data: Buffer.from(json), metadata: none }
  return { stream: metastreamOf(stream), revision: state.lastMetadata + 1, event }
}
