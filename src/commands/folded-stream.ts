// What a stream adds up to, event by event.
import type { Aggregate } from '../domain/decider.js'
import { decode, DecodeError, type DomainEvent } from '../domain/events.js'
import { isErasing } from '../features/persons/model.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { StreamTruncated } from '../log/errors.js'
import { noStream } from '../log/event-log.js'

/** A stream up to a revision. */
export interface Folded<State> {
  state: State
  revision: bigint
  /** Of its last event that counts: others may have appended events of their own after it. */
  stateRevision: bigint
  /** Of its last event in $all; 0 when it has none. */
  position: bigint
}

export const emptyStream = <State>({ initialState }: { initialState: State }): Folded<State> =>
  ({ state: initialState, revision: noStream, stateRevision: noStream, position: 0n })

/** The stream after one more event; one of a type that is not the aggregate's changes no state. @throws DecodeError */
export function withNext<State, Event extends DomainEvent> (
  aggregate: Aggregate<State, Event>, folded: Folded<State>, stored: StoredEvent
): Folded<State> {
  const { revision, position } = stored
  const event = ownEvent(aggregate, folded.state, stored)
  if (!event) return { ...folded, revision, position }
  return { state: aggregate.evolve(folded.state, event), revision, stateRevision: revision, position }
}

/**
 * One that begins later, and with no event that creates something, was truncated; that of an erased person begins with
 * what is left of it.
 * @param first its first event
 * @throws StreamTruncated
 */
export function refuseHalf<State> (
  { aggregate: { initialState }, stream }: { aggregate: { initialState: State }, stream: string },
  state: State, first: Pick<StoredEvent, 'revision' | 'type' | 'metadata'> | undefined
): void {
  if (first && first.revision > 0n && state === initialState && !isErasing(first)) throw new StreamTruncated(stream, '$tb')
}

function ownEvent<State, Event extends DomainEvent> (
  { eventTypes, isWrittenOnce, initialState }: Aggregate<State, Event>, state: State, stored: StoredEvent
): Event | undefined {
  const isOwn = (event: { type: string }): event is Event => eventTypes.some((type) => type === event.type)
  try {
    const event = isOwn(stored) ? decode(stored) : undefined
    return event && isOwn(event) ? event : undefined
  } catch (error) {
    // What somebody appended to what was written says nothing, whatever it is.
    if (isWrittenOnce && state !== initialState && error instanceof DecodeError) return undefined
    throw error
  }
}
