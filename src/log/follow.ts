// Follows the log in batches with a subscription. Polls the head of the log to detect a subscription that no longer
// delivers.
import type { StoredEvent } from '../domain/stored-event.js'
import {
  FORWARDS, START, type AllStreamResolvedEvent, eventTypeFilter, type AllStreamSubscription, type Position
} from '@eventstore/db-client'
import { deliver, collect } from './read.js'
import { bytesOf, toStoredEvent } from './stored.js'
import type { EventStoreConnection, Session } from './connection.js'
import { subscriptionError, EventStoreUnavailable } from './errors.js'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/** Events in log order that arrived since the last pull, and the position reached with them. */
export interface Batch {
  events: StoredEvent[]
  position: bigint
}

/** An event that was read. If its position holds another one, this is another log. */
export type Taken = Pick<StoredEvent, 'id' | 'position'>

export type IsDeferred = (event: Pick<StoredEvent, 'type' | 'data'>) => boolean

export interface FollowOptions {
  /** Exclusive: the first event is the one after this position; 0 starts at the beginning. */
  after: bigint
  eventTypes: readonly string[]
  /** Ends the iteration. */
  signal: AbortSignal
  /** Ends the iteration exactly there. Batches are large until then: a row that many events change is written once. */
  until?: bigint | undefined
  /** Limits such a batch. */
  mostEvents?: number | undefined
  /** The last event read from this log; `follow` checks that the log still has it. */
  taken?: Taken | undefined
  /** For long-lived followers: at the end of the log they may share one subscription of the process. */
  mayShare?: boolean
  /** On a shared subscription these events wait up to 250 ms for more, so that one statement writes many rows. */
  isDeferred?: IsDeferred | undefined
}

interface WatchedLog {
  /** Concurrent callers share one read. */
  head (): Promise<bigint>
  /** `EventLog.lookNow` calls these; a follower that waits adds one and removes it afterwards. */
  awaited: Set<() => void>
}

const shortestPatienceMs = 250
/** Poll interval while no wanted events come and nobody waits. The lag monitor wakes a standing follower in seconds. */
const idleMs = 2_000
const longestIdleMs = 10_000
const readAtOnce = 1_000
const answerWithinMs = 5_000

/**
 * Endless batches in log order. Events that arrive while the caller works form the next batch.
 *
 * If the log moves on but nothing arrives, the subscription is reopened. That replaces a dead one. It also makes
 * filtered-out events count at once: the store reports them only at intervals, but always at the end of a catch-up. A
 * store before 24.10.5 does not report them while its filter has matched nothing. So if the reopened subscription
 * delivers nothing either, the log is read without a filter.
 * @throws when the subscription fails or ends
 */
export async function * followLog (
  connection: EventStoreConnection, log: WatchedLog, { after, eventTypes, signal, until }: FollowOptions
): AsyncGenerator<Batch, void> {
  const lingerMs = until === undefined ? 0 : gatheringLingerMs
  let position = after
  let patienceMs = shortestPatienceMs
  let silences = 0
  while (!signal.aborted) {
    const feed = new CatchUp(connection, { after: position, eventTypes, lingerMs })
    const close = () => { feed.close().catch(() => {}) }
    signal.addEventListener('abort', close, { once: true })
    try {
      const following = () => next(feed, position, patienceMs, log)
      for (let batch = await following(); batch; batch = await following()) {
        yield batch
        position = batch.position
        // After a batch without wanted events nobody needs the position soon; whoever does calls `lookNow`.
        patienceMs = batch.events.length > 0 ? shortestPatienceMs : idleMs
        silences = 0
      }
      // A reopened subscription delivers soon, unless it has much to catch up.
      patienceMs = silences === 0 ? 2 * shortestPatienceMs : Math.min(patienceMs * 2, longestIdleMs)
      silences += 1
    } catch (error) {
      if (!signal.aborted) throw subscriptionError(error)
    } finally {
      signal.removeEventListener('abort', close)
      await feed.close()
    }
    if (silences < 2 || signal.aborted) continue
    const reading = readOn(connection, eventTypes, position)
    const { batch, isEnd } = await reading.catch((error: unknown) => { throw subscriptionError(error) })
    if (batch.position > position) yield batch
    position = batch.position
    // Not at the end yet: a subscription that is merely slow keeps its longer patience.
    if (isEnd) patienceMs = shortestPatienceMs
  }
}

/** Limits of one batch. `ms` bounds how long readers wait for rows of events that were already read. */
const gathered = { bytes: 4 * 2 ** 20, events: 5_000, ms: 250 }

/** Merges batches into few large ones that end exactly at `until`. */
export async function * gather (
  batches: AsyncIterable<Batch>, after: bigint, until: bigint, mostEvents = gathered.events
): AsyncGenerator<Batch, void> {
  if (after >= until) return
  let [waiting, bytes, since]: [StoredEvent[], number, number] = [[], 0, performance.now()]
  const take = (position: bigint): Batch => {
    const events = waiting
    ;[waiting, bytes, since] = [[], 0, performance.now()]
    return { events, position }
  }
  for await (const { events, position } of batches) {
    for (const event of events) {
      if (event.position > until) break
      waiting.push(event)
      bytes += bytesOf(event)
      if (bytes >= gathered.bytes || waiting.length >= mostEvents) yield take(event.position)
    }
    if (position >= until) return yield take(until)
    if (performance.now() - since > gathered.ms) yield take(position)
  }
}

/**
 * Returns undefined when no batch came within about `patienceMs` although the log has moved on. While the log is idle,
 * polls of its head back off, until somebody waits for the follower.
 */
async function next (
  feed: CatchUp, position: bigint, patienceMs: number, { head, awaited }: WatchedLog
): Promise<Batch | undefined> {
  const arriving = feed.next()
  arriving.catch(() => {}) // awaited below, or abandoned when the feed is closed
  for (let everyMs = patienceMs; ; everyMs = Math.max(patienceMs, Math.min(2 * everyMs, longestIdleMs))) {
    let look = () => {}
    const looked = new Promise<undefined>((resolve) => { look = () => resolve(undefined) })
    const timer = setTimeout(look, everyMs)
    awaited.add(look)
    const batch = await Promise.race([arriving, looked]).finally(() => {
      clearTimeout(timer)
      awaited.delete(look)
    })
    if (batch) return batch
    if (await head() <= position) continue
    if (feed.hasEvents) return await arriving
    // The batch may have come during the read of the head.
    return await Promise.race([arriving, Promise.resolve(undefined)])
  }
}

/** Approximate memory for the events kept from one read, in bytes. */
const mostKept = 16 * 2 ** 20

/**
 * Reads on without a filter. Returns the events of the types, and the position of the last event of any type. It drops
 * the others at once, as they may be large.
 */
async function readOn (
  connection: EventStoreConnection, eventTypes: readonly string[], after: bigint
): Promise<{ batch: Batch, isEnd: boolean }> {
  const fromPosition = after === 0n ? START : { commit: after, prepare: after }
  return await connection.onLeader(async (session) => {
    const options = { direction: FORWARDS, fromPosition, maxCount: readAtOnce, requiresLeader: true } as const
    const events: StoredEvent[] = []
    let [position, count, bytes] = [after, 0, 0]
    await deliver(session, session.client.readAll(options), answerWithinMs, ({ event }) => {
      count += 1
      if (!event || event.position.commit <= after) return true
      position = event.position.commit
      if (!eventTypes.includes(event.type)) return true
      events.push(toStoredEvent(event))
      bytes += bytesOf(event)
      return bytes < mostKept
    })
    return { batch: { events, position }, isEnd: count < readAtOnce && bytes < mostKept }
  })
}

// Servers before 24.10.5 report 2^64-1 as the checkpoint of a filter that has matched nothing yet.
const nowhere = 2n ** 64n - 1n

/** Approximate memory for the data of one batch, in bytes. A larger event is a batch of its own. */
const maxBytes = 16 * 2 ** 20
/** How long a batch that is not full waits for more while the log is read up to a position, in milliseconds. */
const gatheringLingerMs = 20
/** Per batch. While twice as many wait, the subscription is paused (back-pressure). */
const maxEvents = 500

export class CatchUp {
  readonly #session: Session
  readonly #take = (resolved: AllStreamResolvedEvent) => this.#arrived(resolved)
  readonly #waiting: { event: StoredEvent, bytes: number }[] = []
  #bytes = 0
  readonly #stay: () => void
  #subscription: AllStreamSubscription | undefined
  #kept: bigint
  #position: bigint
  #passed: bigint
  #failure: Error | undefined
  #wake = () => {}

  constructor (
    connection: EventStoreConnection,
    private readonly options: Pick<FollowOptions, 'after' | 'eventTypes'> & { lingerMs: number }
  ) {
    this.#session = connection.session
    this.#kept = this.#position = this.#passed = options.after
    const fail = (error: Error) => this.#fail(error)
    this.#stay = this.#session.untilAbandoned(fail)
    this.#begin().catch(fail)
  }

  /** If the event found is not the one at `after`, it is the first that was not delivered. */
  async #begin (): Promise<void> {
    const { after, eventTypes } = this.options
    if (after === 0n) return this.#subscribe(START)
    const first = await firstFrom(this.#session, after, () => this.#failure !== undefined)
    if (!first) return
    if (eventTypes.includes(first.type)) this.#keep(first)
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
   * Resolves with events, or with none and the position after filtered-out ones. Events that arrive while the caller
   * works form the next batch.
   * @throws when the subscription fails or ends, also cleanly: open a new one from the last position
   */
  async next (): Promise<Batch> {
    for (;;) {
      if (this.#failure) throw this.#failure
      if (this.hasEvents) {
        // Takes along what has already arrived: fewer, larger batches.
        if (this.#hasRoom) await (this.options.lingerMs === 0 ? setImmediate() : delay(this.options.lingerMs))
        return this.#takeBatch()
      }
      // A checkpoint may be ahead of buffered events: it counts only when none is buffered.
      if (this.#passed > this.#position && !this.#subscription?.readableLength) {
        this.#position = this.#passed
        return { events: [], position: this.#position }
      }
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
  }

  get hasEvents (): boolean {
    return this.#waiting.length > 0
  }

  get #hasRoom (): boolean {
    return this.#waiting.length < maxEvents && this.#bytes < maxBytes
  }

  async close (): Promise<void> {
    this.#fail(new Error('the subscription was closed'))
    this.#stay()
    this.#subscription?.off('data', this.#take).resume() // a paused stream never emits its end
    await this.#subscription?.unsubscribe().catch(() => {})
  }

  #arrived ({ event }: AllStreamResolvedEvent): void {
    this.#session.heard()
    if (event) this.#keep(toStoredEvent(event))
  }

  /** Drops redelivered events: handled twice, an event could be parked because its stream is parked by then. */
  #keep (event: StoredEvent): void {
    if (event.position <= this.#kept || event.position <= this.#position) return
    this.#kept = event.position
    const bytes = bytesOf(event)
    this.#waiting.push({ event, bytes })
    this.#bytes += bytes
    if (this.#waiting.length >= 2 * maxEvents || this.#bytes >= maxBytes) this.#subscription?.pause()
    this.#wake()
  }

  #checkpointReached (position: bigint): void {
    this.#session.heard()
    if (position !== nowhere && position > this.#passed) this.#passed = position
    this.#wake()
  }

  #fail (error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  #takeBatch (): Batch {
    let [count, bytes] = [0, 0]
    for (const next of this.#waiting) {
      if (count === maxEvents || (count > 0 && bytes + next.bytes > maxBytes)) break
      count += 1
      bytes += next.bytes
    }
    this.#bytes -= bytes
    const events = this.#waiting.splice(0, count).map(({ event }) => event)
    this.#position = events[events.length - 1]?.position ?? this.#position
    if (this.#hasRoom && this.#subscription?.isPaused()) this.#subscription.resume()
    return { events, position: this.#position }
  }
}

const lookEveryMs = 200

/**
 * Polls for the first event at or after `after`, on the member that the subscription will read; undefined when `isOver`
 * turns true first. Servers before 24.10 start a subscription after this event, even if it is not the one at `after`.
 * So this read delivers it, and the subscription begins after it.
 */
async function firstFrom (session: Session, after: bigint, isOver: () => boolean): Promise<StoredEvent | undefined> {
  const options = { direction: FORWARDS, fromPosition: { commit: after, prepare: after }, maxCount: 1 } as const
  for (;;) {
    const [first] = await collect(session, session.client.readAll(options), answerWithinMs)
    if (isOver()) return undefined
    if (first?.event) return toStoredEvent(first.event)
    await delay(lookEveryMs)
  }
}
