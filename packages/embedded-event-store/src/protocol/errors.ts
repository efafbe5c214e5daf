// Errors as the client expects them: a status, and trailers from which it derives its typed error.
import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { InvalidFilter } from '../filter.js'
import { LogUnavailable } from '../log/reader.js'

/** Largest sum of data, metadata and types of one append, in bytes (EventStoreDB's default up to 25.0). */
export const maxAppendSize = 1024 * 1024

/** Ends a call with a code, message and trailers. */
export class Refusal extends Error {
  readonly trailers: Readonly<Record<string, string>>

  constructor (readonly code: status, message: string, trailers: Record<string, string> = {}) {
    super(message)
    this.trailers = trailers
  }
}

export const invalid = (message: string) => new Refusal(status.INVALID_ARGUMENT, message)
/** EventStoreDB's answer to requests that it does not anticipate. */
export const unforeseen = (message: string) => new Refusal(status.UNKNOWN, message)
export const cancelled = () => new Refusal(status.CANCELLED, 'The event store is shutting down')

export function unavailable (): Refusal {
  return new Refusal(status.UNAVAILABLE, 'The event store has no connection to Postgres; nothing was written')
}

export function diskFull (): Refusal {
  const message = 'The disk of the Postgres that holds the events is full; nothing was written'
  return new Refusal(status.RESOURCE_EXHAUSTED, message)
}

export function streamDeleted (stream: string): Refusal {
  const trailers = { exception: 'stream-deleted', 'stream-name': stream }
  return new Refusal(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, trailers)
}

export function appendTooLarge (): Refusal {
  return new Refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${maxAppendSize} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(maxAppendSize)
  })
}

export function missingMetadata (missing: readonly string[]): Refusal {
  return new Refusal(status.INVALID_ARGUMENT, `Required metadata properties are missing: ${missing.join(', ')}`, {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': missing.join(',')
  })
}

/** For a delete or tombstone at a wrong revision. Python clients parse the numbers from the message. */
export function wrongExpectedVersion (stream: string, expected: string, actual: number): Refusal {
  const where = `Stream: ${stream}, Expected version: ${expected}, Actual version: ${actual}`
  return new Refusal(status.FAILED_PRECONDITION, `Delete failed due to WrongExpectedVersion. ${where}`, {
    exception: 'wrong-expected-version',
    'stream-name': stream,
    'expected-version': expected,
    'actual-version': String(actual)
  })
}

export function notHere (what: string): Refusal {
  const elsewhere = 'EventStoreDB (https://www.eventstore.com) has it.'
  const message = `${what}: not part of this embedded, single-machine event store. ${elsewhere}`
  return new Refusal(status.UNIMPLEMENTED, message)
}

export function toServiceError (error: unknown): ServiceError {
  const refusal = withTrailersThatCanBeSent(toRefusal(error))
  const metadata = new Metadata()
  // gRPC trims spaces of trailers, so they are escaped; the client takes names literally.
  for (const [name, value] of Object.entries(refusal.trailers)) metadata.set(name, ascii(value))
  return Object.assign(new Error(refusal.message), { code: refusal.code, details: ascii(refusal.message), metadata })
}

export function toRefusal (error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof InvalidFilter) return invalid(error.message)
  if (error instanceof LogUnavailable) return new Refusal(status.UNAVAILABLE, error.message)
  return new Refusal(status.UNKNOWN, error instanceof Error ? error.message : 'Unknown error')
}

/** Like EventStoreDB, which fails on a non-ASCII trailer, such as a stream name, and reports only this. */
function withTrailersThatCanBeSent (refusal: Refusal): Refusal {
  const canBeSent = Object.values(refusal.trailers).every((value) => /^[\x20-\x7e]*$/.test(value))
  return canBeSent ? refusal : unforeseen('Exception was thrown by handler.')
}

function ascii (text: string): string {
  const encoded = (run: string) => encodeURIComponent(run.replace(/\p{Surrogate}/gu, '\ufffd'))
  return text.replace(/[^\x20-\x7e]+|^ +| +$/gu, encoded)
}
