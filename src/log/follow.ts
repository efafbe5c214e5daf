// Follows the log batch by batch until a signal ends it: a subscription, watched by reads of the head of the log, which
// show one that no longer delivers.
import type { StoredEvent } from '../domain/stored-event.js'
import {
  FORWARDS, START, type AllStreamResolvedEvent, eventTypeFilter, type AllStreamSubscription, type Position
} from '@eventstore/db-client'
import { pause } from '../timing.js'
import { deliver, collect } from './read.js'
import { sizeOf, toStoredEvent } from './stored.js'
import type { EventStoreConnection, Session } from './connection.js'
import { subscriptionError, EventStoreUnavailable } from './errors.js'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/** What arrived since the last pull: events in log order, and the position that is reached with them. */
export interface Batch {
  events: StoredEvent[]
  position: bigint
}

/** An event that was taken from the log, and its place: another log has another one there. */
export type Taken = Pick<StoredEvent, 'id' | 'position'>

export type IsDeferred = (event: Pick<StoredEvent, 'type' | 'data'>) => boolean

interface CatchUpOptions {
  /** Exclusive: the first event is the one after this position; 0 starts at the beginning. */
  after: bigint
  eventTypes: readonly string[]
  /** How long a batch that is not full waits for more, in milliseconds. Without it, batches come early and small. */
  lingerMs?: number | undefined
}

export interface FollowOptions extends Pick<CatchUpOptions, 'after' | 'eventTypes'> {
  /** Ends the iteration. */
  signal: AbortSignal
  /** The iteration ends exactly there. Until then batches are large: a row that many events change is written once. */
  until?: bigint | undefined
  /** Of such a batch. */
  mostEvents?: number | undefined
  /** The last one from this log: it is to be there. */
  taken?: Taken | undefined
  /** For who follows the log for long: at its end it may do so with others of the process. */
  mayShare?: boolean
  /** Shared, such events wait up to 250 ms for others: many rows of one kind cost one statement. */
  isDeferred?: IsDeferred | undefined
}

interface WatchedLog {
  /** One read for all who ask while it is under way. */
  head (): Promise<bigint>
  /** Called, and taken away, when somebody waits for the log to be followed to its end. */
  awaited: Set<() => void>
}

const shortestPatienceMs = 250
/** While others' events come, or nothing, and nobody waits: a monitor of the lag does within seconds. */
const idleMs = 2_000
const longestIdleMs = 10_000
const readAtOnce = 1_000
const answerWithinMs = 5_000

/**
 * Batches in log order, for ever. The events that arrive while the caller works are the next batch.
 *
 * When nothing comes although the log has moved on, the subscription is reopened. That replaces a dead subscription. It
 * also makes filtered-out events count at once: the store reports them only every so many events, but always at the end
 * of a catch-up. A store before 24.10.5 does not report them while its filter has matched nothing. So when the reopened
 * subscription delivers nothing either, the log is read on without a filter.
 * @throws when the subscription fails or ends
 */
export async function * followLog (
  connection: EventStoreConnection, log: WatchedLog, { after, eventTypes, signal, until }: FollowOptions
): AsyncGenerator<Batch, void> {
  const lingerMs = until === undefined ? undefined : gatheringLingerMs
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
        // Where only others' events come, nobody needs the position at once who does not say so.
        patienceMs = batch.events.length > 0 ? shortestPatienceMs : idleMs
        silences = 0
      }
      // One that is opened anew delivers soon, unless it is far behind.
      patienceMs = silences === 0 ? 2 * shortestPatienceMs : Math.min(patienceMs * 2, longestIdleMs)
      silences += 1
    } catch (error) {
      if (!signal.aborted) throw subscriptionError(error)
    } finally {
      signal.removeEventListener('abort', close)
      await feed.close()
    }
    if (silences < 2 || signal.aborted) continue
    const { batch, isEnd } = await readOn(connection, eventTypes, position)
    if (batch.position > position) yield batch
    position = batch.position
    // Far behind the head, a subscription that is only slow gets more time.
    if (isEnd) patienceMs = shortestPatienceMs
  }
}

const gatheringLingerMs = 20
/** Of one batch, and how long readers of rows wait for what was read meanwhile. */
const gathered = { bytes: 4 * 2 ** 20, events: 5_000, ms: 250 }

/** The batches from `after` to `until` exactly, as few large ones. */
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
      bytes += sizeOf(event.data)
      if (bytes >= gathered.bytes || waiting.length >= mostEvents) yield take(event.position)
    }
    if (position >= until) return yield take(until)
    if (performance.now() - since > gathered.ms) yield take(position)
  }
}

/**
 * The next batch; nothing when none came within about `patienceMs` although the log has moved on. The longer it stands
 * still, the less often the follower asks for its head, until somebody waits for it.
 */
async function next (
  feed: CatchUp, position: bigint, patienceMs: number, { head, awaited }: WatchedLog
): Promise<Batch | undefined> {
  const arriving = feed.next()
  arriving.catch(() => {}) // awaited below, or left behind when the feed is closed
  for (let everyMs = patienceMs; ; everyMs = Math.max(patienceMs, Math.min(2 * everyMs, longestIdleMs))) {
    const waiting = new AbortController()
    const look = () => waiting.abort()
    awaited.add(look)
    const batch = await Promise.race([arriving, pause(everyMs, waiting.signal)]).finally(() => {
      look()
      awaited.delete(look)
    })
    if (batch) return batch
    if (await head() <= position) continue
    if (feed.hasEvents) return await arriving
    // It may have come meanwhile.
    return await Promise.race([arriving, Promise.resolve(undefined)])
  }
}

/** About the memory of what is kept of a read, in bytes. */
const mostKept = 16 * 2 ** 20

/**
 * Reads the next events without a filter: those of the types, and the position of the last event of any type. Of the
 * others nothing is kept, as they may be large.
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
      bytes += sizeOf(event.data)
      return bytes < mostKept
    })
    return { batch: { events, position }, isEnd: count < readAtOnce && bytes < mostKept }
  })
}

// Servers before 24.10.5 report 2^64-1 as the checkpoint of a filter that has matched nothing yet.
const nowhere = 2n ** 64n - 1n

/** About the memory that the data of one batch takes. A larger event is a batch of its own; most take a quarter. */
const maxBytes = 16 * 2 ** 20
/** In one batch. While twice as many wait, the subscription is paused. */
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

  constructor (connection: EventStoreConnection, private readonly options: CatchUpOptions) {
    this.#session = connection.session
    this.#kept = this.#position = this.#passed = options.after
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
   * Resolves with at least one event, or with none and a position that passed filtered-out events.
   * The events that arrive while the caller works are the next batch.
   * @throws when the subscription fails or ends, also cleanly: open a new one from the last position
   */
  async next (): Promise<Batch> {
    for (;;) {
      if (this.#failure) throw this.#failure
      if (this.hasEvents) {
        // Events that have arrived already come along: fewer, larger batches.
        if (this.#hasRoom) await this.#linger()
        return this.#takeBatch()
      }
      // A checkpoint runs ahead of events that are still buffered: it counts only when none is.
      if (this.#passed > this.#position && !this.#subscription?.readableLength) {
        this.#position = this.#passed
        return { events: [], position: this.#position }
      }
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
  }

  /** Then `next` resolves with them. */
  get hasEvents (): boolean {
    return this.#waiting.length > 0
  }

  /** For more in one batch. */
  get #hasRoom (): boolean {
    return this.#waiting.length < maxEvents && this.#bytes < maxBytes
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

  /** A store may deliver an event again: handled twice, it could be parked, as its stream may be parked by then. */
  #keep (event: StoredEvent): void {
    if (event.position <= this.#kept || event.position <= this.#position) return
    this.#kept = event.position
    const bytes = sizeOf(event.data)
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

  /** The oldest ones, as many as one batch may hold. */
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
