// One look for all who want to know whether an outage is over, so that a store that comes back is not overrun.
import { EventStoreUnavailable, NoAnswer } from '../errors.js'
import { withTimeout } from '../../timing/with-timeout.js'

/** Calls wait no longer than this to learn it. */
const patienceMs = 500

/** Calls that wait for each other would each look anew: what a look has found counts for so long. */
const countsForMs = 100

export class SharedLook {
  #looking: Promise<void> | undefined
  #failed: { at: number, error: unknown } | undefined

  constructor (private readonly look: () => Promise<unknown>) {}

  /** @throws EventStoreUnavailable */
  async join (): Promise<void> {
    if (this.#failed && performance.now() - this.#failed.at < countsForMs) throw this.#failed.error
    await (this.#looking ??= this.#lookNow().finally(() => { this.#looking = undefined }))
  }

  async #lookNow (): Promise<void> {
    try {
      await withTimeout(patienceMs, this.look(), () => new NoAnswer(patienceMs))
      this.#failed = undefined
    } catch (cause) {
      const error = cause instanceof EventStoreUnavailable ? cause : new EventStoreUnavailable('it is silent', { cause })
      this.#failed = { at: performance.now(), error }
      throw error
    }
  }
}
