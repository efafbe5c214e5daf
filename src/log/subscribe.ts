// One serial, resumable catch-up subscription to $all, pulled batch by batch.
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import {
  FORWARDS, START, eventTypeFilter, type AllStreamResolvedEvent, type AllStreamSubscription, type Position
} from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import type { EventStoreConnection } from './connection/connection.js'
import type { Session } from './connection/session.js'
import { EventStoreUnavailable } from './errors.js'
import type { CatchUpOptions, Batch } from './reads/batch.js'
import { WaitingEvents } from './reads/waiting.js'
import { toStoredEvent } from './stored.js'
import { collect } from './reads/collect.js'

// Servers before 24.10.5 report 2^64-1 as the checkpoint of a filter that has matched nothing yet.
const nowhere = 2n ** 64n - 1n
/** So long an event that is unhurried waits for others. */
export const unhurriedMs = 250

export class CatchUp {
  readonly #session: Session
  readonly #take = (resolved: AllStreamResolvedEvent) => this.#arrived(resolved)
  readonly #waiting: WaitingEvents
  readonly #stay: () => void
  #subscription: AllStreamSubscription | undefined
  #patience: NodeJS.Timeout | undefined
  #isFlushed = false
  #position: bigint
  #passed: bigint
  #failure: Error | undefined
  #wake = () => {}

  constructor (connection: EventStoreConnection, private readonly options: CatchUpOptions) {
    this.#session = connection.session
    this.#waiting = new WaitingEvents(options.isUnhurried)
    this.#position = this.#passed = options.after
    const fail = (error: Error) => this.#fail(error)
    this.#stay = this.#session.untilAbandoned(fail)
    this.#begin().catch(fail)
  }

  /** An event that is not where the last one was is the first that was not delivered. */
  async #begin (): Promise<void> {
    const { after, eventTypes } = this.options
    if (after === 0n) return this.#subscribe(START)
    const first = await awaitFirstFrom(this.#session, after, () => this.#failure !== undefined)
    if (!first) return
    if (first.position > after && eventTypes.includes(first.type)) this.#keep(first)
    else this.#checkpointReached(first.position)
    this.#subscribe({ commit: first.position, prepare: first.position })
  }

  #subscribe (fromPosition: typeof START | Position): void {
    const subscription = this.#subscription = this.#session.client.subscribeToAll({
      fromPosition,
      filter: eventTypeFilter({
        regex: `^(${this.options.eventTypes.join('|')})$`,
        checkpointInterval: 10,
        checkpointReached: async (_subscription, { commit }) => this.#checkpointReached(commit)
      })
    })
    subscription.on('data', this.#take)
    subscription.on('error', (error) => this.#fail(error))
    subscription.on('end', () => this.#fail(new EventStoreUnavailable('the event store ended the subscription')))
    subscription.on('close', () => this.#fail(new Error('the subscription was closed')))
  }

  /**
   * Resolves with at least one event, or with none and a position that passed filtered-out events.
   * The events that arrive while the caller works are the next batch.
   * @throws when the subscription fails or ends, also cleanly: open a new one from the last position
   */
  async next (): Promise<Batch> {
    for (;;) {
      if (this.#failure) throw this.#failure
      const isPassed = this.#passed > this.#position // by a checkpoint, and so is all that waits
      if (this.#waiting.isDue || (this.#waiting.count > 0 && (this.#isFlushed || isPassed))) {
        // Events that have arrived already come along: fewer, larger batches.
        if (this.#waiting.hasRoom) await this.#linger()
        return this.#takeBatch()
      }
      // A checkpoint runs ahead of events that are still buffered: it counts only when none is.
      if (isPassed && !this.#subscription?.readableLength) {
        this.#position = this.#passed
        return { events: [], position: this.#position }
      }
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
  }

  /** Lets what is unhurried go at once. @returns whether there is any: then `next` resolves with it */
  flush (): boolean {
    clearTimeout(this.#patience)
    this.#patience = undefined
    this.#isFlushed = this.#waiting.count > 0
    this.#wake()
    return this.#isFlushed
  }

  async close (): Promise<void> {
    this.#fail(new Error('the subscription was closed'))
    this.#stay()
    this.#subscription?.off('data', this.#take).resume() // so that its end can be seen
    await this.#subscription?.unsubscribe().catch(() => {})
  }

  async #linger (): Promise<void> {
    const { lingerMs } = this.options
    await (lingerMs === undefined ? setImmediate() : delay(lingerMs))
  }

  #arrived ({ event }: AllStreamResolvedEvent): void {
    this.#session.heard()
    if (event) this.#keep(toStoredEvent(event))
  }

  #keep (event: StoredEvent): void {
    this.#waiting.keep(event)
    if (this.#waiting.isFull) this.#subscription?.pause()
    if (!this.#waiting.isDue) return this.#waitForOthers()
    this.#wake()
  }

  #waitForOthers (): void {
    this.#patience ??= setTimeout(() => this.flush(), unhurriedMs)
  }

  #checkpointReached (position: bigint): void {
    this.#session.heard()
    if (position !== nowhere && position > this.#passed) this.#passed = position
    this.#wake()
  }

  #fail (error: Error): void {
    this.#failure ??= error
    clearTimeout(this.#patience)
    this.#wake()
  }

  #takeBatch (): Batch {
    const events = this.#waiting.takeBatch()
    this.#isFlushed = false
    if (this.#waiting.count > 0 && !this.#waiting.isDue) this.#waitForOthers()
    this.#position = events[events.length - 1]?.position ?? this.#position
    if (this.#waiting.hasRoom && this.#subscription?.isPaused()) this.#subscription.resume()
    return { events, position: this.#position }
  }
}

const answerWithinMs = 4_000

/**
 * The first event at `after` or behind it, on the member that the subscription will read; nothing when the log ends
 * before it. Servers before 24.10 start a subscription behind this event, also where it is not the one at `after`: so
 * it is delivered from this read, and the subscription begins behind it.
 */
async function firstFrom (session: Session, after: bigint): Promise<StoredEvent | undefined> {
  const fromPosition = { commit: after, prepare: after }
  const reading = session.client.readAll({ direction: FORWARDS, fromPosition, maxCount: 1 })
  const [first] = await collect(session, reading, answerWithinMs)
  return first?.event && toStoredEvent(first.event)
}

/** Between two looks, in milliseconds. */
const lookEveryMs = 200

/** Waits for such an event; nothing when `isOver` says so first. */
async function awaitFirstFrom (
  session: Session, after: bigint, isOver: () => boolean
): Promise<StoredEvent | undefined> {
  for (;;) {
    const first = await firstFrom(session, after)
    if (isOver()) return undefined
    if (first) return first
    await delay(lookEveryMs)
  }
}
