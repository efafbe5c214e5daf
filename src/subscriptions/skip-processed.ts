// Passes over what a store has delivered before.
import type { Batch } from '../event-store/subscribe.js'

/** The batch with each event that comes after `after` once, in log order: handling one again could set it aside, when its stream is held by now. */
export function newIn ({ events, position }: Batch, after: bigint): Batch {
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
