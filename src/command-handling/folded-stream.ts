// What a stream adds up to, event by event.
import type { Aggregate } from '../domain/decider.js'
import { decode, type DomainEvent } from '../domain/events.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { noStream } from '../event-store/streams.js'

/** A stream up to a revision. */
export interface Folded<State> {
  state: State
  revision: bigint
  /** Of its last event in $all; 0 when it has none. */
  position: bigint
}

export const emptyStream = <State>({ initialState }: { initialState: State }): Folded<State> =>
  ({ state: initialState, revision: noStream, position: 0n })

/** The stream after one more event. @throws DecodeError, and an Error for an event that does not belong there */
export function withNext<State, Event extends DomainEvent> (
  aggregate: Aggregate<State, Event>, { state }: Folded<State>, stored: StoredEvent
): Folded<State> {
  const { revision, position } = stored
  const event = ownEvent(aggregate, stored)
  return { state: event ? aggregate.evolve(state, event) : state, revision, position }
}

function ownEvent<State, Event extends DomainEvent> (
  { eventTypes, isShared }: Aggregate<State, Event>, stored: StoredEvent
): Event | undefined {
  const isOwn = (event: { type: string }): event is Event => eventTypes.some((type) => type === event.type)
  const event = isOwn(stored) ? decode(stored) : undefined
  if (event && isOwn(event)) return event
  if (isShared) return undefined
  throw new Error(`${stored.stream}@${stored.revision} has the type ${stored.type}, which does not belong there`)
}
