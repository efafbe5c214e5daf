// EventLog is the service's client of the event store: read, append, head, follow. It logs outages, probes until the
// store recovers, and meanwhile fails calls after a short shared probe.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ANY, NO_STREAM, StreamDeletedError, WrongExpectedVersionError } from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { atMostEvery, joinRunning, withTimeout } from '../timing.js'
import type { Appended, Proposed, EventStoreConnection } from './connection.js'
import {
  AccessRefused, appendError, AppendOutcomeUnknown, AppendTooLarge, EventStoreUnavailable, lostReasonOf, NoAnswer,
  older, readError, RevisionConflict, StreamGone
} from './errors.js'
import { followLog, gather, type Batch, type FollowOptions, type Taken } from './follow.js'
import { Reader, type Limit } from './read.js'
import { scavengeEmbedded, type Scavenged } from './scavenge.js'
import { SharedTail, type ShareOptions } from './tail.js'

/** The revision of a stream that has no events. */
export const noStream = -1n

export interface EventLogOptions extends Partial<AppendTimes> {
  /** Logs outages. During one, calls fail after a short shared probe; without it each waits for its own timeout. */
  outages?: OutageLog
  /** Event types whose followers share one subscription at the end of the log. */
  shared?: ShareOptions
}

/** Seals events before they are appended, and opens them after they are read. */
export interface Codec {
  seal (stream: string, events: readonly Proposed[]): Promise<readonly Proposed[]>
  open (events: readonly StoredEvent[]): Promise<readonly StoredEvent[]>
  changes (type: string): boolean
  /** Types of events that carry keys for later events. Followers pass these to `learn`; callers never get them. */
  ownTypes: readonly string[]
  learn (events: readonly StoredEvent[]): void
}

export type Streams = Pick<EventLog,
  'read' | 'visit' | 'last' | 'limitOf' | 'append' | 'delete' | 'truncate' | 'head' | 'assertHas' | 'scavenge' | 'follow' |
  'followStored' | 'lookNow'>

/** Interval of probes during an outage. */
const lookEveryMs = 1_000

const probeStream = 'ringledger-write-probe'

/** No stream reaches this revision: the store must decide about an append there, and writes nothing. */
const neverReached = 10n ** 12n

export class EventLog {
  readonly #answerWithinMs: number
  readonly #reader: Reader
  readonly #appender: Appender
  readonly #outages: Outages | undefined
  readonly #sharedLook = sharedLook(() => this.#reader.head())
  readonly #tail: SharedTail | undefined
  /** Must be set before the first event that it changes is read or appended. */
  codec: Codec | undefined
  /** Callbacks for `lookNow`: each makes a waiting follower check the head at once. */
  readonly #awaited = new Set<() => void>()
  readonly #headForFollowers = joinRunning(() => this.#reader.head())
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor (private readonly connection: EventStoreConnection, options: EventLogOptions = {}) {
    const { answerWithinMs = 4_000, resolveWithinMs = 5_000, quietAfterMs = 1_000, outages, shared } = options
    this.#answerWithinMs = answerWithinMs
    this.#reader = new Reader(connection, answerWithinMs)
    this.#appender = new Appender(connection, this.#reader, { answerWithinMs, resolveWithinMs, quietAfterMs })
    this.#outages = outages && new Outages(outages)
    const follow = (following: FollowOptions) => this.#followAlone(following)
    this.#tail = shared && new SharedTail({ head: () => this.head(), follow }, shared)
  }

  /**
   * Events of a stream from `fromRevision` on, oldest first, at most `maxCount`; none when the stream does not exist.
   * @throws EventStoreUnavailable and errors of the codec, like everything that reads and appends
   */
  read = async (stream: string, fromRevision = 0n, maxCount?: number): Promise<StoredEvent[]> => {
    const events: StoredEvent[] = []
    await this.visit(stream, fromRevision, (event) => { events.push(event) }, maxCount)
    return events
  }

  /**
   * Like `read`, but passes the events to `take` one by one and loads them in parts that fit into memory. Returns false
   * when the stream does not exist or was deleted.
   * @throws EventStoreUnavailable, StreamTruncated, and what `take` throws
   */
  visit = async (
    stream: string, fromRevision: bigint, take: (event: StoredEvent) => void, maxCount = Number.MAX_SAFE_INTEGER
  ): Promise<boolean> => {
    for (let [next, left] = [fromRevision, maxCount]; ;) {
      const { events, isThere, isFull } = await this.#call('read', () => this.#reader.part(stream, next, left))
      for (const event of await this.#opened(events)) take(event)
      const last = events.at(-1)
      left -= events.length
      if (!isFull || !last || left <= 0) return isThere
      next = last.revision + 1n
    }
  }

  /** The newest event of a stream, if it has one. @throws EventStoreUnavailable */
  last = async (stream: string): Promise<StoredEvent | undefined> => {
    const newest = await this.#call('read', () => this.#reader.last(stream))
    return newest && (await this.#opened([newest]))[0]
  }

  /** The metadata that hides events of a stream, if readable. Commands that it breaks throw StreamTruncated anyway. */
  limitOf = (stream: string): Promise<Limit | undefined> => this.#reader.limitOf(stream)

  /**
   * Appends all events or none, and only while the stream's last revision is `expected` (`noStream` for none). A lost
   * acknowledgement is resolved by repeating the same append, which the store recognises by its event ids.
   * @throws RevisionConflict, StreamGone, EventStoreUnavailable, AppendTooLarge, AppendOutcomeUnknown
   */
  append = async (stream: string, events: readonly Proposed[], expected: bigint): Promise<Appended> => {
    const sealed = [...await this.codec?.seal(stream, events) ?? events]
    return await this.#call('append', () => this.#appender.append(stream, sealed, expected))
  }

  /**
   * Soft-deletes a stream whose last revision is `expected`: hides its events; a scavenge removes all but the last one.
   * Later appends may expect either no stream or that revision.
   * @throws RevisionConflict, StreamGone, EventStoreUnavailable, AppendOutcomeUnknown: a second call finds out
   */
  delete = (stream: string, expected: bigint): Promise<void> => this.#call('append', async () => {
    const options = { expectedRevision: expected, requiresLeader: true, deadline: this.#answerWithinMs }
    try {
      await this.connection.onLeader(({ client }) => client.deleteStream(stream, options))
    } catch (cause) {
      if (cause instanceof WrongExpectedVersionError) throw new RevisionConflict('the stream has moved on', { cause })
      if (cause instanceof StreamDeletedError) throw new StreamGone('the stream was deleted for good', { cause })
      throw appendError(cause)
    }
  })

  /**
   * Hides the events before a revision for good; a scavenge removes them. The event at `before` must have been
   * acknowledged. A second call changes nothing.
   * @param metadata expected revision of the stream's metadata (`noStream` for none), to detect a concurrent delete
   * @throws RevisionConflict when the metadata has changed, EventStoreUnavailable
   */
  truncate = (stream: string, before: bigint, metadata?: bigint): Promise<void> => this.#call('read', async () => {
    const expectedRevision = metadata === noStream ? NO_STREAM : metadata ?? ANY
    try {
      await this.connection.onLeader(async ({ client }) => {
        // The client turns the number into JSON, which is exact below 2^53: no stream has that many events.
        const written = client.setStreamMetadata(stream, { truncateBefore: Number(before) }, { expectedRevision })
        await withTimeout(this.#answerWithinMs, written, () => new NoAnswer(this.#answerWithinMs))
      })
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) throw new RevisionConflict('the metadata has moved on')
      throw readError(error)
    }
  })

  /** The position of the newest event in $all, 0 in an empty store. @throws EventStoreUnavailable */
  head = (): Promise<bigint> => this.#call('read', () => this.#reader.head())

  /** @throws OtherLog when the event at this position is another one or missing, unless a scavenge removed it */
  assertHas = ({ id, position }: Taken): Promise<void> => this.#call('read', async () => {
    const found = await this.#reader.head() < position ? 'nothing' : await this.#reader.idAt(position) ?? id
    if (found !== id) throw older(`The event log lacks the event that was read at position ${position}`)
  })

  /**
   * Embedded store: removes the events hidden by deletes, `$tb` and newer metadata, and returns when that is done. Does
   * nothing on a real server, which its operator scavenges.
   * @throws EventStoreUnavailable: call it again
   */
  scavenge = (): Promise<Scavenged | undefined> =>
    this.#call('read', () => scavengeEmbedded(this.connection, this.#answerWithinMs))

  /**
   * Endless batches of events in log order. Events that arrive while the caller works form the next batch.
   * @throws when the subscription fails or ends: call it again with the last position; OtherLog when it lacks `taken`
   */
  follow = (options: FollowOptions): AsyncGenerator<Batch, void> =>
    this.#tail?.takes(options) ? this.#tail.follow(options) : this.#followAlone(options)

  /** Like `follow`, but leaves the events sealed, so that nobody looks up keys. */
  followStored = (options: FollowOptions): AsyncGenerator<Batch, void> => this.#follow(options)

  /** A caller waits for followers: they check now whether the log has moved on without them. */
  lookNow = (): void => {
    this.#tail?.lookNow()
    for (const look of this.#awaited) look()
  }

  /** @throws the error that reads fail with now */
  async assertAnswers (): Promise<void> {
    const now = this.#outages?.now
    if (now?.kind === 'read') throw now.error
    await this.head()
  }

  /** @throws the error that appends fail with now */
  async assertTakesWrites (): Promise<void> {
    const now = this.#outages?.now
    if (now) throw now.error
    await this.#probe(neverReached)
  }

  /** Stops the probes; the connection stays open. */
  close (): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async * #follow (options: FollowOptions): AsyncGenerator<Batch, void> {
    if (options.taken) await this.assertHas(options.taken)
    try {
      yield * followLog(this.connection, { head: this.#headForFollowers, awaited: this.#awaited }, options)
    } catch (error) {
      this.#notice('read', error)
      throw error
    }
  }

  #followAlone (options: FollowOptions): AsyncGenerator<Batch, void> {
    const { after, until, mostEvents } = options
    const following = this.#followOpened(options)
    return until === undefined ? following : gather(following, after, until, mostEvents)
  }

  async * #followOpened (options: FollowOptions): AsyncGenerator<Batch, void> {
    const { codec } = this
    if (!codec || !options.eventTypes.some((type) => codec.changes(type))) return yield * this.followStored(options)
    // The log has the key of an event before the event, so a follower learns new keys without a lookup.
    const isOwn = ({ type }: Pick<StoredEvent, 'type'>) => codec.ownTypes.includes(type)
    const eventTypes = [...options.eventTypes, ...codec.ownTypes]
    for await (const { events, position } of this.followStored({ ...options, eventTypes })) {
      codec.learn(events.filter(isOwn))
      yield { events: await this.#opened(events.filter((event) => !isOwn(event))), position }
    }
  }

  async #opened (events: StoredEvent[]): Promise<StoredEvent[]> {
    return [...await this.codec?.open(events) ?? events]
  }

  async #call<Result> (kind: CallKind, work: () => Promise<Result>): Promise<Result> {
    if (this.#outages?.isOut) await this.#noticed('read', this.#sharedLook)
    return await this.#noticed(kind, work)
  }

  async #noticed<Result> (kind: CallKind, work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work()
      this.#outages?.answered(kind)
      return result
    } catch (error) {
      this.#notice(kind, error)
      throw error
    }
  }

  #notice (kind: CallKind, error: unknown): void {
    if (!this.#outages) return
    if (isAnswer(error)) return this.#outages.answered(kind)
    if (!(error instanceof EventStoreUnavailable || error instanceof AppendOutcomeUnknown)) return
    this.#outages.failed(kind, error)
    this.#lookAgain()
  }

  #lookAgain (): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => void this.#look(), lookEveryMs).unref()
  }

  /** After a failed append, only a successful one proves recovery: so it writes a probe. */
  async #look (): Promise<void> {
    const since = performance.now() - lookEveryMs / 2
    try {
      await this.#noticed('read', () => this.#reader.head())
      if (this.#outages?.now?.kind === 'append') {
        const last = await this.#noticed('read', () => this.#reader.last(probeStream))
        await this.#probe(last?.revision ?? noStream)
      }
      this.#outages?.endUnlessFailedSince(since)
    } catch {
      // noticed
    }
    this.#timer = undefined
    if (this.#outages?.now) this.#lookAgain()
  }

  async #probe (at: bigint): Promise<void> {
    const probe = { id: randomUUID(), type: 'WriteProbed', data: {}, metadata: {} }
    await this.#noticed('append', () => this.#appender.append(probeStream, [probe], at))
      .catch((error: unknown) => { if (!isAnswer(error)) throw error })
  }
}

/** The store decided about the append, so it is available. */
const isAnswer = (error: unknown) =>
  [RevisionConflict, StreamGone, AppendTooLarge].some((decided) => error instanceof decided)

/** How long a call waits for the shared probe during an outage. */
const patienceMs = 500

/** How long a probe's result counts: calls that run one after another would each probe again. */
const countsForMs = 100

/** One probe for all concurrent callers. Rejects with EventStoreUnavailable. */
const sharedLook = (look: () => Promise<unknown>) => atMostEvery(countsForMs, () =>
  withTimeout(patienceMs, look(), () => new NoAnswer(patienceMs)).catch((cause: unknown) => {
    throw cause instanceof EventStoreUnavailable ? cause : new EventStoreUnavailable('it is silent', { cause })
  }))

/** A store without a leader answers reads but takes no append. */
type CallKind = 'read' | 'append'

export interface OutageLog {
  info (details: object, message: string): void
  warn (details: object, message: string): void
}

/** Logs each outage when it begins and when it ends, instead of each call that fails. */
export class Outages {
  #now: ReturnType<typeof begun> | undefined

  constructor (private readonly log: OutageLog) {}

  get now (): { kind: CallKind, error: Error } | undefined {
    return this.#now
  }

  /** Whether the last call failed. */
  get isOut (): boolean {
    return this.#now !== undefined && this.#now.failedAt >= this.#now.answeredAt
  }

  answered (kind: CallKind): void {
    if (this.#now && (kind === 'append' || this.#now.kind === 'read')) this.#now.answeredAt = performance.now()
  }

  failed (kind: CallKind, error: Error): void {
    const isRefusal = error instanceof AccessRefused
    if (!this.#now || (isRefusal && !this.#now.isRefusalTold)) this.#tell(kind, error, isRefusal)
    const now = this.#now ??= begun(kind, error)
    now.isRefusalTold ||= isRefusal
    if (kind === 'append') now.kind = kind
    now.failedAt = performance.now()
    now.error = error
    now.counts.failed += 1
    if (error instanceof AppendOutcomeUnknown) now.counts.unknown_outcomes += 1
  }

  endUnlessFailedSince (since: number): void {
    if (!this.#now || this.#now.failedAt >= since || this.isOut) return
    const { beganAt, counts } = this.#now
    this.#now = undefined
    const seconds = Math.round((performance.now() - beganAt) / 100) / 10
    this.log.info({ seconds, ...counts }, 'The event store is available again.')
  }

  /** Logs a refused access even during an outage, but no lost connection after a refused access. */
  #tell (kind: CallKind, error: Error, isRefusal: boolean): void {
    const what = isRefusal ? 'The event store refuses access.' : 'The event store is not available.'
    this.log.warn({ calls: kind === 'append' ? 'appends' : 'reads', reason: lostReasonOf(error) }, what)
  }
}

function begun (kind: CallKind, error: Error) {
  const beganAt = performance.now()
  return {
    /** `append` once any append has failed. */
    kind,
    beganAt,
    /** Last failure and last answer. Once an append has failed, answers to reads no longer count. */
    failedAt: beganAt,
    answeredAt: -Infinity,
    isRefusalTold: false,
    error,
    counts: { failed: 0, unknown_outcomes: 0 }
  }
}

interface AppendTimes {
  /** Deadline for the answer to an append, in milliseconds. */
  answerWithinMs: number
  /** How long a lost acknowledgement is followed up until the outcome counts as unknown, in milliseconds. */
  resolveWithinMs: number
  /**
   * After so many milliseconds of silence, an append first checks that the store answers. If that check fails, nothing
   * was sent, so the outcome is known.
   */
  quietAfterMs: number
}

/** Appends at exact revisions, and resolves appends that got no answer. */
class Appender {
  /** Concurrent appends share one check. */
  readonly #checkThere = joinRunning(() => this.reader.head())

  constructor (
    private readonly connection: EventStoreConnection, private readonly reader: Reader,
    private readonly times: AppendTimes
  ) {}

  async append (stream: string, events: readonly Proposed[], expected: bigint): Promise<Appended> {
    const { answerWithinMs, resolveWithinMs, quietAfterMs } = this.times
    if (performance.now() - this.connection.session.heardAt > quietAfterMs) await this.#checkThere()
    let giveUpAt: number | undefined // set once the outcome of a try is unknown; later failures leave it unknown
    const withinMs = () => Math.min(answerWithinMs, Math.max(1, (giveUpAt ?? Infinity) - Date.now()))
    for (let pause = 50; ; pause *= 2) {
      try {
        return await this.connection.onLeader(async (session) => {
          const ms = withinMs()
          return await (await session.appends(ms)).append(stream, events, expected, ms)
        })
      } catch (error) {
        const failure = appendError(error)
        const isStillUnknown = giveUpAt !== undefined && failure instanceof EventStoreUnavailable
        if (!(failure instanceof AppendOutcomeUnknown) && !isStillUnknown) throw failure
        giveUpAt ??= Date.now() + resolveWithinMs
        const known = await this.#followUp(stream, events, expected, withinMs())
        if (known) return known
        if (Date.now() + pause > giveUpAt) throw new AppendOutcomeUnknown(neverAnswered, { cause: failure })
        await delay(pause)
      }
    }
  }

  /** Returns where an unanswered append ended, if the stream has its events after all. */
  async #followUp (
    stream: string, events: readonly Proposed[], expected: bigint, withinMs: number
  ): Promise<Appended | undefined> {
    const part = await this.reader.part(stream, expected + 1n, events.length, withinMs).catch(() => undefined)
    const written = part?.events ?? []
    const last = written[events.length - 1]
    const isOurs = events.every((event, index) => written[index]?.id === event.id)
    return last && isOurs ? { revision: last.revision, position: last.position } : undefined
  }
}

const neverAnswered = 'the event store did not say whether it wrote the events'
