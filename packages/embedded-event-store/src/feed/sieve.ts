// The sieve of a subscription to $all: lets the matching events through and sets the checkpoints.
import type { RecordedEvent } from '../log/event.js'
import { type Filter, isHidden } from './filter.js'
import type { Release } from './release.js'
import { nowhere, type Step } from './step.js'

export class Sieve {
  readonly #filter: Filter | undefined
  #sinceCheckpoint = 0
  #lastConsidered = 0
  readonly #release: Release
  /** The last event or checkpoint that was sent, or the place before the first. */
  #lastSent: number
  #lastCheckpoint = 0

  constructor (filter: Filter | undefined, after: number, release: Release) {
    this.#filter = filter
    this.#lastSent = after
    this.#release = release
  }

  * pass (page: readonly RecordedEvent[]): Generator<Step> {
    let events: RecordedEvent[] = []
    for (const event of page) {
      if (isHidden(event)) continue
      if (this.#filter === undefined || this.#filter.matches(event)) {
        events.push(event)
        this.#lastSent = event.position
      }
      this.#lastConsidered = event.position
      this.#sinceCheckpoint++
      if (this.#filter === undefined || this.#sinceCheckpoint < this.#filter.checkpointInterval) continue
      if (events.length > 0) yield { kind: 'events', events }
      events = []
      yield this.#checkpoint(this.#lastConsidered)
    }
    if (events.length > 0) yield { kind: 'events', events }
  }

  * caughtUp (): Generator<Step> {
    if (this.#filter !== undefined && this.#sinceCheckpoint > 0) yield * this.#lastOfCatchUp()
    yield { kind: 'caught-up' }
  }

  * #lastOfCatchUp (): Generator<Step> {
    switch (this.#release) {
      case '24.10': yield this.#checkpoint(this.#lastConsidered); break
      case '24.10.4': {
        const isNew = this.#lastSent === 0 || this.#lastSent !== this.#lastCheckpoint
        if (isNew) yield this.#checkpoint(this.#lastSent || nowhere)
        break
      }
      case '23.10': break
    }
  }

  #checkpoint (position: number): Step {
    this.#sinceCheckpoint = 0
    if (position !== nowhere) this.#lastSent = this.#lastCheckpoint = position
    return { kind: 'checkpoint', position }
  }
}
