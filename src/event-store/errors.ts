// What can go wrong between us and the event store, by what may have been written.
import {
  AccessDeniedError, MaxAppendSizeExceededError, StreamDeletedError, WrongExpectedVersionError
} from '@eventstore/db-client'

/** The stream is not at the expected revision: somebody else wrote first, and nothing of ours was written. */
export class RevisionConflict extends Error {
  override readonly name = 'RevisionConflict'
}

/** The stream was deleted for good: nothing can be written to it any more. */
export class StreamGone extends Error {
  override readonly name = 'StreamGone'
}

/** The event store cannot be reached, and nothing of ours can have been written. */
export class EventStoreUnavailable extends Error {
  override readonly name = 'EventStoreUnavailable'
}

/** The append left and no answer came: it was written or not. The same append at the same revision finds out. */
export class AppendOutcomeUnknown extends Error {
  override readonly name = 'AppendOutcomeUnknown'
}

/** The events are larger than the store takes in one append; nothing was written. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge'
}

/** Translates what the client threw while appending. */
export function appendError (cause: unknown): Error {
  if (cause instanceof RevisionConflict) return cause
  if (cause instanceof WrongExpectedVersionError) return new RevisionConflict('the stream has moved on', { cause })
  if (cause instanceof MaxAppendSizeExceededError) {
    return new AppendTooLarge('the events are too large for one append', { cause })
  }
  if (cause instanceof StreamDeletedError) return new StreamGone('the stream was deleted for good', { cause })
  if (cause instanceof AccessDeniedError) return cause
  if (neverLeft(cause)) return new EventStoreUnavailable('the event store cannot be reached', { cause })
  return new AppendOutcomeUnknown('the event store did not say whether it wrote the events', { cause })
}

/** Translates what the client threw while reading: a read that fails has written nothing. */
export function readError (cause: unknown): Error {
  if (cause instanceof AccessDeniedError) return cause
  return new EventStoreUnavailable('the event store cannot be reached', { cause })
}

/** grpc-js says so in words when a call failed before a connection existed, so that not one byte was sent. */
function neverLeft (cause: unknown): boolean {
  return cause instanceof Error && neverSentWords.test(cause.message)
}

const neverSentWords = /No connection established|Name resolution failed|Failed to discover|ECONNREFUSED/
