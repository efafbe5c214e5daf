// What the consumers of this process have done since it started, for metrics.
import type { Batch } from '../event-store/subscribe.js'

export interface Tally {
  commits: number
  events: number
  /** How often it stopped, to resume from its checkpoint. */
  failures: number
}

/** By name of the consumer. */
export const tallies = new Map<string, Tally>()

export function tallyOf (consumer: string): Tally {
  const tally = tallies.get(consumer) ?? { commits: 0, events: 0, failures: 0 }
  tallies.set(consumer, tally)
  return tally
}

/** Counts a batch that was committed. */
export function count (consumer: string, { events }: Batch): void {
  const tally = tallyOf(consumer)
  tally.commits += 1
  tally.events += events.length
}
