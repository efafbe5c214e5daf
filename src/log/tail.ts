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
  readonly #readers = new Set<TailReader>()
  #last: Tail | undefined

  constructor (private readonly streams: Followed, private readonly options: ShareOptions) {
    this.#types = new Set(options.eventTypes)
  }

  takes ({ mayShare, eventTypes }: FollowOptions): boolean {
    return mayShare === true && eventTypes.every((type) => this.#types.has(type))
  }

  lookNow (): void {
    for (const reader of this.#readers) reader.press()
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
      for await (const batch of this.#read({ ...options, after: position, taken })) {
        yield batch
        position = batch.position
        taken = batch.events.at(-1) ?? taken
      }
      hasLostIt = true
    }
  }

  /** Batches of the tail, as far as it has what comes next. Nobody else is needed to begin one. */
  async * #read (options: FollowOptions): AsyncGenerator<Batch, void> {
    if (options.signal.aborted) return
    const reader = new TailReader(this.#tail ?? this.#begin(options), options)
    this.#readers.add(reader)
    try {
      for (let batch = await reader.next(); batch; batch = await reader.next()) yield batch
    } finally {
      this.#readers.delete(reader)
      reader.close()
    }
  }

  get #tail (): Tail | undefined {
    return this.#last?.isOver ? undefined : this.#last
  }

  #begin ({ after, taken }: FollowOptions): Tail {
    const { eventTypes, maxBytes = usualMaxBytes } = this.options
    return this.#last = new Tail(this.streams, { after, taken, eventTypes, maxBytes })
  }
}

/** It is over when its subscription is, for whatever reason, or nobody reads it. Then there may be another one. */
export class Tail {
  readonly events: KeptEvents
  readonly #closing = new AbortController()
  readonly #readers = new Set<() => void>()
  #isOver = false

  constructor (
    streams: Pick<Followed, 'follow'>, { maxBytes, ...from }: Required<ShareOptions> & Omit<FollowOptions, 'signal'>
  ) {
    this.events = new KeptEvents(from.after, maxBytes)
    const following = streams.follow({ ...from, signal: this.#closing.signal })
    // Who reads it goes on with a subscription of its own, and hears from that one what is wrong.
    this.#keepAll(following).catch(() => {}).finally(() => this.#end())
  }

  get isOver (): boolean {
    return this.#isOver
  }

  /** Whether nothing is missing behind this position. */
  holds (position: bigint): boolean {
    return !this.#isOver && position >= this.events.since
  }

  /** @param moved called whenever it has moved on, and when it is over */
  join (moved: () => void): void {
    this.#readers.add(moved)
  }

  leave (moved: () => void): void {
    this.#readers.delete(moved)
    if (this.#readers.size === 0) this.#end()
  }

  async #keepAll (following: ReturnType<Followed['follow']>): Promise<void> {
    for await (const { events, position } of following) {
      this.events.keep(events, position)
      this.#tell()
    }
  }

  #end (): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#closing.abort()
    this.#tell()
  }

  #tell (): void {
    for (const moved of this.#readers) moved()
  }
}

const mostEvents = 500
/** How long a deferred event waits for others. */
const deferredMs = 250
/** A reader whose last batch had so many events rests so long first: fewer, larger transactions while much arrives. */
const busy = { events: 4, restMs: 10 }
/** So long the events of others are passed without a word: at once when the last batch had some, and else. */
const passingMs = { busy: 250, idle: 2_000 }

export class TailReader {
  readonly #types: ReadonlySet<string>
  readonly #look = () => this.#wake()
  #found: StoredEvent[] = []
  #hasUrgent = false
  /** Everything up to here was looked at; of it, what is behind `#position` waits to be handed over. */
  #seen: bigint
  #position: bigint
  #passing: number = passingMs.busy
  #isPressed = false
  #restsUntil = 0
  #deferredTimer: NodeJS.Timeout | undefined
  #passingTimer: NodeJS.Timeout | undefined
  #restTimer: NodeJS.Timeout | undefined
  #wake = () => {}

  constructor (private readonly tail: Tail, private readonly options: FollowOptions) {
    this.#types = new Set(options.eventTypes)
    this.#seen = this.#position = options.after
    tail.join(this.#look)
    options.signal.addEventListener('abort', this.#look, { once: true })
  }

  /** The next batch; nothing when the signal is aborted, the tail is over, or it has run away from this reader. */
  async next (): Promise<Batch | undefined> {
    while (!this.options.signal.aborted && this.tail.holds(this.#seen)) {
      this.#find()
      if (this.#isDue()) return this.#take()
      this.#setTimers()
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
    return undefined
  }

  /** Hands over what waits, or what comes next, without waiting for others. */
  press (): void {
    this.#isPressed = true
    this.#wake()
  }

  close (): void {
    this.#clearTimers()
    this.options.signal.removeEventListener('abort', this.#look)
    this.tail.leave(this.#look)
  }

  #find (): void {
    const { events } = this.tail
    let last: bigint | undefined
    events.visit(this.#seen, (event) => {
      if (this.#found.length >= mostEvents) return false
      last = event.position
      if (!this.#types.has(event.type)) return true
      this.#found.push(event)
      this.#hasUrgent ||= this.options.isDeferred?.(event) !== true
      return true
    })
    const isFull = this.#found.length >= mostEvents
    if (isFull) this.#seen = last ?? this.#seen
    else if (events.reached > this.#seen) this.#seen = events.reached // who joined may be further on
  }

  #isDue (): boolean {
    if (this.#found.length >= mostEvents || (this.#isPressed && this.#seen > this.#position)) return true
    return this.#hasUrgent && performance.now() >= this.#restsUntil
  }

  #take (): Batch {
    this.#clearTimers()
    const events = this.#found
    this.#found = []
    this.#hasUrgent = this.#isPressed = false
    this.#passing = events.length > 0 ? passingMs.busy : passingMs.idle
    this.#position = this.#seen
    this.#restsUntil = events.length < busy.events ? 0 : performance.now() + busy.restMs
    return { events, position: this.#position }
  }

  #setTimers (): void {
    if (this.#hasUrgent) this.#restTimer ??= setTimeout(() => this.press(), this.#restsUntil - performance.now())
    else if (this.#found.length > 0) this.#deferredTimer ??= setTimeout(() => this.press(), deferredMs)
    else if (this.#seen > this.#position) this.#passingTimer ??= setTimeout(() => this.press(), this.#passing)
  }

  #clearTimers (): void {
    clearTimeout(this.#deferredTimer)
    clearTimeout(this.#passingTimer)
    clearTimeout(this.#restTimer)
    this.#deferredTimer = this.#passingTimer = this.#restTimer = undefined
  }
}

/** What an event takes beside its data, in bytes. */
const besideData = 500

/** Of the budget, what is left when it was used up. */
const keptShare = 7 / 8

export class KeptEvents {
  readonly #events: { event: StoredEvent, bytes: number }[] = []
  #bytes = 0
  #since: bigint
  #reached: bigint

  /** @param after every event behind this position comes here */
  constructor (after: bigint, private readonly maxBytes: number) {
    this.#since = this.#reached = after
  }

  /** Every event behind this position that has come is here. */
  get since (): bigint {
    return this.#since
  }

  get reached (): bigint {
    return this.#reached
  }

  /** Keeps the events, and lets the oldest ones go where they are too many. */
  keep (events: readonly StoredEvent[], reached: bigint): void {
    for (const event of events) {
      const bytes = besideData + sizeOf(event.data)
      this.#events.push({ event, bytes })
      this.#bytes += bytes
      this.#reached = event.position
    }
    if (reached > this.#reached) this.#reached = reached
    this.#dropOldest()
  }

  /** Hands over the events behind a position, oldest first, until `take` says that it has enough. */
  visit (after: bigint, take: (event: StoredEvent) => boolean): void {
    for (let index = this.#firstBehind(after); index < this.#events.length; index += 1) {
      const kept = this.#events[index]
      if (!kept || !take(kept.event)) return
    }
  }

  #firstBehind (position: bigint): number {
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const kept = this.#events[middle]
      if (kept && kept.event.position <= position) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Many at once: to take a few from the beginning moves all the others. */
  #dropOldest (): void {
    if (this.#bytes <= this.maxBytes) return
    let count = 0
    for (const { event, bytes } of this.#events) {
      if (this.#bytes <= this.maxBytes * keptShare) break
      this.#bytes -= bytes
      this.#since = event.position
      count += 1
    }
    this.#events.splice(0, count)
  }
}
