// A read that goes on: what comes after a place, then what happens.
import type { RecordedEvent } from '../../log/event.js'
import type { Step } from '../../feed/step.js'
import { type Followed, subscribeToAll, subscribeToStream } from '../../feed/subscribe.js'
import { streamDeleted, tooSlow } from '../errors.js'
import type { streams } from '../generated.js'
import { streamName, toNumber } from '../requests.js'
import { requestedFilter } from './requested-filter.js'
import type { Responses } from './responses.js'

/** 2^64 - 1 as a revision or a position. */
const theEnd = '18446744073709551615'

/** How many events may be written while a consumer of 23.10 takes none. */
const mostMissed = 2_000

export class Subscription {
  readonly #followed: Followed
  readonly #options: streams.ReadReq.Options
  readonly #responses: Responses
  #isLive = false

  constructor (followed: Followed, options: streams.ReadReq.Options, responses: Responses) {
    this.#followed = followed
    this.#options = options
    this.#responses = responses
  }

  async ofStream (options: streams.ReadReq.Options.StreamOptions): Promise<void> {
    const stream = streamName(options.getStreamIdentifier())
    const state = await this.#followed.log.reader.stream(stream)
    if (state.isTombstoned) throw streamDeleted(stream)
    const revision = options.hasRevision() ? options.getRevision() : '-1'
    // Of what comes after the confirmation everything is sent.
    const after = options.hasEnd() || revision === theEnd ? state.last : toNumber(revision)
    await this.#responses.confirmation()
    await this.#follow(subscribeToStream(this.#followed, stream, after), stream)
  }

  async ofAll (options: streams.ReadReq.Options.AllOptions): Promise<void> {
    const position = options.getPosition()?.getCommitPosition() ?? '0'
    const isAtEnd = options.hasEnd() || position === theEnd
    const after = isAtEnd ? this.#followed.log.head : await this.#behind(toNumber(position))
    const filter = requestedFilter(this.#options)
    await this.#responses.confirmation()
    await this.#follow(subscribeToAll(this.#followed, after, filter), '$all')
  }

  /** Before 24.10 it begins behind the first event that is there, also where the one at the position was scavenged. */
  async #behind (position: number): Promise<number> {
    const { log, release } = this.#followed
    if (release !== '23.10' || position === 0) return position
    const first = log.reader.allPages({ direction: 'forward', from: position, to: log.head }, 1)
    for await (const [event] of first) return event?.position ?? position
    return position
  }

  async #follow (steps: AsyncGenerator<Step>, stream: string): Promise<void> {
    for await (const step of steps) {
      switch (step.kind) {
        case 'events': await this.#send(step.events); break
        case 'checkpoint': await this.#responses.checkpoint(step.position); break
        case 'caught-up':
          this.#isLive = true
          await this.#responses.caughtUp()
          break
        case 'stream-deleted': throw streamDeleted(stream)
      }
      if (this.#responses.areOver) return
    }
  }

  async #send (events: readonly RecordedEvent[]): Promise<void> {
    const sending = this.#responses.events(events)
    if (this.#followed.release !== '23.10' || !this.#isLive) return await sending
    const sent = new AbortController()
    const missed = this.#missesTooMuch(events.at(-1)?.position ?? 0, sent.signal)
    try {
      if (!await Promise.race([sending.then(() => false), missed])) return
      this.#responses.stop()
      throw tooSlow()
    } finally {
      sent.abort()
    }
  }

  /** True once too many events have come after a position, false when aborted. */
  async #missesTooMuch (position: number, aborted: AbortSignal): Promise<boolean> {
    const { log, feed } = this.#followed
    while (!aborted.aborted && log.head - position <= mostMissed) await feed.next(undefined, aborted)
    return !aborted.aborted
  }
}
