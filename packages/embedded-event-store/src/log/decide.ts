// The append decision, row by row as EventStoreDB takes it. Pure: state and sightings of ids are passed in.
import { isSoftDeleted, type StreamState } from './stream-state.js'

/** An exact revision, or one of `noStream`, `any`, `streamExists` (the protocol's own numbers). */
export type ExpectedRevision = number
export const noStream = -1
export const any = -2
export const streamExists = -4

/** Where an event id was seen. */
export interface Sighting { stream: string, revision: number, position: number }

export interface Sightings {
  /** The last place of an id among the recent events, if it is among them. */
  recent (id: string): Sighting | undefined
  /** The event at a revision of the stream as the table has it, or undefined when nobody has looked yet. */
  recorded?: ReadonlyMap<number, { id: string, position: number }>
}

export type Decision =
  | { kind: 'append' }
  | { kind: 'repeat', revision: number, position: number | undefined }
  | { kind: 'wrong-revision', current: number }
  | { kind: 'stream-deleted' }
  /** The answer needs the ids at the expected revision and after it, from the table. */
  | { kind: 'look-up' }

/** Decides an append of events with these ids to a stream in this state. */
export function decide (stream: string, expected: ExpectedRevision, ids: readonly string[], state: StreamState, seen: Sightings): Decision {
  const wrong: Decision = { kind: 'wrong-revision', current: state.last }
  if (state.isTombstoned) return { kind: 'stream-deleted' }
  if (expected === streamExists && isSoftDeleted(state)) return { kind: 'stream-deleted' }
  if (expected === streamExists && state.last < 0 && state.lastMetadata < 0) return wrong
  if (expected === any || expected === streamExists) return decideByRecentIds(stream, ids, seen, wrong)
  if (expected > state.last) return wrong
  if (expected === state.last) return { kind: 'append' }
  return decideByRecordedIds(stream, expected, ids, state, seen, wrong)
}

function decideByRecentIds (stream: string, ids: readonly string[], seen: Sightings, wrong: Decision): Decision {
  let last: Sighting | undefined
  for (const [index, id] of ids.entries()) {
    const sighting = seen.recent(id)
    if (sighting === undefined || sighting.stream !== stream) return index === 0 ? { kind: 'append' } : wrong
    last = sighting
  }
  return last === undefined ? { kind: 'append' } : { kind: 'repeat', revision: last.revision, position: last.position }
}

function decideByRecordedIds (stream: string, expected: number, ids: readonly string[], state: StreamState, seen: Sightings, wrong: Decision): Decision {
  if (ids.length === 0) return wrong
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
    if (recorded?.id !== id) return index === 0 && expected === noStream && isSoftDeleted(state) ? { kind: 'append' } : wrong
    position = recorded.position
  }
  return { kind: 'repeat', revision: expected + ids.length, position }
}
