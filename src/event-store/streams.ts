// Reads and appends streams; the client's types and errors become ours.
import { setTimeout as delay } from 'node:timers/promises'
import { NO_STREAM, jsonEvent, type EventStoreDBClient } from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { AppendOutcomeUnknown, EventStoreUnavailable, RevisionConflict, appendError } from './errors.js'
import { followLog, type FollowOptions } from './follow.js'
import { Reader } from './reader.js'
import type { Batch } from './subscribe.js'
import { withTimeout } from './with-timeout.js'

/** One event to append; `id` is a UUID that stays the same when the append is tried again. */
export interface Proposed {
  id: string
  type: string
  data: object
  metadata: Record<string, string>
}

/** Where an append ended: the revision of its last event and that event's position in $all. */
export interface Appended {
  revision: bigint
  position: bigint
}

/** The revision of a stream that has no events. */
export const noStream = -1n

export interface Streams {
  /**
   * The events of a stream from `fromRevision` on, oldest first, `maxCount` at most; none when there is no such stream.
   * @throws EventStoreUnavailable
   */
  read (stream: string, fromRevision?: bigint, maxCount?: number): Promise<StoredEvent[]>
  /**
   * Hands the same events to `take`, one by one as they arrive, so that a long stream takes no memory. False when the
   * stream is not there, or was deleted.
   * @throws EventStoreUnavailable, and what `take` throws
   */
  visit (
    stream: string, fromRevision: bigint, take: (event: StoredEvent) => void, maxCount?: number
  ): Promise<boolean>
  /** The newest event of a stream, if it has one. @throws EventStoreUnavailable */
  last (stream: string): Promise<StoredEvent | undefined>
  /**
   * Appends all events or none, only while the stream's last revision is `expected` (`noStream` for none).
   * A lost acknowledgement is resolved by repeating the same append, which the store recognises by its ids.
   * @throws RevisionConflict, StreamGone, EventStoreUnavailable, AppendTooLarge, AppendOutcomeUnknown
   */
  append (stream: string, events: Proposed[], expected: bigint): Promise<Appended>
  /** The position of the newest event in $all, 0 in an empty store. @throws EventStoreUnavailable */
  head (): Promise<bigint>
  /**
   * Batches of events in log order, for ever. The events that arrive while the caller works are the next batch.
   * @throws when the subscription fails or ends: call it again with the last position
   */
  follow (options: FollowOptions): AsyncGenerator<Batch, void>
}

export interface StreamsOptions {
  /** How long the store may leave a read or an append unanswered, in milliseconds. */
  answerWithinMs?: number
  /** How long a lost acknowledgement is followed up before the outcome is called unknown, in milliseconds. */
  resolveWithinMs?: number
  /**
   * After so many milliseconds without an answer an append first checks that the store is there: an append that was
   * never sent is surely not written.
   */
  quietAfterMs?: number
}

export function openStreams (client: EventStoreDBClient, options: StreamsOptions = {}): Streams {
  const { answerWithinMs = 5_000, resolveWithinMs = 5_000, quietAfterMs = 1_000 } = options
  const reader = new Reader(client, answerWithinMs)
  const appender = new Appender(client, reader, { answerWithinMs, resolveWithinMs, quietAfterMs })
  const head = () => reader.head()
  return {
    read: (stream, fromRevision, maxCount) => reader.read(stream, fromRevision, maxCount),
    visit: (stream, fromRevision, take, maxCount) => reader.visit(stream, fromRevision, take, maxCount),
    last: (stream) => reader.last(stream),
    append: (stream, events, expected) => appender.append(stream, events, expected),
    head,
    follow: (following) => followLog(client, head, following)
  }
}

class Appender {
  #checking: Promise<bigint> | undefined

  constructor (
    private readonly client: EventStoreDBClient, private readonly reader: Reader,
    private readonly times: Required<StreamsOptions>
  ) {}

  async append (stream: string, events: Proposed[], expected: bigint): Promise<Appended> {
    const { answerWithinMs, resolveWithinMs, quietAfterMs } = this.times
    if (Date.now() - this.reader.heardAt > quietAfterMs) await this.#checkThere()
    let giveUpAt: number | undefined // set once the outcome of a try is unknown; later failures leave it unknown
    const withinMs = () => Math.min(answerWithinMs, Math.max(1, (giveUpAt ?? Infinity) - Date.now()))
    for (let pause = 50; ; pause *= 2) {
      try {
        return await this.#appendOnce(stream, events, expected, withinMs())
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

  /** Concurrent appends share one check. */
  async #checkThere (): Promise<void> {
    await (this.#checking ??= this.reader.head().finally(() => { this.#checking = undefined }))
  }

  async #appendOnce (
    stream: string, events: Proposed[], expected: bigint, withinMs: number
  ): Promise<Appended> {
    const proposed = events.map((event) => jsonEvent({ ...event, data: { ...event.data } }))
    const expectedRevision = expected === noStream ? NO_STREAM : expected
    const result = await withTimeout(withinMs, this.client.appendToStream(stream, proposed, { expectedRevision }))
    this.reader.heardAt = Date.now()
    if (!result.success) throw new RevisionConflict('the stream has moved on')
    if (!result.position) throw new Error(noPosition)
    return { revision: result.nextExpectedRevision, position: result.position.commit }
  }

  /** Whether the stream has the events of an unanswered append after all. */
  async #followUp (
    stream: string, events: Proposed[], expected: bigint, withinMs: number
  ): Promise<Appended | undefined> {
    const written = await this.reader.read(stream, expected + 1n, undefined, withinMs).catch(() => [])
    const last = written[events.length - 1]
    const isOurs = events.every((event, index) => written[index]?.id === event.id)
    return last && isOurs ? { revision: last.revision, position: last.position } : undefined
  }
}

const neverAnswered = 'the event store did not say whether it wrote the events'
const noPosition = 'the event store answered an append without a position: version 22.6 or newer is needed'
