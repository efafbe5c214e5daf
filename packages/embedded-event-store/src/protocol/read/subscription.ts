// A read that goes on: what comes after a place, then what happens.
import type { Step } from '../../feed/sieve.js'
import { type Followed, subscribeToAll, subscribeToStream } from '../../feed/subscribe.js'
import { streamDeleted } from '../errors.js'
import type { streams } from '../generated.js'
import { streamName, toNumber } from '../requests.js'
import { requestedFilter } from './requested-filter.js'
import type { Responses } from './responses.js'

/** 2^64 - 1 as a revision or a position. */
const theEnd = '18446744073709551615'

export class Subscription {
  readonly #followed: Followed
  readonly #options: streams.ReadReq.Options
  readonly #responses: Responses

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
    const after = isAtEnd ? this.#followed.log.head : toNumber(position)
    const filter = requestedFilter(this.#options)
    await this.#responses.confirmation()
    await this.#follow(subscribeToAll(this.#followed, after, filter), '$all')
  }

  async #follow (steps: AsyncGenerator<Step>, stream: string): Promise<void> {
    for await (const step of steps) {
      switch (step.kind) {
        case 'events': await this.#responses.events(step.events); break
        case 'checkpoint': await this.#responses.checkpoint(step.position); break
        case 'caught-up': await this.#responses.caughtUp(); break
        case 'stream-deleted': throw streamDeleted(stream)
      }
      if (this.#responses.areOver) return
    }
  }
}
