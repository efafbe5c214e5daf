// How the events of a call add up: the first report counts.
import type { CallCompleted, CallEvent } from './events.js'

/** Nothing yet, or what the engine reported first. */
export type CallState = CallCompleted | undefined

/** A later report of the same call is a duplicate. */
export const evolve = (state: CallState, { data }: CallEvent): CallState => state ?? data
