// A subscription: history from the table, then the newest events from memory, each exactly once and in order.
import { type RecordedEvent, tombstoneRevision } from '../log/event.js'
import type { EventLog } from '../log/log.js'
import { firstVisible, isFresh } from '../log/stream-state.js'
import type { Feed } from './feed.js'
import { type Filter, isHidden } from './filter.js'

export type Step =
  | { kind: 'events', events: RecordedEvent[] }
  | { kind: 'checkpoint', position: number }
  | { kind: 'caught-up' }
  /** The stream was tombstoned; nothing follows. */
  | { kind: 'stream-deleted' }

/** What comes after a position of $all. Ends when aborted. */
export async function * subscribeToAll (log: EventLog, feed: Feed, after: number, filter: Filter | undefined, aborted: AbortSignal): AsyncGenerator<Step> {
  const sieve = new Sieve(filter)
  let position = after
  let isCaughtUp = false
  while (!aborted.aborted) {
    if (position >= log.head && !isCaughtUp) {
      isCaughtUp = true
      yield * sieve.caughtUp()
      continue // more may have come while that was sent
    }
    if (position >= log.head) {
      await feed.next(undefined, aborted)
      continue
    }
    const recent = feed.after(position)
    for await (const page of recent === undefined ? log.allPages('forward', position + 1, log.head) : [recent]) {
      yield * sieve.pass(page)
      position = page.at(-1)?.position ?? position
      if (aborted.aborted) return
    }
  }
}

/** What comes after a revision of a stream. Ends when aborted or after a tombstone. */
export async function * subscribeToStream (log: EventLog, feed: Feed, stream: string, after: number, aborted: AbortSignal): AsyncGenerator<Step> {
  let revision = after
  let considered: number | undefined // everything up to this position has been looked at
  let isCaughtUp = false
  while (!aborted.aborted) {
    const head = log.head
    const isAtHead = considered !== undefined && considered >= head
    if (isAtHead && !isCaughtUp) {
      isCaughtUp = true
      yield { kind: 'caught-up' }
      continue // more may have come while that was sent
    }
    if (isAtHead) {
      considered = await feed.next(stream, aborted)
      continue
    }
    const recent = considered === undefined ? undefined : feed.after(considered)
    const state = recent === undefined ? await log.stream(stream) : undefined
    const visibleFrom = state === undefined ? 0 : Math.max(revision + 1, firstVisible(state))
    for await (const page of recent === undefined ? log.streamPages(stream, 'forward', visibleFrom, tombstoneRevision, head) : [recent]) {
      const events = page.filter((event) => event.stream === stream && event.revision > revision && (state === undefined || isFresh(state, event)))
      revision = events.at(-1)?.revision ?? revision
      if (events.length > 0) yield { kind: 'events', events }
      if (revision === tombstoneRevision) return yield { kind: 'stream-deleted' }
      if (aborted.aborted) return
    }
    considered = recent === undefined ? head : recent.at(-1)?.position ?? head
  }
}

/** Lets the matching events through and sets the checkpoints. */
class Sieve {
  readonly #filter: Filter | undefined
  #sinceCheckpoint = 0
  #lastConsidered = 0

  constructor (filter: Filter | undefined) {
    this.#filter = filter
  }

  * pass (page: readonly RecordedEvent[]): Generator<Step> {
    let events: RecordedEvent[] = []
    for (const event of page) {
      if (isHidden(event.stream)) continue
      if (this.#filter === undefined || this.#filter.matches(event)) events.push(event)
      this.#lastConsidered = event.position
      this.#sinceCheckpoint++
      if (this.#filter === undefined || this.#sinceCheckpoint < this.#filter.checkpointInterval) continue
      if (events.length > 0) yield { kind: 'events', events }
      events = []
      yield * this.#checkpoint()
    }
    if (events.length > 0) yield { kind: 'events', events }
  }

  * caughtUp (): Generator<Step> {
    if (this.#filter !== undefined && this.#sinceCheckpoint > 0) yield * this.#checkpoint()
    yield { kind: 'caught-up' }
  }

  * #checkpoint (): Generator<Step> {
    this.#sinceCheckpoint = 0
    yield { kind: 'checkpoint', position: this.#lastConsidered }
  }
}
