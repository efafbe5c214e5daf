// The log as the service has it: reads, appends, the end of the log, and following it. It notices when the event store
// does not answer or takes no writes, looks again meanwhile, and lets no call wait for a store that was away just now.
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
  /** Is told of outages, during which calls fail at once; without it each call waits for its own answer. */
  outages?: OutageLog
  /** Whose followers share a subscription at the end of the log. */
  shared?: ShareOptions
}

/** Changes events on their way into the log, and back on their way out. */
export interface Codec {
  seal (stream: string, events: readonly Proposed[]): Promise<readonly Proposed[]>
  open (events: readonly StoredEvent[]): Promise<readonly StoredEvent[]>
  /** Whether it changes any event of the type. */
  changes (type: string): boolean
  /** What is needed to open events behind them: followers of these learn from them, and nobody else gets them. */
  ownTypes: readonly string[]
  learn (events: readonly StoredEvent[]): void
}

/** What may stand in for the log. */
export type Streams = Pick<EventLog,
  'read' | 'visit' | 'last' | 'limitOf' | 'append' | 'delete' | 'truncate' | 'head' | 'assertHas' | 'scavenge' | 'follow' |
  'followStored' | 'lookNow'>

/** Between two looks during an outage. */
const lookEveryMs = 1_000

const probeStream = 'ringledger-write-probe'

/** No stream of ours comes so far: an append there is decided by the store, and writes nothing. */
const neverReached = 10n ** 12n

export class EventLog {
  readonly #answerWithinMs: number
  readonly #reader: Reader
  readonly #appender: Appender
  readonly #outages: Outages | undefined
  readonly #sharedLook = sharedLook(() => this.#reader.head())
  readonly #tail: SharedTail | undefined
  /** Set before the first event is read or appended that it changes. */
  codec: Codec | undefined
  /** Called when somebody waits for those who follow. */
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
   * The events of a stream from `fromRevision` on, oldest first, `maxCount` at most; none when there is no such stream.
   * @throws EventStoreUnavailable, and what the codec throws, as all that read and append
   */
  read = async (stream: string, fromRevision?: bigint, maxCount?: number): Promise<StoredEvent[]> =>
    await this.#opened(await this.#call('read', () => this.#reader.read(stream, fromRevision, maxCount)))

  /**
   * Hands the same events to `take`, one by one, in parts that fit into memory. False when the stream is not there, or
   * was deleted.
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

  /** What hides events of a stream, if its metadata can be read; a command that fails for it says so itself. */
  limitOf = (stream: string): Promise<Limit | undefined> => this.#reader.limitOf(stream)

  /**
   * Appends all events or none, only while the stream's last revision is `expected` (`noStream` for none).
   * A lost acknowledgement is resolved by repeating the same append, which the store recognises by its ids.
   * @throws RevisionConflict, StreamGone, EventStoreUnavailable, AppendTooLarge, AppendOutcomeUnknown
   */
  append = async (stream: string, events: readonly Proposed[], expected: bigint): Promise<Appended> => {
    const sealed = [...await this.codec?.seal(stream, events) ?? events]
    return await this.#call('append', () => this.#appender.append(stream, sealed, expected))
  }

  /**
   * Hides the events of a stream whose last revision is `expected`, for a scavenge to take them away but for the last
   * one. The stream can be written to again, as a new one or behind that revision.
   * @throws RevisionConflict, StreamGone, EventStoreUnavailable, AppendOutcomeUnknown: a second call finds out
   */
  delete = (stream: string, expected: bigint): Promise<void> =>
    this.#call('append', () => deleteStream(this.connection, stream, expected, this.#answerWithinMs))

  /**
   * Hides the events in front of a revision for good, for a scavenge to take them out; the one at it was acknowledged.
   * A second call changes nothing.
   * @param metadata the last revision of the stream's metadata (`noStream` for none), where a delete may come between
   * @throws RevisionConflict when that has moved on, EventStoreUnavailable
   */
  truncate = (stream: string, before: bigint, metadata?: bigint): Promise<void> =>
    this.#call('read', () => truncate(this.connection, stream, before, this.#answerWithinMs, metadata))

  /** The position of the newest event in $all, 0 in an empty store. @throws EventStoreUnavailable */
  head = (): Promise<bigint> => this.#call('read', () => this.#reader.head())

  /** @throws OtherLog where something else stands in the place of an event that was read, and no scavenge took it */
  assertHas = ({ id, position }: Taken): Promise<void> => this.#call('read', async () => {
    const found = await this.#reader.head() < position ? 'nothing' : await this.#reader.idAt(position) ?? id
    if (found !== id) throw older(`The event log lacks the event that was read at position ${position}`)
  })

  /**
   * On the embedded store: removes what deletes, `$tb` and newer metadata hide, and returns when that is done. Nothing
   * on a real server, whose operator scavenges.
   * @throws EventStoreUnavailable: do it again
   */
  scavenge = (): Promise<Scavenged | undefined> =>
    this.#call('read', () => scavengeEmbedded(this.connection, this.#answerWithinMs))

  /**
   * Batches of events in log order, for ever. The events that arrive while the caller works are the next batch.
   * @throws when the subscription fails or ends: call it again with the last position; OtherLog where it lacks `taken`
   */
  follow = (options: FollowOptions): AsyncGenerator<Batch, void> =>
    this.#tail?.takes(options) ? this.#tail.follow(options) : this.#followAlone(options)

  /** The same, as they are in the log, and not opened: who does not need that does not look up keys. */
  followStored = (options: FollowOptions): AsyncGenerator<Batch, void> => this.#follow(options)

  /** Somebody waits for those who follow: they look now whether the log has gone on without them. */
  lookNow = (): void => {
    this.#tail?.lookNow()
    for (const look of this.#awaited) look()
  }

  /** @throws what calls fail with now */
  async assertAnswers (): Promise<void> {
    const now = this.#outages?.now
    if (now?.kind === 'read') throw now.error
    await this.head()
  }

  /** @throws what an append is refused with */
  async assertTakesWrites (): Promise<void> {
    const now = this.#outages?.now
    if (now) throw now.error
    await this.#probe(neverReached)
  }

  /** Ends the looking; the connection stays. */
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
    // What is needed to open an event is in the log before it: so nobody has to be asked for what was just made.
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

  /** After an append that failed, only one that is written proves that all is well. */
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

/** The store has decided about the append itself. */
const isAnswer = (error: unknown) =>
  [RevisionConflict, StreamGone, AppendTooLarge].some((decided) => error instanceof decided)

/** Calls wait no longer than this to learn it. */
const patienceMs = 500

/** Calls that wait for each other would each look anew: what a look has found counts for so long. */
const countsForMs = 100

/** Whether the store answers, for all who ask at once. It rejects with EventStoreUnavailable. */
const sharedLook = (look: () => Promise<unknown>) => atMostEvery(countsForMs, () =>
  withTimeout(patienceMs, look(), () => new NoAnswer(patienceMs)).catch((cause: unknown) => {
    throw cause instanceof EventStoreUnavailable ? cause : new EventStoreUnavailable('it is silent', { cause })
  }))

/** What fails: a store without a leader answers reads and takes no append. */
type CallKind = 'read' | 'append'

export interface OutageLog {
  info (details: object, message: string): void
  warn (details: object, message: string): void
}

/** Tells each outage twice, when it begins and when it ends, and not of each call that it fails. */
export class Outages {
  #now: ReturnType<typeof begun> | undefined

  constructor (private readonly log: OutageLog) {}

  /** The outage that goes on; nothing while there is none. */
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

  /** Ends it unless a call has failed since `since`. */
  endUnlessFailedSince (since: number): void {
    if (!this.#now || this.#now.failedAt >= since || this.isOut) return
    const { beganAt, counts } = this.#now
    this.#now = undefined
    const seconds = Math.round((performance.now() - beganAt) / 100) / 10
    this.log.info({ seconds, ...counts }, 'The event store is available again.')
  }

  /** A right that is lost while the store cannot be reached is told as well; a lost call after a lost right is not. */
  #tell (kind: CallKind, error: Error, isRefusal: boolean): void {
    const what = isRefusal ? 'The event store refuses access.' : 'The event store is not available.'
    this.log.warn({ calls: kind === 'append' ? 'appends' : 'reads', reason: lostReasonOf(error) }, what)
  }
}

function begun (kind: CallKind, error: Error) {
  const beganAt = performance.now()
  return {
    /** `append` as soon as an append has failed. */
    kind,
    beganAt,
    /** When the last call failed, and when the last one of its kind was answered. */
    failedAt: beganAt,
    answeredAt: -Infinity,
    /** Whether it was told that rights or a login are missing. */
    isRefusalTold: false,
    error,
    counts: { failed: 0, unknown_outcomes: 0 }
  }
}

async function deleteStream (
  connection: EventStoreConnection, stream: string, expected: bigint, withinMs: number
): Promise<void> {
  const options = { expectedRevision: expected, requiresLeader: true, deadline: withinMs }
  try {
    await connection.onLeader(({ client }) => client.deleteStream(stream, options))
  } catch (cause) {
    if (cause instanceof WrongExpectedVersionError) throw new RevisionConflict('the stream has moved on', { cause })
    if (cause instanceof StreamDeletedError) throw new StreamGone('the stream was deleted for good', { cause })
    throw appendError(cause)
  }
}

async function truncate (
  connection: EventStoreConnection, stream: string, before: bigint, withinMs: number, metadata?: bigint
): Promise<void> {
  const expectedRevision = metadata === -1n ? NO_STREAM : metadata ?? ANY
  try {
    await connection.onLeader(async ({ client }) => {
      // The client turns the number into JSON: a stream never has so many events that it would not be exact.
      const written = client.setStreamMetadata(stream, { truncateBefore: Number(before) }, { expectedRevision })
      await withTimeout(withinMs, written, () => new NoAnswer(withinMs))
    })
  } catch (error) {
    if (error instanceof WrongExpectedVersionError) throw new RevisionConflict('the metadata has moved on')
    throw readError(error)
  }
}

interface AppendTimes {
  /** How long the store may leave an append unanswered, in milliseconds. */
  answerWithinMs: number
  /** How long a lost acknowledgement is followed up before the outcome is called unknown, in milliseconds. */
  resolveWithinMs: number
  /**
   * After so many milliseconds without an answer an append first checks that the store is there: an append that was
   * never sent is surely not written.
   */
  quietAfterMs: number
}

/** Appends at exact revisions, and finds out what became of an append that was not answered. */
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

  /** Whether the stream has the events of an unanswered append after all. */
  async #followUp (
    stream: string, events: readonly Proposed[], expected: bigint, withinMs: number
  ): Promise<Appended | undefined> {
    const written = await this.reader.read(stream, expected + 1n, undefined, withinMs).catch(() => [])
    const last = written[events.length - 1]
    const isOurs = events.every((event, index) => written[index]?.id === event.id)
    return last && isOurs ? { revision: last.revision, position: last.position } : undefined
  }
}

const neverAnswered = 'the event store did not say whether it wrote the events'
