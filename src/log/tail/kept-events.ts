// The newest events that came, as many as fit into a budget of bytes.
import type { StoredEvent } from '../../domain/stored-event.js'
import { sizeOf } from '../size.js'

/** What an event takes beside its data, in bytes. */
const besideData = 500

/** Of the budget, what is left when it was used up. */
const keptShare = 7 / 8

export class KeptEvents {
  readonly #events: { event: StoredEvent, bytes: number }[] = []
  #bytes = 0
  #since: bigint
  #reached: bigint

  /** @param after every event behind this position comes here */
  constructor (after: bigint, private readonly maxBytes: number) {
    this.#since = this.#reached = after
  }

  /** Every event behind this position that has come is here. */
  get since (): bigint {
    return this.#since
  }

  get reached (): bigint {
    return this.#reached
  }

  /** Keeps the events, and lets the oldest ones go where they are too many. */
  keep (events: readonly StoredEvent[], reached: bigint): void {
    for (const event of events) {
      if (event.position <= this.#reached) continue // it was delivered before
      const bytes = besideData + sizeOf(event.data)
      this.#events.push({ event, bytes })
      this.#bytes += bytes
      this.#reached = event.position
    }
    if (reached > this.#reached) this.#reached = reached
    this.#dropOldest()
  }

  /** Hands over the events behind a position, oldest first, until `take` says that it has enough. */
  visit (after: bigint, take: (event: StoredEvent) => boolean): void {
    for (let index = this.#firstBehind(after); index < this.#events.length; index += 1) {
      const kept = this.#events[index]
      if (!kept || !take(kept.event)) return
    }
  }

  #firstBehind (position: bigint): number {
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const kept = this.#events[middle]
      if (kept && kept.event.position <= position) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Many at once: to take a few from the beginning moves all the others. */
  #dropOldest (): void {
    if (this.#bytes <= this.maxBytes) return
    let count = 0
    for (const { event, bytes } of this.#events) {
      if (this.#bytes <= this.maxBytes * keptShare) break
      this.#bytes -= bytes
      this.#since = event.position
      count += 1
    }
    this.#events.splice(0, count)
  }
}
