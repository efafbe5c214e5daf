// The end of the log as one subscription brings it: the newest events, for all of a process who follow the log there.
import type { Streams } from '../streams.js'
import { KeptEvents } from './kept-events.js'

export interface TailOptions {
  /** Where it begins. */
  after: bigint
  eventTypes: readonly string[]
  /** Of the events that it keeps, in bytes. */
  maxBytes: number
}

/** It is over when its subscription is, for whatever reason, or nobody reads it. Then there may be another one. */
export class Tail {
  readonly events: KeptEvents
  readonly #closing = new AbortController()
  readonly #readers = new Set<() => void>()
  #isOver = false

  constructor (streams: Pick<Streams, 'follow'>, { after, eventTypes, maxBytes }: TailOptions) {
    this.events = new KeptEvents(after, maxBytes)
    const following = streams.follow({ after, eventTypes, signal: this.#closing.signal })
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

  async #keepAll (following: ReturnType<Streams['follow']>): Promise<void> {
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
