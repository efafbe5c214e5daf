// Counts what the consumers of this process have done since it started, for metrics.
import type { Batch } from '../log/follow.js'

export interface Counters {
  commits: number
  events: number
  /** How often the consumer stopped, to resume from its checkpoint. */
  failures: number
}

/** By name of the consumer. */
export const countersByConsumer = new Map<string, Counters>()

/** The counters of a consumer; they begin at 0. */
export function countersOf (consumer: string): Counters {
  const counters = countersByConsumer.get(consumer) ?? { commits: 0, events: 0, failures: 0 }
  countersByConsumer.set(consumer, counters)
  return counters
}

/** Counts a batch that was committed. */
export function countBatch (consumer: string, { events }: Batch): void {
  const counters = countersOf(consumer)
  counters.commits += 1
  counters.events += events.length
}
