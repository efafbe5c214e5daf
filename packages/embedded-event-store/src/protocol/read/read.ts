// Read: streams and $all, both ways, to the end or as a subscription.
import type { Feed } from '../../feed/feed.js'
import { isHidden } from '../../feed/filter.js'
import type { Step } from '../../feed/step.js'
import { type Followed, subscribeToAll, subscribeToStream } from '../../feed/subscribe.js'
import type { RecordedEvent } from '../../log/event.js'
import type { EventLog } from '../../log/log.js'
import { firstVisible, isFresh } from '../../log/stream-state.js'
import { cancelled, invalid, streamDeleted, toServiceError } from '../errors.js'
import { streams } from '../generated.js'
import { requestedFilter } from './requested-filter.js'
import { streamName, toNumber } from '../requests.js'
import { type ReadCall, Responses } from './responses.js'

type Options = streams.ReadReq.Options

/** 2^64 - 1 as a revision or a position. */
const theEnd = '18446744073709551615'

/** Handles one read until it is complete, cancelled, or the server closes. */
export function handleRead (log: EventLog, feed: Feed, call: ReadCall, closing: AbortSignal): void {
  const gone = new AbortController()
  const stop = () => { gone.abort() }
  call.once('cancelled', stop)
  call.once('close', stop)
  closing.addEventListener('abort', stop, { once: true })
  void new Reading({ log, feed, aborted: gone.signal }, call).run()
    .then(() => { if (closing.aborted) throw cancelled() })
    // A call that is gone ignores both.
    .then(() => { call.end() }, (error: unknown) => { call.emit('error', toServiceError(error)) })
    .finally(() => { closing.removeEventListener('abort', stop) })
}

class Reading {
  readonly #followed: Followed
  readonly #log: EventLog
  readonly #responses: Responses
  readonly #options: Options

  constructor (followed: Followed, call: ReadCall) {
    this.#followed = followed
    this.#log = followed.log
    this.#responses = new Responses(followed.log, call, followed.aborted)
    this.#options = call.request.getOptions() ?? new streams.ReadReq.Options()
  }

  async run (): Promise<void> {
    const stream = this.#options.getStream()
    const all = this.#options.getAll()
    const isSubscription = this.#options.hasSubscription()
    if (isSubscription && !this.#isForward) throw invalid('A subscription goes forward')
    if (stream !== undefined) return await (isSubscription ? this.#subscribeToStream(stream) : this.#readStream(stream))
    if (all !== undefined) return await (isSubscription ? this.#subscribeToAll(all) : this.#readAll(all))
    throw invalid('A read names a stream or $all')
  }

  get #isForward (): boolean {
    return this.#options.getReadDirection() === 0
  }

  get #direction () {
    return this.#isForward ? 'forward' as const : 'backward' as const
  }

  get #count (): number {
    return toNumber(this.#options.getCount())
  }

  async #readStream (options: streams.ReadReq.Options.StreamOptions): Promise<void> {
    const stream = streamName(options.getStreamIdentifier())
    const state = await this.#log.reader.stream(stream)
    const head = this.#log.head // not before the state: what that shows must be in reach
    if (state.isTombstoned) throw streamDeleted(stream)
    if (state.isMissing) return await this.#responses.streamNotFound(options)
    if (this.#isForward && options.hasEnd()) return
    const first = firstVisible(state)
    const revision = options.hasRevision() ? toNumber(options.getRevision()) : undefined
    const from = this.#isForward ? Math.max(first, revision ?? 0) : first
    const to = this.#isForward ? state.last : Math.min(state.last, revision ?? (options.hasStart() ? 0 : state.last))
    const pages = this.#log.reader.streamPages(stream, { direction: this.#direction, from, to }, head, this.#count)
    await this.#sendPages(pages, (event) => isFresh(state, event))
  }

  async #readAll (options: streams.ReadReq.Options.AllOptions): Promise<void> {
    const position = options.hasPosition() ? toNumber(options.getPosition()?.getCommitPosition() ?? '0') : undefined
    const head = this.#log.head
    const filter = requestedFilter(this.#options)
    const from = !this.#isForward ? 1 : options.hasEnd() ? head + 1 : position ?? 1
    const to = this.#isForward ? head : options.hasStart() ? 0 : Math.min(head, (position ?? head + 1) - 1)
    const pages = this.#log.reader.allPages({ direction: this.#direction, from, to }, this.#count)
    await this.#sendPages(pages, (event) => !isHidden(event.stream) && (filter?.matches(event) ?? true))
  }

  async #sendPages (
    pages: AsyncGenerator<RecordedEvent[]>, isWanted: (event: RecordedEvent) => boolean
  ): Promise<void> {
    let left = this.#count
    if (left === 0) return
    for await (const page of pages) {
      const wanted = page.filter(isWanted).slice(0, left)
      await this.#responses.events(wanted)
      left -= wanted.length
      if (left <= 0 || this.#responses.areOver) return
    }
  }

  async #subscribeToStream (options: streams.ReadReq.Options.StreamOptions): Promise<void> {
    const stream = streamName(options.getStreamIdentifier())
    const state = await this.#log.reader.stream(stream)
    if (state.isTombstoned) throw streamDeleted(stream)
    const revision = options.hasRevision() ? options.getRevision() : '-1'
    // Of what comes after the confirmation everything is sent.
    const after = options.hasEnd() || revision === theEnd ? state.last : toNumber(revision)
    await this.#responses.confirmation()
    await this.#follow(subscribeToStream(this.#followed, stream, after), stream)
  }

  async #subscribeToAll (options: streams.ReadReq.Options.AllOptions): Promise<void> {
    const position = options.getPosition()?.getCommitPosition() ?? '0'
    const after = options.hasEnd() || position === theEnd ? this.#log.head : toNumber(position)
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
