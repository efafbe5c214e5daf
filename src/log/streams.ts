// What the service does with streams: reads, appends, the end of the log, and following it.
import type { StoredEvent } from '../domain/stored-event.js'
import { Appender, type AppendTimes } from './appender.js'
import type { EventStoreConnection } from './connection/connection.js'
import type { Appended, Proposed } from './connection/proposed.js'
import { followLog, type FollowOptions } from './follow.js'
import type { Limit } from './reads/limit.js'
import { Reader } from './reads/reader.js'
import { scavengeEmbedded, type Scavenged } from './scavenge.js'
import type { Batch } from './reads/batch.js'
import { ANY, NO_STREAM, StreamDeletedError, WrongExpectedVersionError } from '@eventstore/db-client'
import { appendError, RevisionConflict, StreamGone, NoAnswer, readError } from './errors.js'
import { withTimeout } from '../timing/with-timeout.js'

export type { Appended, Proposed }

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
   * @throws EventStoreUnavailable, StreamTruncated, and what `take` throws
   */
  visit (
    stream: string, fromRevision: bigint, take: (event: StoredEvent) => void, maxCount?: number
  ): Promise<boolean>
  /**
   * Hides the events in front of a revision for good; the one at it was acknowledged.
   * @param metadata the last revision of the stream's metadata (`noStream` for none), where a delete may come between
   * @throws RevisionConflict when that has moved on, EventStoreUnavailable
   */
  truncate (stream: string, before: bigint, metadata?: bigint): Promise<void>
  /** What hides events of a stream, if its metadata can be read; a command that fails for it says so itself. */
  limitOf (stream: string): Promise<Limit | undefined>
  /** The newest event of a stream, if it has one. @throws EventStoreUnavailable */
  last (stream: string): Promise<StoredEvent | undefined>
  /**
   * Appends all events or none, only while the stream's last revision is `expected` (`noStream` for none).
   * A lost acknowledgement is resolved by repeating the same append, which the store recognises by its ids.
   * @throws RevisionConflict, StreamGone, EventStoreUnavailable, AppendTooLarge, AppendOutcomeUnknown
   */
  append (stream: string, events: Proposed[], expected: bigint): Promise<Appended>
  /**
   * Hides the events of a stream whose last revision is `expected`, for a scavenge to take them away but for the last
   * one. The stream can be written to again, as a new one or behind that revision.
   * @throws RevisionConflict, StreamGone, EventStoreUnavailable
   */
  delete (stream: string, expected: bigint): Promise<void>
  /** The position of the newest event in $all, 0 in an empty store. @throws EventStoreUnavailable */
  head (): Promise<bigint>
  /**
   * On the embedded store: removes what deletes, `$tb` and newer metadata hide, and returns when that is done. Nothing
   * on a real server, whose operator scavenges.
   * @throws EventStoreUnavailable: do it again
   */
  scavenge (): Promise<Scavenged | undefined>
  /**
   * Batches of events in log order, for ever. The events that arrive while the caller works are the next batch.
   * @throws when the subscription fails or ends: call it again with the last position
   */
  follow (options: FollowOptions): AsyncGenerator<Batch, void>
  /** Somebody waits for those who follow: they look now whether the log has gone on without them. */
  lookNow? (): void
}

export type StreamsOptions = Partial<AppendTimes>

export function openStreams (connection: EventStoreConnection, options: StreamsOptions = {}): Streams {
  const { answerWithinMs = 4_000, resolveWithinMs = 5_000, quietAfterMs = 1_000 } = options
  const reader = new Reader(connection, answerWithinMs)
  const appender = new Appender(connection, reader, { answerWithinMs, resolveWithinMs, quietAfterMs })
  let asked: Promise<bigint> | undefined
  const awaited = new Set<() => void>()
  const sharedHead = () => asked ??= reader.head().finally(() => { asked = undefined })
  return {
    read: (stream, fromRevision, maxCount) => reader.read(stream, fromRevision, maxCount),
    visit: (stream, fromRevision, take, maxCount) => reader.visit(stream, fromRevision, take, maxCount),
    truncate: (stream, before, metadata) => truncate(connection, stream, before, answerWithinMs, metadata),
    limitOf: (stream) => reader.limitOf(stream),
    last: (stream) => reader.last(stream),
    append: (stream, events, expected) => appender.append(stream, events, expected),
    delete: (stream, expected) => deleteStream(connection, stream, expected, answerWithinMs),
    head: () => reader.head(),
    scavenge: () => scavengeEmbedded(connection, answerWithinMs),
    follow: (following) => followLog(connection, { head: sharedHead, awaited }, following),
    lookNow: () => { for (const look of awaited) look() }
  }
}

/**
 * Hides all events of a stream; new ones can be appended.
 * @throws RevisionConflict, StreamGone, EventStoreUnavailable, AppendOutcomeUnknown: a second call finds out
 */
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

/**
 * Hides the beginning of a stream for good: a scavenge then takes it out of the store.
 * Call it once the store has acknowledged the event at revision `before`, which makes the earlier events needless.
 * A second call changes nothing.
 * @param metadata the last revision of the stream's metadata, -1 for none; any when absent
 * @throws RevisionConflict when somebody else wrote metadata, EventStoreUnavailable
 */
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
