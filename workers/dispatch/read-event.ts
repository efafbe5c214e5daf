// What a stored event says, and whether it may be believed: anybody can append anything anywhere.
import { callIdOf } from '../../src/domain/call/events.js'
import { DecodeError, decode, type DomainEvent } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'

export interface ReadEvent {
  stored: StoredEvent
  event?: DomainEvent
  /** The call that a CallCompleted is about, told by its stream: there also when the event is malformed. */
  callId?: string
  /** Why the event is malformed. */
  problem?: string
}

export function readEvent (stored: StoredEvent): ReadEvent {
  const callId = stored.type === 'CallCompleted' ? callIdOf(stored.stream) : undefined
  const call = callId === undefined ? {} : { callId }
  try {
    const event = decode(stored)
    return { stored, ...call, ...(event && { event }) }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { stored, ...call, problem: error.message }
  }
}
