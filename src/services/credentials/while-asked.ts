// Keeps something fresh while it is asked for, and lets it rest when nobody asks.
import { endsWithin } from '../../postgres/ends-within.js'

export interface Freshness {
  /** Brings it up to date, where it has rested. Never rejects. */
  refresh (): Promise<void>
  /** Called again and again while it is asked for. */
  keep (): void
  /** Between two calls, in milliseconds. */
  everyMs: number
}

/** It rests when nobody has asked for so long. */
const quietAfterMs = 5_000
/** The first request waits no longer than this; then it is answered from what is known. */
const refreshedWithinMs = 500

export class WhileAsked {
  #keeping: NodeJS.Timeout | undefined
  #askedAt = -Infinity
  #refreshing: Promise<unknown> | undefined

  constructor (private readonly freshness: Freshness) {}

  /** @returns what to wait for, where it has rested */
  asked (): Promise<unknown> | undefined {
    this.#askedAt = performance.now()
    if (this.#keeping) return this.#refreshing
    this.#keeping = setInterval(() => this.#keep(), this.freshness.everyMs).unref()
    this.#refreshing = endsWithin(refreshedWithinMs, this.freshness.refresh())
      .finally(() => { this.#refreshing = undefined })
    return this.#refreshing
  }

  close (): void {
    clearInterval(this.#keeping)
    this.#keeping = undefined
  }

  #keep (): void {
    if (performance.now() - this.#askedAt > quietAfterMs) return this.close()
    this.freshness.keep()
  }
}
