// How the events of a call add up: the first report counts, until its person is erased.
import type { CallErased } from './erased.js'
import type { CallCompleted, CallEvent } from './events.js'

/** Nothing yet, what the engine reported first, or what is left of it. */
export type CallState = CallCompleted | CallErased | undefined

/** A later report of the same call is a duplicate, also of one that was erased. */
export const evolve = (state: CallState, { type, data }: CallEvent): CallState =>
  type === 'CallErased' ? data : state ?? data

export const isErased = (state: CallCompleted | CallErased): state is CallErased => 'erased_at' in state
