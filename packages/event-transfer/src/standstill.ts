// How long a target is asked again that does not take, or does not show, what it is sent.
import { setTimeout as delay } from 'node:timers/promises'

/** A server answers within 2 s for an append that another copy has under way, and shows what it has taken soon. */
const mostMs = 15_000

const shortestPauseMs = 100
const longestPauseMs = 1_000

export class Standstill {
  #at: bigint | undefined
  #since = 0
  #pauseMs = shortestPauseMs

  constructor (private readonly signal: AbortSignal) {}

  /**
   * Waits a moment before the next try.
   * @param position up to which the target has what the source has
   * @throws `refusal`, or what is to be said without one, when the target has stood there for too long
   */
  async wait (position: bigint, refusal: Error | undefined): Promise<void> {
    if (position !== this.#at) {
      this.#at = position
      this.#since = performance.now()
      this.#pauseMs = shortestPauseMs
    } else if (performance.now() - this.#since > mostMs) throw refusal ?? notShown(position)
    await delay(this.#pauseMs, undefined, { signal: this.signal }).catch(() => this.signal.throwIfAborted())
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
  }
}

function notShown (position: bigint): Error {
  return new Error(`the target acknowledged events after position ${position} of the source and does not show them`)
}
