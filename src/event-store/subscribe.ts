// One serial, resumable catch-up subscription to $all, pulled batch by batch.
import { setImmediate, setTimeout } from 'node:timers/promises'
import {
  START, eventTypeFilter, type AllStreamResolvedEvent, type AllStreamSubscription
} from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import type { EventStoreConnection } from './connection/connection.js'
import type { Session } from './connection/session.js'
import { EventStoreUnavailable } from './errors.js'
import { sizeOf } from './size.js'
import { toStoredEvent } from './stored.js'

/** What arrived since the last pull: events in log order, and the position that is reached with them. */
export interface Batch {
  events: StoredEvent[]
  position: bigint
}

export interface CatchUp {
  /**
   * Resolves with at least one event, or with none and a position that passed filtered-out events.
   * The events that arrive while the caller works are the next batch.
   * @throws when the subscription fails or ends, also cleanly: open a new one from the last position
   */
  next (): Promise<Batch>
  close (): Promise<void>
}

export interface CatchUpOptions {
  /** Exclusive: the first event is the one after this position; 0 starts at the beginning. */
  after: bigint
  eventTypes: readonly string[]
  /** Most events in one batch; the subscription is paused while twice as many wait, or more bytes than a batch has. */
  maxBatch?: number
  /** How long a batch that is not full waits for more, in milliseconds. Without it, batches come early and small. */
  lingerMs?: number | undefined
}

// Servers before 24.10.5 report 2^64-1 as the checkpoint of a filter that has matched nothing yet.
const nowhere = 2n ** 64n - 1n

/** About the memory that the data of one batch takes. A larger event is a batch of its own; most take a quarter. */
const maxBytes = 16 * 2 ** 20

export function catchUp (connection: EventStoreConnection, options: CatchUpOptions): CatchUp {
  return new AllSubscription(connection.session, options)
}

class AllSubscription implements CatchUp {
  readonly #subscription: AllStreamSubscription
  readonly #maxBatch: number
  readonly #lingerMs: number | undefined
  readonly #take = (resolved: AllStreamResolvedEvent) => this.#arrived(resolved)
  readonly #waiting: { event: StoredEvent, bytes: number }[] = []
  #waitingBytes = 0
  #position: bigint
  #passed: bigint
  #failure: Error | undefined
  #wake = () => {}
  readonly #stay: () => void

  constructor (private readonly session: Session, { after, eventTypes, maxBatch = 500, lingerMs }: CatchUpOptions) {
    this.#maxBatch = maxBatch
    this.#lingerMs = lingerMs
    this.#position = this.#passed = after
    this.#subscription = session.client.subscribeToAll({
      fromPosition: after === 0n ? START : { commit: after, prepare: after },
      filter: eventTypeFilter({
        regex: `^(${eventTypes.join('|')})$`,
        checkpointInterval: 10,
        checkpointReached: async (_subscription, { commit }) => this.#checkpointReached(commit)
      })
    })
    this.#stay = session.untilAbandoned((error) => this.#fail(error))
    this.#subscription.on('data', this.#take)
    this.#subscription.on('error', (error) => this.#fail(error))
    this.#subscription.on('end', () => this.#fail(new EventStoreUnavailable('the event store ended the subscription')))
    this.#subscription.on('close', () => this.#fail(new Error('the subscription was closed')))
  }

  async next (): Promise<Batch> {
    for (;;) {
      if (this.#failure) throw this.#failure
      if (this.#waiting.length > 0) {
        // Events that have arrived already come along: fewer, larger batches.
        if (this.#waiting.length < this.#maxBatch) await this.#linger()
        return this.#takeBatch()
      }
      // A checkpoint runs ahead of events that are still buffered: it counts only when none is.
      if (this.#passed > this.#position && this.#subscription.readableLength === 0) {
        this.#position = this.#passed
        return { events: [], position: this.#position }
      }
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
  }

  async close (): Promise<void> {
    this.#fail(new Error('the subscription was closed'))
    this.#stay()
    this.#subscription.off('data', this.#take).resume() // so that its end can be seen
    await this.#subscription.unsubscribe().catch(() => {})
  }

  async #linger (): Promise<void> {
    await (this.#lingerMs === undefined ? setImmediate() : setTimeout(this.#lingerMs))
  }

  #arrived ({ event }: AllStreamResolvedEvent): void {
    this.session.heard()
    if (!event) return
    const stored = toStoredEvent(event)
    const bytes = sizeOf(stored.data)
    this.#waiting.push({ event: stored, bytes })
    this.#waitingBytes += bytes
    if (this.#waiting.length >= 2 * this.#maxBatch || this.#waitingBytes >= maxBytes) this.#subscription.pause()
    this.#wake()
  }

  #checkpointReached (position: bigint): void {
    this.session.heard()
    if (position !== nowhere && position > this.#passed) this.#passed = position
    this.#wake()
  }

  #fail (error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  #takeBatch (): Batch {
    const waiting = this.#waiting
    let [count, bytes] = [0, 0]
    for (const next of waiting) {
      if (count === this.#maxBatch || (count > 0 && bytes + next.bytes > maxBytes)) break
      count += 1
      bytes += next.bytes
    }
    const events = waiting.splice(0, count).map(({ event }) => event)
    this.#waitingBytes -= bytes
    this.#position = events[events.length - 1]?.position ?? this.#position
    const hasRoom = waiting.length < this.#maxBatch && this.#waitingBytes < maxBytes
    if (hasRoom && this.#subscription.isPaused()) this.#subscription.resume()
    return { events, position: this.#position }
  }
}
