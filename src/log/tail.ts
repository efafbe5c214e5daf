// One subscription at the end of the log, shared by the followers of a process: events are decoded and opened once.
import type { Batch, FollowOptions } from './follow.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { bytesOf } from './stored.js'

export interface ShareOptions {
  /** Types that the shared subscription has. Followers of other types get their own subscription. */
  eventTypes: readonly string[]
  /** Memory for events that slower followers still need, in bytes. */
  maxBytes?: number
}

interface Followed {
  head (): Promise<bigint>
  follow (options: FollowOptions): AsyncGenerator<Batch, void>
}

const usualMaxBytes = 8 * 2 ** 20

/** Serves followers with `mayShare` while they are near the end of the log. */
export class SharedTail {
  readonly #types: ReadonlySet<string>
  /** Each makes a reader yield at once what it has. */
  readonly #pressing = new Set<() => void>()
  #last: Tail | undefined

  constructor (private readonly streams: Followed, private readonly options: ShareOptions) {
    this.#types = new Set(options.eventTypes)
  }

  takes ({ mayShare, eventTypes }: FollowOptions): boolean {
    return mayShare === true && eventTypes.every((type) => this.#types.has(type))
  }

  lookNow (): void {
    for (const press of this.#pressing) press()
  }

  /**
   * A follower that lags, or has lost the tail, uses its own subscription until it reaches the tail. There it meets the
   * errors of the store and of single events. So no follower waits for another one, or fails because of one.
   */
  async * follow (options: FollowOptions): AsyncGenerator<Batch, void> {
    let { after: position, taken } = options
    let hasLostIt = false
    while (!options.signal.aborted) {
      const head = await this.streams.head()
      const isNear = () => this.#tail?.holds(position) ?? position >= head
      if (hasLostIt || !isNear()) {
        const until = position < head ? head : undefined // at the head: follow on, to meet the log's error
        for await (const batch of this.streams.follow({ ...options, after: position, taken, until })) {
          yield batch
          position = batch.position
          taken = batch.events.at(-1) ?? taken
          if (isNear()) break
        }
      }
      if (options.signal.aborted) return
      const { eventTypes, maxBytes = usualMaxBytes } = this.options
      const tail = this.#tail ?? new Tail(this.streams, { after: position, taken, eventTypes }, maxBytes)
      this.#last = tail
      for await (const batch of tail.read({ ...options, after: position }, this.#pressing)) {
        yield batch
        position = batch.position
        taken = batch.events.at(-1) ?? taken
      }
      hasLostIt = true
    }
  }

  get #tail (): Tail | undefined {
    return this.#last?.isOver ? undefined : this.#last
  }
}

const mostEvents = 500
/** How long a deferred event waits for others. */
const deferredMs = 250
/** After a batch of so many events a reader rests first: fewer, larger transactions under load. */
const busy = { events: 4, restMs: 10 }
/** How long a reader holds back the position of unwanted events: after a batch with events, and otherwise. */
const passingMs = { busy: 250, idle: 2_000 }

/** Memory that an event takes in addition to its data and metadata, in bytes. */
const overhead = 200
/** A drop frees an eighth of the budget: each drop moves all remaining events, so it must not come with every event. */
const keptShare = 7 / 8

interface Reader {
  wake (): void
  /** @param from the position reached before @param types of the events up to `to` */
  arrived (from: bigint, to: bigint, types: readonly string[]): void
}

/**
 * Buffers the newest events of a subscription. It ends with the subscription, or when its last reader leaves. Then
 * SharedTail may begin another one.
 */
class Tail {
  isOver = false
  readonly #events: { event: StoredEvent, bytes: number }[] = []
  #bytes = 0
  /** No event received after this position has been dropped. */
  #since: bigint
  #reached: bigint
  readonly #closing = new AbortController()
  readonly #readers = new Set<Reader>()

  constructor (
    streams: Pick<Followed, 'follow'>, from: Omit<FollowOptions, 'signal'>, private readonly maxBytes: number
  ) {
    this.#since = this.#reached = from.after
    const following = streams.follow({ ...from, signal: this.#closing.signal })
    // Readers go on with their own subscription, which reports the error.
    this.#keepAll(following).catch(() => {}).finally(() => this.#end())
  }

  /** Whether no event after this position is missing. */
  holds (position: bigint): boolean {
    return !this.isOver && position >= this.#since
  }

  /**
   * Yields batches until the signal is aborted, the tail is over, or the tail has dropped events that the reader still
   * needs.
   * @param pressing gets a callback that makes the reader yield what it has, without waiting for more
   */
  async * read (
    { after, eventTypes, isDeferred, signal }: FollowOptions, pressing: Set<() => void>
  ): AsyncGenerator<Batch, void> {
    const types = new Set(eventTypes)
    let [seen, position] = [after, after] // looked at; events after `position` are not yielded yet
    let events: StoredEvent[] = []
    let [hasUrgent, isPressed] = [false, false]
    let [restsUntil, passesMs] = [0, passingMs.busy]
    let waitsSince: number | undefined
    let timer: NodeJS.Timeout | undefined
    let wake = () => {}
    const look = () => wake()
    // Most batches have nothing for most readers: one with a timer moves on over such a batch without waking.
    const reader: Reader = {
      wake: look,
      arrived: (from, to, arrivedTypes) => {
        if (timer && seen === from && !arrivedTypes.some((type) => types.has(type))) seen = to
        else wake()
      }
    }
    const press = () => {
      isPressed = true
      wake()
    }
    this.#readers.add(reader)
    pressing.add(press)
    signal.addEventListener('abort', look, { once: true })
    try {
      while (!signal.aborted && this.holds(seen)) {
        const next = this.#behind(seen, mostEvents - events.length)
        const wanted = next.filter(({ type }) => types.has(type))
        events.push(...wanted)
        hasUrgent ||= wanted.some((event) => isDeferred?.(event) !== true)
        seen = next.at(-1)?.position ?? (this.#reached > seen ? this.#reached : seen) // a new reader may be ahead
        if (next.length > 0 && events.length < mostEvents) continue
        const now = performance.now()
        if (seen > position) waitsSince ??= now
        const dueAt = events.length === mostEvents || (isPressed && seen > position)
          ? now
          : hasUrgent ? restsUntil : (waitsSince ?? Infinity) + (events.length > 0 ? deferredMs : passesMs)
        if (dueAt > now) {
          timer = dueAt < Infinity ? setTimeout(look, dueAt - now) : undefined
          await new Promise<void>((resolve) => { wake = resolve })
          clearTimeout(timer)
          timer = undefined
          continue
        }
        const batch = { events, position: position = seen }
        restsUntil = events.length < busy.events ? 0 : now + busy.restMs
        passesMs = events.length > 0 ? passingMs.busy : passingMs.idle
        ;[events, hasUrgent, isPressed, waitsSince] = [[], false, false, undefined]
        yield batch
      }
    } finally {
      signal.removeEventListener('abort', look)
      pressing.delete(press)
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#end()
    }
  }

  #behind (position: bigint, most: number): StoredEvent[] {
    const first = 1 + this.#events.findLastIndex(({ event }) => event.position <= position)
    return this.#events.slice(first, first + most).map(({ event }) => event)
  }

  async #keepAll (following: ReturnType<Followed['follow']>): Promise<void> {
    for await (const { events, position } of following) {
      for (const event of events) {
        const bytes = overhead + bytesOf(event)
        this.#events.push({ event, bytes })
        this.#bytes += bytes
      }
      const from = this.#reached
      this.#reached = position
      if (this.#bytes > this.maxBytes) this.#dropOldest()
      const types = events.map(({ type }) => type)
      for (const reader of this.#readers) reader.arrived(from, position, types)
    }
  }

  #dropOldest (): void {
    let count = 0
    for (const { event, bytes } of this.#events) {
      if (this.#bytes <= this.maxBytes * keptShare) break
      this.#bytes -= bytes
      this.#since = event.position
      count += 1
    }
    this.#events.splice(0, count)
  }

  #end (): void {
    if (this.isOver) return
    this.isOver = true
    this.#closing.abort()
    for (const { wake } of this.#readers) wake()
  }
}
