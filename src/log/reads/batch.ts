// The log as it is pulled, batch by batch.
import type { StoredEvent } from '../../domain/stored-event.js'

/** What arrived since the last pull: events in log order, and the position that is reached with them. */
export interface Batch {
  events: StoredEvent[]
  position: bigint
}

/** Whether an event may come a moment later, with others: they make fewer, larger batches. */
export type IsUnhurried = (event: Pick<StoredEvent, 'type' | 'data'>) => boolean

/** Of events of these types. */
export function isOneOf<Type extends string> (...types: Type[]): IsUnhurried {
  const known: ReadonlySet<string> = new Set(types)
  return ({ type }) => known.has(type)
}

export interface CatchUpOptions {
  /** Exclusive: the first event is the one after this position; 0 starts at the beginning. */
  after: bigint
  eventTypes: readonly string[]
  isUnhurried?: IsUnhurried | undefined
  /** How long a batch that is not full waits for more, in milliseconds. Without it, batches come early and small. */
  lingerMs?: number | undefined
}
