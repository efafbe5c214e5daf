// The replies of BatchAppend: the client picks its error from the details, and needs the stream with each of them.
import { status } from '@grpc/grpc-js'
import { any, noStream, streamExists } from '../../log/write/decide.js'
import type { Outcome } from '../../log/write/request.js'
import type { BatchOptions } from './batch-chunk.js'
import { diskFull, maxAppendSize, type Refusal } from '../errors.js'
import { Any, Empty, shared, status as rpc } from '../generated.js'
import { sizeOf, Writer } from '../protobuf.js'

// Field numbers as in streams.proto and shared.proto.
const response = {
  id: 1,
  error: 2,
  success: 3,
  stream: 4,
  expected: 5,
  expectedNoStream: 6,
  expectedAny: 7,
  expectedStreamExists: 8
}
const written = { revision: 1, noStream: 2, position: 3, noPosition: 4 }
const place = { commit: 1, prepare: 2 }

interface Failure {
  code: status
  /** The name of the message that `details` are. */
  type: string
  details: { serializeBinary (): Uint8Array }
  /** The type unless given. */
  message?: string
}

/** The reply to one finished append; `id` is its correlation id as it came. */
export function batchReply (id: Buffer, options: BatchOptions, outcome: Outcome): Buffer {
  if (outcome.kind !== 'written') return failure(id, options, failureOf(outcome, options))
  return envelope(id, options, response.success, success(outcome.revision, outcome.position))
}

/** The reply to an append that was refused before it was complete. */
export function batchRefusal (id: Buffer, options: BatchOptions, refusal: Refusal): Buffer {
  return failure(id, options, failureOfRefusal(refusal))
}

function failureOf (outcome: Exclude<Outcome, { kind: 'written' }>, options: BatchOptions): Failure {
  switch (outcome.kind) {
    case 'wrong-revision': return {
      code: status.ALREADY_EXISTS, type: 'WrongExpectedVersion', details: wrongVersion(outcome.current, options)
    }
    case 'stream-deleted': return {
      code: status.NOT_FOUND, type: 'StreamDeleted', details: streamDeleted(options)
    }
    case 'expired':
    case 'unknown': return { code: status.DEADLINE_EXCEEDED, type: 'Timeout', details: new shared.Timeout() }
    case 'unavailable': return { code: status.UNKNOWN, type: 'Unknown', details: new shared.Unknown() }
    case 'disk-full': {
      const { code, message } = diskFull()
      return { code, type: 'BadRequest', details: new shared.BadRequest().setMessage(message), message }
    }
  }
}

function failureOfRefusal ({ message, trailers: { exception } }: Refusal): Failure {
  switch (exception) {
    case 'maximum-append-size-exceeded': return {
      code: status.INVALID_ARGUMENT,
      type: 'MaximumAppendSizeExceeded',
      details: new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize)
    }
    default: return {
      code: status.INVALID_ARGUMENT, type: 'BadRequest', details: new shared.BadRequest().setMessage(message), message
    }
  }
}

function failure (id: Buffer, options: BatchOptions, { code, type, details, message = type }: Failure): Buffer {
  const packed = new Any()
  packed.pack(details.serializeBinary(), `event_store.client.${type}`)
  const error = new rpc.Status().setCode(Number(code)).setMessage(message).setDetails(packed)
  return envelope(id, options, response.error, error.serializeBinary())
}

function envelope (id: Buffer, { identifier, expected }: BatchOptions, result: number, content: Uint8Array): Buffer {
  const expectedSize = expected >= 0 ? sizeOf.number(expected) : 2
  const size = sizeOf.bytes(id.length) + sizeOf.bytes(content.length) + sizeOf.bytes(identifier.length) + expectedSize
  const writer = Writer.ofSize(size).bytes(response.id, id).bytes(result, content).bytes(response.stream, identifier)
  switch (expected) {
    case any: return writer.begin(response.expectedAny, 0).buffer
    case noStream: return writer.begin(response.expectedNoStream, 0).buffer
    case streamExists: return writer.begin(response.expectedStreamExists, 0).buffer
    default: return writer.number(response.expected, expected).buffer
  }
}

function success (revision: number, at: number | undefined): Buffer {
  const positionSize = at === undefined ? 0 : 2 * sizeOf.number(at)
  const writer = Writer.ofSize((revision < 0 ? 2 : sizeOf.number(revision)) + sizeOf.bytes(positionSize))
  if (revision < 0) writer.begin(written.noStream, 0)
  else writer.number(written.revision, revision)
  if (at === undefined) return writer.begin(written.noPosition, 0).buffer
  return writer.begin(written.position, positionSize).number(place.commit, at).number(place.prepare, at).buffer
}

function streamDeleted ({ name }: BatchOptions): shared.StreamDeleted {
  return new shared.StreamDeleted().setStreamIdentifier(new shared.StreamIdentifier().setStreamName(name))
}

function wrongVersion (current: number, { expected, exact }: BatchOptions): shared.WrongExpectedVersion {
  const wrong = new shared.WrongExpectedVersion()
  if (current < 0) wrong.setCurrentNoStream(new Empty())
  else wrong.setCurrentStreamRevision(String(current))
  switch (expected) {
    case any: return wrong.setExpectedAny(new Empty())
    case streamExists: return wrong.setExpectedStreamExists(new Empty())
    case noStream: return wrong.setExpectedNoStream(new Empty())
    default: return wrong.setExpectedStreamPosition(String(exact))
  }
}
