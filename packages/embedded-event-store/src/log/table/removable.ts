// What a scavenge takes away of a stream. The last event always stays: the stream goes on behind it.
import { describedBy, tombstoneRevision } from '../event.js'
import { firstVisible, type StreamState } from '../stream-state.js'

/** Events below `end` that are below `before` or older than `created` (Unix ms). */
export interface Removable {
  stream: string
  end: number
  before: number
  created: number
}

/** @param target the state of the stream that a stream of metadata describes */
export function removableOf (stream: string, state: StreamState, target: StreamState | undefined): Removable {
  const isMetadata = describedBy(stream) !== undefined
  // Of a stream that is gone for ever the tombstone stays, and nothing of its metadata.
  if (isMetadata && target?.isTombstoned) return all(stream, Infinity)
  if (state.isTombstoned) return all(stream, tombstoneRevision)
  const before = isMetadata ? state.last : firstVisible(state)
  const created = state.maxAge === Infinity ? 0 : Date.now() - state.maxAge * 1000
  return { stream, end: state.last, before: Math.min(before, state.last), created }
}

const all = (stream: string, end: number): Removable => ({ stream, end, before: end, created: 0 })
