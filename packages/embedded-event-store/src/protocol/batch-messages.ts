// The messages of BatchAppend: what a reply to one append says. The client picks its error from the details of a reply,
// and needs the stream with each of them.
import { status } from '@grpc/grpc-js'
import type { Outcome } from '../log/plan.js'
import { diskFull, maxAppendSize, type Refusal } from './errors.js'
import { Any, BinaryReader, Duration, Empty, shared, status as rpc, streams } from './generated.js'

/** A message, and for how long its append may take, in ms, if it says that: messages of Node's client cannot. */
export interface BatchChunk { request: streams.BatchAppendReq, patience: number | undefined }

export type BatchOptions = streams.BatchAppendReq.Options

/** Decodes `BatchAppendReq`; throws when the bytes are no such message. */
export function decodeBatchChunk (bytes: Buffer): BatchChunk {
  const request = streams.BatchAppendReq.deserializeBinary(bytes)
  const hasDeadline = request.getOptions()?.hasDeadline() ?? true
  return { request, patience: hasDeadline ? undefined : patienceIn(bytes) }
}

/** Field numbers as in streams.proto. */
const of = { request: { options: 2 }, options: { duration: 7 } }

function patienceIn (bytes: Uint8Array): number | undefined {
  const duration = fieldOf(fieldOf(bytes, of.request.options), of.options.duration)
  const { seconds, nanos } = duration ? Duration.deserializeBinary(duration).toObject() : {}
  return seconds === undefined ? undefined : seconds * 1000 + Math.floor((nanos ?? 0) / 1e6)
}

/** The last field of that number. */
function fieldOf (bytes: Uint8Array | undefined, number: number): Uint8Array | undefined {
  if (bytes === undefined) return undefined
  const reader = new BinaryReader(bytes)
  let found: Uint8Array | undefined
  while (reader.nextField()) {
    if (reader.getFieldNumber() === number) found = reader.readBytes()
    else reader.skipField()
  }
  return found
}

/** The reply to one finished append; `id` is its correlation id as it came. */
export function batchReply (
  id: shared.UUID | undefined, options: BatchOptions, outcome: Outcome
): streams.BatchAppendResp {
  const reply = replyTo(id, options)
  if (outcome.kind !== 'written') return reply.setError(failureOf(outcome, options))
  const success = new streams.BatchAppendResp.Success()
  if (outcome.revision < 0) success.setNoStream(new Empty())
  else success.setCurrentRevision(String(outcome.revision))
  if (outcome.position === undefined) return reply.setSuccess(success.setNoPosition(new Empty()))
  const at = String(outcome.position)
  const position = new shared.AllStreamPosition().setCommitPosition(at).setPreparePosition(at)
  return reply.setSuccess(success.setPosition(position))
}

/** The reply to an append that was refused before it was complete. */
export function batchRefusal (
  id: shared.UUID | undefined, options: BatchOptions, { message, trailers: { exception } }: Refusal
): streams.BatchAppendResp {
  const code = status.INVALID_ARGUMENT
  const error = exception === 'maximum-append-size-exceeded'
    ? failure(code, 'MaximumAppendSizeExceeded', new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize))
    : badRequest(code, message)
  return replyTo(id, options).setError(error)
}

function replyTo (id: shared.UUID | undefined, options: BatchOptions): streams.BatchAppendResp {
  const reply = new streams.BatchAppendResp()
    .setCorrelationId(id)
    .setStreamIdentifier(options.getStreamIdentifier())
  if (options.hasAny()) return reply.setAny(new Empty())
  if (options.hasNoStream()) return reply.setNoStream(new Empty())
  if (options.hasStreamExists()) return reply.setStreamExists(new Empty())
  return reply.setStreamPosition(options.getStreamPosition())
}

function failureOf (outcome: Exclude<Outcome, { kind: 'written' }>, options: BatchOptions): rpc.Status {
  switch (outcome.kind) {
    case 'wrong-revision':
      return failure(status.ALREADY_EXISTS, 'WrongExpectedVersion', wrongVersion(outcome.current, options))
    case 'stream-deleted': {
      const details = new shared.StreamDeleted().setStreamIdentifier(options.getStreamIdentifier())
      return failure(status.NOT_FOUND, 'StreamDeleted', details)
    }
    case 'expired':
    case 'unknown': return failure(status.DEADLINE_EXCEEDED, 'Timeout', new shared.Timeout())
    case 'unavailable': return failure(status.UNKNOWN, 'Unknown', new shared.Unknown())
    case 'disk-full': {
      const { code, message } = diskFull()
      return badRequest(code, message)
    }
  }
}

const badRequest = (code: status, message: string) =>
  failure(code, 'BadRequest', new shared.BadRequest().setMessage(message), message)

/** @param type the name of the message that `details` are */
function failure (code: status, type: string, details: { serializeBinary (): Uint8Array }, message = type): rpc.Status {
  const packed = new Any()
  packed.pack(details.serializeBinary(), `event_store.client.${type}`)
  return new rpc.Status().setCode(Number(code)).setMessage(message).setDetails(packed)
}

function wrongVersion (current: number, options: BatchOptions): shared.WrongExpectedVersion {
  const wrong = new shared.WrongExpectedVersion()
  if (current < 0) wrong.setCurrentNoStream(new Empty())
  else wrong.setCurrentStreamRevision(String(current))
  if (options.hasAny()) return wrong.setExpectedAny(new Empty())
  if (options.hasNoStream()) return wrong.setExpectedNoStream(new Empty())
  if (options.hasStreamExists()) return wrong.setExpectedStreamExists(new Empty())
  return wrong.setExpectedStreamPosition(options.getStreamPosition())
}
