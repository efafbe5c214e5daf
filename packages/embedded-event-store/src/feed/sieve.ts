// The sieve of a subscription to $all: lets the matching events through and sets the checkpoints.
import type { RecordedEvent } from '../log/event.js'
import { type Filter, isHidden } from './filter.js'

/** What a subscription sends, one after the other. */
export type Step =
  | { kind: 'events', events: RecordedEvent[] }
  | { kind: 'checkpoint', position: number }
  | { kind: 'caught-up' }
  /** The stream was tombstoned; nothing follows. */
  | { kind: 'stream-deleted' }

export class Sieve {
  readonly #filter: Filter | undefined
  #sinceCheckpoint = 0
  #lastConsidered = 0

  constructor (filter: Filter | undefined) {
    this.#filter = filter
  }

  * pass (page: readonly RecordedEvent[]): Generator<Step> {
    let events: RecordedEvent[] = []
    for (const event of page) {
      if (isHidden(event)) continue
      if (this.#filter === undefined || this.#filter.matches(event)) events.push(event)
      this.#lastConsidered = event.position
      this.#sinceCheckpoint++
      if (this.#filter === undefined || this.#sinceCheckpoint < this.#filter.checkpointInterval) continue
      if (events.length > 0) yield { kind: 'events', events }
      events = []
      yield this.#checkpoint()
    }
    if (events.length > 0) yield { kind: 'events', events }
  }

  * caughtUp (): Generator<Step> {
    if (this.#filter !== undefined && this.#sinceCheckpoint > 0) yield this.#checkpoint()
    yield { kind: 'caught-up' }
  }

  #checkpoint (): Step {
    this.#sinceCheckpoint = 0
    return { kind: 'checkpoint', position: this.#lastConsidered }
  }
}
