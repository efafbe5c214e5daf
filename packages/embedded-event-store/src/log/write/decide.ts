// The append decision, row by row as EventStoreDB takes it. Pure: state and sightings of ids are passed in.
import type { Identified, StreamPlace } from '../event.js'
import { isSoftDeleted, type StreamState } from '../stream-state.js'

/** An exact revision, or one of `noStream`, `any`, `streamExists` (the protocol's own numbers). */
export type ExpectedRevision = number
export const noStream = -1
export const any = -2
export const streamExists = -4

/** Where an event id was seen. */
export interface Sighting extends StreamPlace { position: number }

export interface Sightings {
  /** The first place of an id among the recent events, over all streams, if it is among them. */
  recent (id: string): Sighting | undefined
  /** The event at a revision of the stream as the table has it, or undefined when the table was not read yet. */
  recorded?: ReadonlyMap<number, Identified>
}

/** Events with these ids are to be appended to a stream in this state. */
export interface Proposal {
  stream: string
  expected: ExpectedRevision
  ids: readonly string[]
  state: StreamState
  seen: Sightings
}

export type Decision =
  | { kind: 'append' }
  | { kind: 'repeat', revision: number, position: number | undefined }
  | { kind: 'wrong-revision', current: number }
  | { kind: 'stream-deleted' }
  /** The answer needs the ids at the expected revision and after it, from the table. */
  | { kind: 'look-up' }

export function decide (proposal: Proposal): Decision {
  const { expected, state } = proposal
  if (state.isTombstoned) return { kind: 'stream-deleted' }
  if (expected === streamExists && isSoftDeleted(state)) return { kind: 'stream-deleted' }
  if (expected === streamExists && state.last < 0 && state.lastMetadata < 0) return wrong(state)
  if (expected === any || expected === streamExists) return decideByRecentIds(proposal)
  if (expected > state.last) return wrong(state)
  if (expected === state.last) return { kind: 'append' }
  return decideByRecordedIds(proposal)
}

const wrong = (state: StreamState): Decision => ({ kind: 'wrong-revision', current: state.last })

function decideByRecentIds ({ stream, ids, state, seen }: Proposal): Decision {
  let last: Sighting | undefined
  for (const [index, id] of ids.entries()) {
    const sighting = seen.recent(id)
    if (sighting === undefined || sighting.stream !== stream) return index === 0 ? { kind: 'append' } : wrong(state)
    last = sighting
  }
  return last === undefined ? { kind: 'append' } : { kind: 'repeat', revision: last.revision, position: last.position }
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
  return { kind: 'repeat', revision: expected + ids.length, position }
}
