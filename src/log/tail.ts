// One subscription at the end of the log for all of a process who follow it there: events are decoded and opened once.
import type { Batch, FollowOptions } from './follow.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { sizeOf } from './stored.js'

export interface ShareOptions {
  /** Those that anybody may want. Who follows others has a subscription of its own. */
  eventTypes: readonly string[]
  /** Of the events that are kept for who is not that far yet, in bytes. */
  maxBytes?: number
}

interface Followed {
  head (): Promise<bigint>
  follow (options: FollowOptions): AsyncGenerator<Batch, void>
}

const usualMaxBytes = 8 * 2 ** 20

/** Who follows with `mayShare` does so with others, while it is near the end of the log. */
export class SharedTail {
  readonly #types: ReadonlySet<string>
  /** Of those who read the tail: what is there is handed over at once. */
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
   * A follower that is behind, or has lost the tail, has a subscription of its own until it is where the tail is. An
   * error of the store, or of one event, reaches it there. So no follower waits for another one, or fails for one.
   */
  async * follow (options: FollowOptions): AsyncGenerator<Batch, void> {
    let { after: position, taken } = options
    let hasLostIt = false
    while (!options.signal.aborted) {
      const head = await this.streams.head()
      const isNear = () => this.#tail?.holds(position) ?? position >= head
      if (hasLostIt || !isNear()) {
        const until = position < head ? head : undefined // at the head, what is wrong with the log is heard here
        for await (const batch of this.streams.follow({ ...options, after: position, taken, until })) {
          yield batch
          position = batch.position
          taken = batch.events.at(-1) ?? taken
          if (isNear()) break
        }
      }
      if (options.signal.aborted) return
      const tail = this.#tail ?? this.#begin(position, taken)
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

  #begin (after: bigint, taken: FollowOptions['taken']): Tail {
    const { eventTypes, maxBytes = usualMaxBytes } = this.options
    return this.#last = new Tail(this.streams, { after, taken, eventTypes }, maxBytes)
  }
}

const mostEvents = 500
/** How long a deferred event waits for others. */
const deferredMs = 250
/** A reader whose last batch had so many events rests so long first: fewer, larger transactions while much arrives. */
const busy = { events: 4, restMs: 10 }
/** So long the events of others are passed without a word: at once when the last batch had some, and else. */
const passingMs = { busy: 250, idle: 2_000 }

/** What an event takes beside its data, in bytes. */
const besideData = 500
/** Dropping leaves this share of the budget: each drop moves all that stay, so it must not come with every event. */
const keptShare = 7 / 8

/**
 * The newest events of a subscription. It is over when that is, for whatever reason, or nobody reads it. Then there may
 * be another one.
 */
class Tail {
  isOver = false
  readonly #events: { event: StoredEvent, bytes: number }[] = []
  #bytes = 0
  /** Every event behind this position that has come is here. */
  #since: bigint
  #reached: bigint
  readonly #closing = new AbortController()
  readonly #readers = new Set<() => void>()

  constructor (
    streams: Pick<Followed, 'follow'>, from: Omit<FollowOptions, 'signal'>, private readonly maxBytes: number
  ) {
    this.#since = this.#reached = from.after
    const following = streams.follow({ ...from, signal: this.#closing.signal })
    // Who reads it goes on with a subscription of its own, and hears from that one what is wrong.
    this.#keepAll(following).catch(() => {}).finally(() => this.#end())
  }

  /** Whether nothing is missing behind this position. */
  holds (position: bigint): boolean {
    return !this.isOver && position >= this.#since
  }

  /**
   * Batches of a reader, as far as the tail has what comes next. They end when the signal is aborted, the tail is over,
   * or it has run away from this reader.
   * @param pressing takes what makes the reader hand over what it has, without waiting for others
   */
  async * read (
    { after, eventTypes, isDeferred, signal }: FollowOptions, pressing: Set<() => void>
  ): AsyncGenerator<Batch, void> {
    const types = new Set(eventTypes)
    let [seen, position] = [after, after] // what was looked at; of it, what is behind `position` is not handed over yet
    let events: StoredEvent[] = []
    let [hasUrgent, isPressed] = [false, false]
    let [restsUntil, passesMs] = [0, passingMs.busy]
    let waitsSince: number | undefined
    let wake = () => {}
    const look = () => wake()
    const press = () => {
      isPressed = true
      wake()
    }
    this.#readers.add(look)
    pressing.add(press)
    signal.addEventListener('abort', look, { once: true })
    try {
      while (!signal.aborted && this.holds(seen)) {
        const next = this.#behind(seen, mostEvents - events.length)
        const wanted = next.filter(({ type }) => types.has(type))
        events.push(...wanted)
        hasUrgent ||= wanted.some((event) => isDeferred?.(event) !== true)
        seen = next.at(-1)?.position ?? (this.#reached > seen ? this.#reached : seen) // who joined may be further on
        if (next.length > 0 && events.length < mostEvents) continue
        const now = performance.now()
        if (seen > position) waitsSince ??= now
        const dueAt = events.length === mostEvents || (isPressed && seen > position)
          ? now
          : hasUrgent ? restsUntil : (waitsSince ?? Infinity) + (events.length > 0 ? deferredMs : passesMs)
        if (dueAt > now) {
          const timer = dueAt < Infinity ? setTimeout(look, dueAt - now) : undefined
          await new Promise<void>((resolve) => { wake = resolve })
          clearTimeout(timer)
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
      this.#readers.delete(look)
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
        const bytes = besideData + sizeOf(event.data)
        this.#events.push({ event, bytes })
        this.#bytes += bytes
      }
      this.#reached = position
      if (this.#bytes > this.maxBytes) this.#dropOldest()
      this.#tell()
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
    this.#tell()
  }

  #tell (): void {
    for (const moved of this.#readers) moved()
  }
}
