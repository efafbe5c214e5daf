// The shape of every aggregate: how its events add up, and what a command makes of them.
import type { NewEvent } from './stored-event.js'

export interface Decider<State, Event, Command> {
  initialState: State
  /** The state after one more event. Total: an event that was accepted once is never refused. */
  evolve (state: State, event: Event): State
  /** The events that the command leads to, none when nothing changes. @throws Rejection */
  decide (command: Command, state: State): NewEvent[]
}

/** The state that a stream's events add up to. */
export function fold<State, Event> (decider: Pick<Decider<State, Event, never>, 'initialState' | 'evolve'>, events: Iterable<Event>): State {
  let state = decider.initialState
  for (const event of events) state = decider.evolve(state, event)
  return state
}
