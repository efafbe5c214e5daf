// Passes over events that a store has delivered before.
import type { Batch } from '../log/follow.js'

/**
 * The batch without events up to `after`, and with each later event once, in log order. An event that is handled twice
 * could be parked the second time, when its stream is parked by then.
 */
export function skipProcessed ({ events, position }: Batch, after: bigint): Batch {
  let last = after
  return {
    position,
    events: events.filter((event) => {
      if (event.position <= last) return false
      last = event.position
      return true
    })
  }
}
