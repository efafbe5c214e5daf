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
export function subscribeToAll (
  followed: Followed, after: number, filter: Filter | undefined
): AsyncGenerator<Step> {
  const sieve = new Sieve(filter)
  const history = (position: number, head: number) =>
    followed.log.reader.allPages({ direction: 'forward', from: position + 1, to: head })
  return subscribe(followed, after, history, sieve)
}

/** Events after a revision of a stream. Ends when aborted or after a tombstone. */
export function subscribeToStream (followed: Followed, stream: string, after: number): AsyncGenerator<Step> {
  let revision = after
  const history = (_position: number, head: number) => visiblePages(followed.log, stream, revision, head)
  return subscribe(followed, -1, history, { // the history decides what is visible
    * pass (page): Generator<Step> {
      const events = page.filter((event) => event.stream === stream && event.revision > revision)
      revision = events.at(-1)?.revision ?? revision
      if (events.length > 0) yield { kind: 'events', events }
      if (revision === tombstoneRevision) yield { kind: 'stream-deleted' }
    },
    * caughtUp (): Generator<Step> { yield { kind: 'caught-up' } }
  })
}

async function * subscribe (
  { log, feed, aborted }: Followed, after: number,
  history: (position: number, head: number) => AsyncGenerator<RecordedEvent[]>, sieve: Pick<Sieve, 'pass' | 'caughtUp'>
): AsyncGenerator<Step> {
  let position = after // everything up to here is handled
  let isCaughtUp = false
  while (!aborted.aborted) {
    const { head } = log.writer
    if (position >= head) {
      if (isCaughtUp) await feed.next(aborted)
      else yield * sieve.caughtUp() // more may come meanwhile
      isCaughtUp = true
      continue
    }
    const recent = feed.after(position)
    for await (const page of recent === undefined ? history(position, head) : [recent]) {
      for (const step of sieve.pass(page)) {
        yield step
        if (step.kind === 'stream-deleted') return
      }
      if (aborted.aborted) return
    }
    position = recent?.at(-1)?.position ?? head
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
