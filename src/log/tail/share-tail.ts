// One subscription at the end of the log for all of a process who follow it there: events are decoded and opened once.
import type { FollowOptions } from '../follow.js'
import type { Batch } from '../reads/batch.js'
import type { Streams } from '../streams.js'
import { Tail } from './tail.js'
import { TailReader } from './tail-reader.js'

export interface ShareOptions {
  /** Those that anybody may want. Who follows others has a subscription of its own. */
  eventTypes: readonly string[]
  /** Of the events that are kept for who is not that far yet, in bytes. */
  maxBytes?: number
}

const usualMaxBytes = 8 * 2 ** 20

/** The same streams. Who follows them with `mayShare` does so with others, while it is near the end of the log. */
export function shareTail (streams: Streams, options: ShareOptions): Streams {
  const shared = new SharedTail(streams, options)
  return {
    ...streams,
    follow: (following) => shared.takes(following) ? shared.follow(following) : streams.follow(following),
    lookNow () {
      shared.lookNow()
      streams.lookNow?.()
    }
  }
}

class SharedTail {
  readonly #types: ReadonlySet<string>
  readonly #readers = new Set<TailReader>()
  #last: Tail | undefined

  constructor (private readonly streams: Streams, private readonly options: ShareOptions) {
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
    let position = options.after
    let hasLostIt = false
    while (!options.signal.aborted) {
      const head = await this.streams.head()
      const isNear = () => this.#tail?.holds(position) ?? position >= head
      if (hasLostIt || !isNear()) {
        for await (const batch of this.streams.follow({ ...options, after: position })) {
          yield batch
          position = batch.position
          if (isNear()) break
        }
      }
      for await (const batch of this.#read({ ...options, after: position })) {
        yield batch
        position = batch.position
      }
      hasLostIt = true
    }
  }

  /** Batches of the tail, as far as it has what comes next. Nobody else is needed to begin one. */
  async * #read (options: FollowOptions): AsyncGenerator<Batch, void> {
    if (options.signal.aborted) return
    const reader = new TailReader(this.#tail ?? this.#begin(options.after), options)
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

  #begin (after: bigint): Tail {
    const { eventTypes, maxBytes = usualMaxBytes } = this.options
    return this.#last = new Tail(this.streams, { after, eventTypes, maxBytes })
  }
}
