// The replies of BatchAppend: the client picks its error from the details, and needs the stream with each of them.
import { status } from '@grpc/grpc-js'
import type { Outcome } from '../log/write.js'
import { maxAppendSize, type Refusal } from './errors.js'
import { Any, Empty, shared, status as rpc, streams } from './generated.js'

export type BatchOptions = streams.BatchAppendReq.Options

/** The reply to one finished append. */
export function batchReply (id: shared.UUID, options: BatchOptions, outcome: Outcome): streams.BatchAppendResp {
  switch (outcome.kind) {
    case 'written': return envelope(id, options).setSuccess(success(outcome.revision, outcome.position))
    case 'wrong-revision': return failure(id, options, status.ALREADY_EXISTS, 'WrongExpectedVersion', wrongVersion(outcome.current, options))
    case 'stream-deleted': return failure(id, options, status.NOT_FOUND, 'StreamDeleted', new shared.StreamDeleted().setStreamIdentifier(options.getStreamIdentifier()))
    case 'expired':
    case 'unknown': return failure(id, options, status.DEADLINE_EXCEEDED, 'Timeout', new shared.Timeout())
    case 'unavailable': return failure(id, options, status.UNKNOWN, 'Unknown', new shared.Unknown())
  }
}

/** The reply to an append that was refused before it was complete. */
export function batchRefusal (id: shared.UUID, options: BatchOptions, refusal: Refusal): streams.BatchAppendResp {
  switch (refusal.trailers.exception) {
    case 'maximum-append-size-exceeded': return failure(id, options, status.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize))
    case 'access-denied': return failure(id, options, status.PERMISSION_DENIED, 'AccessDenied', new shared.AccessDenied())
    default: return failure(id, options, status.INVALID_ARGUMENT, 'BadRequest', new shared.BadRequest().setMessage(refusal.message), refusal.message)
  }
}

function envelope (id: shared.UUID, options: BatchOptions): streams.BatchAppendResp {
  const response = new streams.BatchAppendResp().setCorrelationId(id)
  response.setStreamIdentifier(options.getStreamIdentifier() ?? new shared.StreamIdentifier())
  if (options.hasAny()) return response.setAny(new Empty())
  if (options.hasNoStream()) return response.setNoStream(new Empty())
  if (options.hasStreamExists()) return response.setStreamExists(new Empty())
  return response.setStreamPosition(options.getStreamPosition())
}

function success (revision: number, at: number | undefined): streams.BatchAppendResp.Success {
  const success = new streams.BatchAppendResp.Success()
  if (revision < 0) success.setNoStream(new Empty())
  else success.setCurrentRevision(String(revision))
  if (at === undefined) return success.setNoPosition(new Empty())
  return success.setPosition(new shared.AllStreamPosition().setCommitPosition(String(at)).setPreparePosition(String(at)))
}

function wrongVersion (current: number, options: BatchOptions): shared.WrongExpectedVersion {
  const wrong = new shared.WrongExpectedVersion()
  if (current < 0) wrong.setCurrentNoStream(new Empty())
  else wrong.setCurrentStreamRevision(String(current))
  if (options.hasAny()) return wrong.setExpectedAny(new Empty())
  if (options.hasStreamExists()) return wrong.setExpectedStreamExists(new Empty())
  if (options.hasNoStream()) return wrong.setExpectedNoStream(new Empty())
  return wrong.setExpectedStreamPosition(options.getStreamPosition())
}

function failure (id: shared.UUID, options: BatchOptions, code: status, type: string, details: { serializeBinary (): Uint8Array }, message = type): streams.BatchAppendResp {
  const any = new Any()
  any.pack(details.serializeBinary(), `event_store.client.${type}`)
  return envelope(id, options).setError(new rpc.Status().setCode(Number(code)).setMessage(message).setDetails(any))
}
