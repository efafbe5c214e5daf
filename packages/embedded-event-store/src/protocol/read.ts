// Read: streams and $all, both ways, to the end or as a subscription.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { Feed } from '../feed/feed.js'
import { isHidden } from '../feed/filter.js'
import { type Step, subscribeToAll, subscribeToStream } from '../feed/subscribe.js'
import type { RecordedEvent } from '../log/event.js'
import type { EventLog } from '../log/log.js'
import { firstVisible, isFresh } from '../log/stream-state.js'
import { cancelled, invalid, streamDeleted, toServiceError } from './errors.js'
import { streams } from './generated.js'
import { resolveLinks } from './links.js'
import { requestedFilter } from './requested-filter.js'
import { streamName, toNumber } from './requests.js'
import { readResponse } from './wire.js'

export type ReadCall = ServerWritableStream<streams.ReadReq, Buffer>
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
  void new Reading(log, feed, call, gone.signal).run()
    .then(() => { if (closing.aborted) throw cancelled() })
    .then(() => { call.end() }, (error: unknown) => { call.emit('error', toServiceError(error)) }) // a call that is gone ignores both
    .finally(() => { closing.removeEventListener('abort', stop) })
}

class Reading {
  readonly #log: EventLog
  readonly #feed: Feed
  readonly #call: ReadCall
  readonly #gone: AbortSignal
  readonly #options: Options

  constructor (log: EventLog, feed: Feed, call: ReadCall, gone: AbortSignal) {
    this.#log = log
    this.#feed = feed
    this.#call = call
    this.#gone = gone
    this.#options = call.request.getOptions() ?? new streams.ReadReq.Options()
  }

  async run (): Promise<void> {
    const stream = this.#options.getStream()
    const all = this.#options.getAll()
    const isSubscription = this.#options.hasSubscription()
    if (isSubscription && this.#options.getReadDirection() !== 0) throw invalid('A subscription goes forward')
    if (stream !== undefined) return await (isSubscription ? this.#subscribeToStream(stream) : this.#readStream(stream))
    if (all !== undefined) return await (isSubscription ? this.#subscribeToAll(all) : this.#readAll(all))
    throw invalid('A read names a stream or $all')
  }

  async #readStream (options: streams.ReadReq.Options.StreamOptions): Promise<void> {
    const stream = streamName(options.getStreamIdentifier())
    const state = await this.#log.stream(stream)
    const head = this.#log.head // not before the state: what that shows must be in reach
    if (state.isTombstoned) throw streamDeleted(stream)
    if (state.isMissing) return await this.#send(new streams.ReadResp().setStreamNotFound(new streams.ReadResp.StreamNotFound().setStreamIdentifier(options.getStreamIdentifier())))
    const isForward = this.#options.getReadDirection() === 0
    const revision = options.hasRevision() ? toNumber(options.getRevision()) : undefined
    const first = firstVisible(state)
    if (isForward && options.hasEnd()) return
    const from = isForward ? Math.max(first, revision ?? 0) : first
    const to = isForward ? state.last : Math.min(state.last, revision ?? (options.hasStart() ? 0 : state.last))
    await this.#sendPages(this.#log.streamPages(stream, isForward ? 'forward' : 'backward', from, to, head, this.#count()), (event) => isFresh(state, event))
  }

  async #readAll (options: streams.ReadReq.Options.AllOptions): Promise<void> {
    const isForward = this.#options.getReadDirection() === 0
    const position = options.hasPosition() ? toNumber(options.getPosition()?.getCommitPosition() ?? '0') : undefined
    const head = this.#log.head
    const filter = requestedFilter(this.#options)
    const from = !isForward ? 1 : options.hasEnd() ? head + 1 : position ?? 1
    const to = isForward ? head : options.hasStart() ? 0 : Math.min(head, (position ?? head + 1) - 1)
    await this.#sendPages(this.#log.allPages(isForward ? 'forward' : 'backward', from, to, this.#count()), (event) => !isHidden(event.stream) && (filter?.matches(event) ?? true))
  }

  async #subscribeToStream (options: streams.ReadReq.Options.StreamOptions): Promise<void> {
    const stream = streamName(options.getStreamIdentifier())
    const state = await this.#log.stream(stream)
    if (state.isTombstoned) throw streamDeleted(stream)
    const revision = options.hasRevision() ? options.getRevision() : '-1'
    const after = options.hasEnd() || revision === theEnd ? state.last : toNumber(revision) // once confirmed, everything new is sent
    await this.#confirm()
    await this.#follow(subscribeToStream(this.#log, this.#feed, stream, after, this.#gone), stream)
  }

  async #subscribeToAll (options: streams.ReadReq.Options.AllOptions): Promise<void> {
    const position = options.getPosition()?.getCommitPosition() ?? '0'
    const after = options.hasEnd() || position === theEnd ? this.#log.head : toNumber(position)
    const filter = requestedFilter(this.#options)
    await this.#confirm()
    await this.#follow(subscribeToAll(this.#log, this.#feed, after, filter, this.#gone), '$all')
  }

  async #confirm (): Promise<void> {
    await this.#send(new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID())))
  }

  async #follow (steps: AsyncGenerator<Step>, stream: string): Promise<void> {
    for await (const step of steps) {
      switch (step.kind) {
        case 'events': await this.#sendEvents(step.events); break
        case 'checkpoint': await this.#send(new streams.ReadResp().setCheckpoint(checkpoint(step.position))); break
        case 'caught-up': await this.#send(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp())); break
        case 'stream-deleted': throw streamDeleted(stream)
      }
      if (this.#gone.aborted) return
    }
  }

  async #sendPages (pages: AsyncGenerator<RecordedEvent[]>, isWanted: (event: RecordedEvent) => boolean): Promise<void> {
    let left = this.#count()
    if (left === 0) return
    for await (const page of pages) {
      const wanted = page.filter(isWanted).slice(0, left)
      await this.#sendEvents(wanted)
      left -= wanted.length
      if (left <= 0 || this.#gone.aborted) return
    }
  }

  #count (): number {
    return toNumber(this.#options.getCount())
  }

  async #sendEvents (events: readonly RecordedEvent[]): Promise<void> {
    if (this.#options.getResolveLinks() && events.some((event) => event.type === '$>')) {
      for (const response of await resolveLinks(this.#log, events)) await this.#write(response)
      return
    }
    for (const event of events) {
      if (!this.#call.write(readResponse(event))) await this.#drained()
      if (this.#gone.aborted) return
    }
  }

  async #send (response: streams.ReadResp): Promise<void> {
    await this.#write(Buffer.from(response.serializeBinary()))
  }

  async #write (response: Buffer): Promise<void> {
    if (!this.#gone.aborted && !this.#call.write(response)) await this.#drained()
  }

  /** A consumer that has stopped reading stops us here, however long it takes. */
  async #drained (): Promise<void> {
    if (this.#gone.aborted) return
    await once(this.#call, 'drain', { signal: this.#gone }).catch(() => {}) // the call is gone, and the caller looks
  }
}

const checkpoint = (position: number) => new streams.ReadResp.Checkpoint().setCommitPosition(String(position)).setPreparePosition(String(position))
