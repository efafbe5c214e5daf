// The shape of every aggregate: how its events add up, and what a command makes of them.

/** The events of a stream, and how they add up to a state. Events of other types in it are passed over. */
export interface Aggregate<State, Event extends { type: string }> {
  initialState: State
  eventTypes: readonly Event['type'][]
  /** The state after one more event. Total: an event that was accepted once is never refused. */
  evolve (state: State, event: Event): State
  /** Where a stream is folded by several aggregates, what tells this one from the others; else absent. */
  part?: string
  /** Whose the stream is, told by its first event; without it, everybody's. */
  ownerOf? (state: State): string | undefined
  /** Its streams are written once: no state is cached. */
  isWrittenOnce?: true
  /** What cannot be read behind the first event says nothing: it is skipped. */
  skipsUnreadable?: true
  /** Bytes of one encoded event; 900 KiB when absent, which every server version takes with its metadata. */
  largestEvent?: number
}

export interface Decider<State, Event extends { type: string }, Command> extends Aggregate<State, Event> {
  /** The events that the command leads to, none when nothing changes. @throws Rejection */
  decide (command: Command, state: State): Event[]
}

/** What comes with every command of a user; made outside, so that a decision is pure. */
export interface Circumstances {
  userId: string
  /** Those that were reserved for what the command creates. */
  ids: readonly number[]
  /** ISO 8601. */
  now: string
}

/** The state that events add up to, from the beginning of their stream or from a state of before. */
export function fold<State, Event extends { type: string }> (
  aggregate: Aggregate<State, Event>, events: readonly Event[], before = aggregate.initialState
): State {
  return events.reduce((state, event) => aggregate.evolve(state, event), before)
}

/** The reserved id with this index. @throws when fewer were reserved */
export function idAt (ids: readonly number[], index: number): number {
  const id = ids[index]
  if (id === undefined) throw new RangeError(`${ids.length} ids were reserved, and number ${index + 1} is asked for`)
  return id
}

/** The later one of two instants, as it was written. */
export const laterOf = (one: string, other: string) => Date.parse(other) > Date.parse(one) ? other : one
