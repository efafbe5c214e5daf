// Events that have arrived and wait to be pulled, bounded by their number and by their bytes.
import type { StoredEvent } from '../../domain/stored-event.js'
import { sizeOf } from '../size.js'
import type { IsUnhurried } from './batch.js'

/** About the memory that the data of one batch takes. A larger event is a batch of its own; most take a quarter. */
const maxBytes = 16 * 2 ** 20

/** In one batch. While twice as many wait, the subscription is paused. */
const maxEvents = 500

export class WaitingEvents {
  readonly #events: { event: StoredEvent, bytes: number }[] = []
  #bytes = 0
  #unhurried = 0

  /** @param isUnhurried which events wait for others */
  constructor (private readonly isUnhurried: IsUnhurried = () => false) {}

  get count (): number {
    return this.#events.length
  }

  /** Not all of them wait for others, or so many do that they go alone. */
  get isDue (): boolean {
    return this.count > this.#unhurried || this.isFull
  }

  /** No more should come now. */
  get isFull (): boolean {
    return this.count >= 2 * maxEvents || this.#bytes >= maxBytes
  }

  /** Of one batch. */
  get hasRoom (): boolean {
    return this.count < maxEvents && this.#bytes < maxBytes
  }

  keep (event: StoredEvent): void {
    const bytes = sizeOf(event.data)
    this.#events.push({ event, bytes })
    this.#bytes += bytes
    if (this.isUnhurried(event)) this.#unhurried += 1
  }

  /** The oldest ones, as many as one batch may hold. */
  takeBatch (): StoredEvent[] {
    let [count, bytes] = [0, 0]
    for (const next of this.#events) {
      if (count === maxEvents || (count > 0 && bytes + next.bytes > maxBytes)) break
      count += 1
      bytes += next.bytes
    }
    this.#bytes -= bytes
    const taken = this.#events.splice(0, count).map(({ event }) => event)
    this.#unhurried -= taken.filter(this.isUnhurried).length
    return taken
  }
}
