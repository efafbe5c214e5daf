// The replies of BatchAppend: the client picks its error from the details, and needs the stream with each of them.
import { status } from '@grpc/grpc-js'
import { any, noStream, streamExists } from '../log/decide.js'
import type { Outcome } from '../log/write.js'
import type { BatchOptions } from './batch-chunk.js'
import { maxAppendSize, type Refusal } from './errors.js'
import { Any, Empty, shared, status as rpc } from './generated.js'
import { sizeOf, Writer } from './protobuf.js'

// Field numbers as in streams.proto and shared.proto.
const of = {
  response: { id: 1, error: 2, success: 3, stream: 4, expected: 5, expectedNoStream: 6, expectedAny: 7, expectedStreamExists: 8 },
  success: { revision: 1, noStream: 2, position: 3, noPosition: 4 },
  position: { commit: 1, prepare: 2 }
}

/** The reply to one finished append; `id` is its correlation id as it came. */
export function batchReply (id: Buffer, options: BatchOptions, outcome: Outcome): Buffer {
  switch (outcome.kind) {
    case 'written': return envelope(id, options, of.response.success, success(outcome.revision, outcome.position))
    case 'wrong-revision': return failure(id, options, status.ALREADY_EXISTS, 'WrongExpectedVersion', wrongVersion(outcome.current, options))
    case 'stream-deleted': return failure(id, options, status.NOT_FOUND, 'StreamDeleted', new shared.StreamDeleted().setStreamIdentifier(new shared.StreamIdentifier().setStreamName(options.name)))
    case 'expired':
    case 'unknown': return failure(id, options, status.DEADLINE_EXCEEDED, 'Timeout', new shared.Timeout())
    case 'unavailable': return failure(id, options, status.UNKNOWN, 'Unknown', new shared.Unknown())
  }
}

/** The reply to an append that was refused before it was complete. */
export function batchRefusal (id: Buffer, options: BatchOptions, refusal: Refusal): Buffer {
  switch (refusal.trailers.exception) {
    case 'maximum-append-size-exceeded': return failure(id, options, status.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize))
    case 'access-denied': return failure(id, options, status.PERMISSION_DENIED, 'AccessDenied', new shared.AccessDenied())
    default: return failure(id, options, status.INVALID_ARGUMENT, 'BadRequest', new shared.BadRequest().setMessage(refusal.message), refusal.message)
  }
}

function envelope (id: Buffer, options: BatchOptions, result: number, content: Uint8Array): Buffer {
  const { identifier, expected } = options
  const isExact = expected >= 0
  const size = sizeOf.bytes(id.length) + sizeOf.bytes(content.length) + sizeOf.bytes(identifier.length) + (isExact ? sizeOf.number(expected) : 2)
  const writer = new Writer(size).bytes(of.response.id, id).bytes(result, content).bytes(of.response.stream, identifier)
  if (isExact) return writer.number(of.response.expected, expected).buffer
  return writer.begin(expected === any ? of.response.expectedAny : expected === noStream ? of.response.expectedNoStream : of.response.expectedStreamExists, 0).buffer
}

function success (revision: number, at: number | undefined): Buffer {
  const positionSize = at === undefined ? 0 : 2 * sizeOf.number(at)
  const writer = new Writer((revision < 0 ? 2 : sizeOf.number(revision)) + sizeOf.bytes(positionSize))
  if (revision < 0) writer.begin(of.success.noStream, 0)
  else writer.number(of.success.revision, revision)
  if (at === undefined) return writer.begin(of.success.noPosition, 0).buffer
  return writer.begin(of.success.position, positionSize).number(of.position.commit, at).number(of.position.prepare, at).buffer
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

function failure (id: Buffer, options: BatchOptions, code: status, type: string, details: { serializeBinary (): Uint8Array }, message = type): Buffer {
  const packed = new Any()
  packed.pack(details.serializeBinary(), `event_store.client.${type}`)
  const error = new rpc.Status().setCode(Number(code)).setMessage(message).setDetails(packed)
  return envelope(id, options, of.response.error, error.serializeBinary())
}
