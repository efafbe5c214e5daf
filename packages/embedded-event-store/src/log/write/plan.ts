// Turns a decided request into the events that it adds. Deletes and tombstones are events like any other.
import { randomUUID } from 'node:crypto'
import { decide, type Decision, type Sightings } from './decide.js'
import { int64Max, metastreamOf, type ProposedEvent, tombstoneRevision } from '../event.js'
import { membersOf, withTruncation } from '../metadata.js'
import type { Outcome, WriteRequest } from './request.js'
import { afterMetadata, firstVisible, isSoftDeleted, type StreamState } from '../stream-state.js'

export interface Placed { stream: string, revision: number, event: ProposedEvent }

/** What a request adds to the log, and what to answer once that is durable (positions apart). */
export type Plan =
  | { kind: 'look-up' }
  | { kind: 'refuse', outcome: Outcome }
  | { kind: 'repeat', revision: number, position: number | undefined }
  /** An append of no events: it is answered with the end of the log. */
  | { kind: 'nothing', revision: number }
  | { kind: 'add', placed: Placed[], answer: number, revision: number }

/** The stream whose metadata the request writes, if that is what it does. */
export interface Described { stream: string, state: StreamState }

/** Plans a request against the state of its stream. `answer` is the index of the event whose position is the reply. */
export function plan (
  request: WriteRequest, state: StreamState, described: Described | undefined, seen: Sightings
): Plan {
  const { action, stream, expected, events } = request
  if (action === 'append') {
    const decision = decide({ stream, expected, ids: events.map((event) => event.id), state, seen })
    const isMetadata = described !== undefined
    return planned(withoutHidden(decision, state, isMetadata), () => planAppend(request, state, described))
  }
  // A delete is decided as an append of an id that is new.
  const decision = decide({ stream, expected, ids: [randomUUID()], state, seen: nothingSeen })
  return planned(decision, () => action === 'delete' ? planDelete(stream, state) : planTombstone(stream))
}

const none = new Uint8Array()
const nothingSeen: Sightings = { recent: () => undefined, recorded: new Map() }

/** A repeat of what can be seen no more is answered without a position. Of metadata only the last can be seen. */
function withoutHidden (decision: Decision, state: StreamState, isMetadata: boolean): Decision {
  if (decision.kind !== 'repeat') return decision
  const first = isMetadata ? state.last : firstVisible(state)
  return decision.revision >= first ? decision : { ...decision, position: undefined }
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
  const placed = events.map((event, index) => ({ stream, revision: state.last + 1 + index, event }))
  const all = [...placed, ...undelete(stream, state, placed, described)]
  const revision = state.last + placed.length
  if (all.length === 0) return { kind: 'nothing', revision }
  return { kind: 'add', placed: all, answer: Math.max(0, placed.length - 1), revision }
}

function planDelete (stream: string, state: StreamState): Plan {
  if (state.last < 0 && state.lastMetadata < 0) {
    return { kind: 'refuse', outcome: { kind: 'wrong-revision', current: state.last } }
  }
  // An older log may hold a tombstone of the metadata, behind which no event can be.
  if (state.lastMetadata === tombstoneRevision) return { kind: 'refuse', outcome: { kind: 'stream-deleted' } }
  // int64's maximum is written by hand: JSON.stringify would round it.
  const placed = [metadataEvent(stream, state, `{"$tb":${int64Max}}`)]
  return { kind: 'add', placed, answer: 0, revision: state.lastMetadata + 1 }
}

function planTombstone (stream: string): Plan {
  const event = { id: randomUUID(), type: '$streamDeleted', isJson: false, data: none, metadata: none }
  const placed = [{ stream, revision: tombstoneRevision, event }]
  return { kind: 'add', placed, answer: 0, revision: tombstoneRevision }
}

// Events or metadata bring a soft-deleted stream back. What was deleted stays hidden; the rest of the metadata stays.
function undelete (
  stream: string, state: StreamState, placed: readonly Placed[], described: Described | undefined
): Placed[] {
  if (isSoftDeleted(state)) {
    return [metadataEvent(stream, state, withTruncation(state.metadata ?? new Map(), state.last + 1))]
  }
  const last = placed.at(-1)
  if (described === undefined || last === undefined || !isSoftDeleted(described.state)) return []
  const metadata = membersOf(last.event.data) // whatever its content type says
  const after = afterMetadata(described.state, { ...last.event, revision: last.revision })
  if (metadata === undefined || isSoftDeleted(after)) return []
  return [metadataEvent(described.stream, after, withTruncation(metadata, after.last + 1))]
}

function metadataEvent (stream: string, state: StreamState, json: string): Placed {
  const event = { id: randomUUID(), type: '$metadata', isJson: true, data: Buffer.from(json), metadata: none }
  return { stream: metastreamOf(stream), revision: state.lastMetadata + 1, event }
}
