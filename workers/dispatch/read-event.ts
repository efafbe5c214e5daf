// A stored event as the dispatcher reads it. It may be malformed: every client of the event store can append anything.
import { callIdOf } from '../../src/features/calls/events.js'
import { tryDecode, type DomainEvent } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'

export interface ReadEvent {
  stored: StoredEvent
  event?: DomainEvent | undefined
  /** The call of a CallCompleted or CallErased, from its stream: also when the event is malformed. */
  callId?: string | undefined
  /** Why the event is malformed. */
  problem?: string
}

export function readEvent (stored: StoredEvent): ReadEvent {
  const isOfCall = stored.type === 'CallCompleted' || stored.type === 'CallErased'
  const callId = isOfCall ? callIdOf(stored.stream) : undefined
  return { stored, callId, ...tryDecode(stored) }
}

export function logMalformed (
  { stored, problem }: ReadEvent, log: { warn (details: object, message: string): void }
): void {
  log.warn({ stream: stored.stream, revision: String(stored.revision), problem }, 'event is malformed')
}
