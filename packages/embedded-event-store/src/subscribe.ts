// A subscription: history from the table, then new events from memory, each exactly once and in order.
import type { Feed } from './feed.js'
import { type Filter, isHidden } from './filter.js'
import { type RecordedEvent, tombstoneRevision } from './log/event.js'
import type { EventLog } from './log/log.js'
import { firstVisible, isFresh } from './log/stream-state.js'

export interface Followed {
  log: EventLog
  feed: Feed
  aborted: AbortSignal
}

/** Events after a position of $all. Ends when aborted. */
export async function * subscribeToAll (
  { log, feed, aborted }: Followed, after: number, filter: Filter | undefined
): AsyncGenerator<Step> {
  const sieve = new Sieve(filter)
  let position = after
  let isCaughtUp = false
  while (!aborted.aborted) {
    if (position >= log.writer.head && !isCaughtUp) {
      isCaughtUp = true
      yield * sieve.caughtUp()
      continue // more may have come meanwhile
    }
    if (position >= log.writer.head) {
      await feed.next(aborted)
      continue
    }
    const recent = feed.after(position)
    const history = () => log.reader.allPages({ direction: 'forward', from: position + 1, to: log.writer.head })
    for await (const page of recent === undefined ? history() : [recent]) {
      yield * sieve.pass(page)
      position = page.at(-1)?.position ?? position
      if (aborted.aborted) return
    }
  }
}

/** Events after a revision of a stream. Ends when aborted or after a tombstone. */
export async function * subscribeToStream (
  { log, feed, aborted }: Followed, stream: string, after: number
): AsyncGenerator<Step> {
  let revision = after
  let considered: number | undefined // everything up to this position is handled
  let isCaughtUp = false
  while (!aborted.aborted) {
    const { head } = log.writer
    const isAtHead = considered !== undefined && considered >= head
    if (isAtHead && !isCaughtUp) {
      isCaughtUp = true
      yield { kind: 'caught-up' }
      continue // more may have come meanwhile
    }
    if (isAtHead) {
      await feed.next(aborted)
      continue
    }
    const recent = considered === undefined ? undefined : feed.after(considered)
    for await (const page of recent === undefined ? visiblePages(log, stream, revision, head) : [recent]) {
      const events = page.filter((event) => event.stream === stream && event.revision > revision)
      revision = events.at(-1)?.revision ?? revision
      if (events.length > 0) yield { kind: 'events', events }
      if (revision === tombstoneRevision) return yield { kind: 'stream-deleted' }
      if (aborted.aborted) return
    }
    considered = recent === undefined ? head : recent.at(-1)?.position ?? head
  }
}

/** Visible events of a stream after a revision, from the table, up to `head` in the log. Nothing hides a tombstone. */
async function * visiblePages (
  log: EventLog, stream: string, after: number, head: number
): AsyncGenerator<RecordedEvent[]> {
  const state = await log.reader.stream(stream)
  const from = Math.min(Math.max(after + 1, firstVisible(state)), tombstoneRevision)
  const pages = log.reader.streamPages(stream, { direction: 'forward', from, to: tombstoneRevision }, head)
  for await (const page of pages) {
    yield page.filter((event) => event.revision === tombstoneRevision || isFresh(state, event))
  }
}

/** What a subscription sends, in order. */
export type Step =
  | { kind: 'events', events: RecordedEvent[] }
  | { kind: 'checkpoint', position: number }
  | { kind: 'caught-up' }
  /** The stream was tombstoned; nothing follows. */
  | { kind: 'stream-deleted' }

/** Passes the matching events of $all and sets checkpoints. */
class Sieve {
  #sinceCheckpoint = 0
  #lastConsidered = 0

  constructor (private readonly filter: Filter | undefined) {}

  * pass (page: readonly RecordedEvent[]): Generator<Step> {
    let events: RecordedEvent[] = []
    for (const event of page) {
      if (isHidden(event)) continue
      if (this.filter === undefined || this.filter.matches(event)) events.push(event)
      this.#lastConsidered = event.position
      this.#sinceCheckpoint++
      if (this.filter === undefined || this.#sinceCheckpoint < this.filter.checkpointInterval) continue
      if (events.length > 0) yield { kind: 'events', events }
      events = []
      yield this.#checkpoint()
    }
    if (events.length > 0) yield { kind: 'events', events }
  }

  * caughtUp (): Generator<Step> {
    if (this.filter !== undefined && this.#sinceCheckpoint > 0) yield this.#checkpoint()
    yield { kind: 'caught-up' }
  }

  #checkpoint (): Step {
    this.#sinceCheckpoint = 0
    return { kind: 'checkpoint', position: this.#lastConsidered }
  }
}
