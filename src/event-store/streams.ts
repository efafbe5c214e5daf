// Reads and appends streams; the client's types and errors become ours.
import { setTimeout as delay } from 'node:timers/promises'
import {
  BACKWARDS, END, FORWARDS, NO_STREAM, StreamNotFoundError, jsonEvent, type EventStoreDBClient, type ReadStreamOptions
} from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { collect } from './collect.js'
import { AppendOutcomeUnknown, EventStoreUnavailable, appendError, readError } from './errors.js'
import { followLog, type FollowOptions } from './follow.js'
import type { Batch } from './subscribe.js'
import { toStoredEvent } from './stored.js'

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
  /** The newest event of a stream, if it has one. @throws EventStoreUnavailable */
  last (stream: string): Promise<StoredEvent | undefined>
  /**
   * Appends all events or none, only while the stream's last revision is `expected` (`noStream` for none).
   * A lost acknowledgement is resolved by repeating the same append, which the store recognises by its ids.
   * @throws RevisionConflict, EventStoreUnavailable, AppendTooLarge, AppendOutcomeUnknown
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

export function openStreams (client: EventStoreDBClient, { answerWithinMs = 5_000, resolveWithinMs = 5_000, quietAfterMs = 1_000 }: StreamsOptions = {}): Streams {
  let heardAt = 0
  let asking: Promise<bigint> | undefined
  return { read, last, append, head, follow: (options) => followLog(client, head, options) }

  async function read (
    stream: string, fromRevision = 0n, maxCount = Number.MAX_SAFE_INTEGER, withinMs = answerWithinMs
  ): Promise<StoredEvent[]> {
    return await eventsOf(stream, { direction: FORWARDS, fromRevision, maxCount }, withinMs)
  }

  async function last (stream: string): Promise<StoredEvent | undefined> {
    const [newest] = await eventsOf(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 }, answerWithinMs)
    return newest
  }

  async function eventsOf (stream: string, options: ReadStreamOptions, withinMs: number): Promise<StoredEvent[]> {
    try {
      const resolved = await collect(client.readStream(stream, options), withinMs)
      heardAt = Date.now()
      return resolved.flatMap(({ event }) => event ? [toStoredEvent(event)] : [])
    } catch (error) {
      if (error instanceof StreamNotFoundError) return []
      throw readError(error)
    }
  }

  async function append (stream: string, events: Proposed[], expected: bigint): Promise<Appended> {
    if (Date.now() - heardAt > quietAfterMs) await (asking ??= head().finally(() => { asking = undefined }))
    let giveUpAt: number | undefined // set once the outcome of a try is unknown; later failures leave it unknown
    const withinMs = () => Math.min(answerWithinMs, Math.max(1, (giveUpAt ?? Infinity) - Date.now()))
    for (let pause = 50; ; pause *= 2) {
      try {
        return await appendOnce(stream, events, expected, withinMs())
      } catch (error) {
        const failure = appendError(error)
        const isStillUnknown = giveUpAt !== undefined && failure instanceof EventStoreUnavailable
        if (!(failure instanceof AppendOutcomeUnknown) && !isStillUnknown) throw failure
        giveUpAt ??= Date.now() + resolveWithinMs
        const known = await followUp(stream, events, expected, withinMs())
        if (known) return known
        if (Date.now() + pause > giveUpAt) throw new AppendOutcomeUnknown('the event store did not say whether it wrote the events', { cause: failure })
        await delay(pause)
      }
    }
  }

  async function appendOnce (
    stream: string, events: Proposed[], expected: bigint, withinMs: number
  ): Promise<Appended> {
    const proposed = events.map((event) => jsonEvent({ ...event, data: { ...event.data } }))
    const expectedRevision = expected === noStream ? NO_STREAM : expected
    const result = await withTimeout(withinMs, client.appendToStream(stream, proposed, { expectedRevision }))
    heardAt = Date.now()
    if (!result.position) throw new Error('the event store answered an append without a position: version 22.6 or newer is needed')
    return { revision: result.nextExpectedRevision, position: result.position.commit }
  }

  /** Whether the events of an unanswered append stand in the stream after all. */
  async function followUp (
    stream: string, events: Proposed[], expected: bigint, withinMs: number
  ): Promise<Appended | undefined> {
    const written = await read(stream, expected + 1n, undefined, withinMs).catch(() => [])
    const last = written[events.length - 1]
    const isOurs = events.every((event, index) => written[index]?.id === event.id)
    return last && isOurs ? { revision: last.revision, position: last.position } : undefined
  }

  async function head (): Promise<bigint> {
    try {
      const reading = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
      const [newest] = await collect(reading, answerWithinMs)
      heardAt = Date.now()
      return newest?.commitPosition ?? newest?.event?.position.commit ?? 0n
    } catch (error) {
      throw readError(error)
    }
  }
}

async function withTimeout<Result> (ms: number, work: Promise<Result>): Promise<Result> {
  const timer = new AbortController()
  const timeout = delay(ms, undefined, { signal: timer.signal }).then(() => { throw new Error(`no answer within ${ms} ms`) })
  timeout.catch(() => {}) // the loser of the race, or aborted below
  try {
    return await Promise.race([work, timeout])
  } finally {
    timer.abort()
  }
}
