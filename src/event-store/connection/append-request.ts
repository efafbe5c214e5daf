// Appends as messages of BatchAppend, and what its replies say.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import {
  AccessRefused, AppendOutcomeUnknown, AppendTooLarge, EventStoreUnavailable, RevisionConflict, saysNotReady, StreamGone
} from '../errors.js'
import type { Appended, Proposed } from './proposed.js'

/** One append of all events, behind the event at revision `expected`, or to a new stream when that is negative. */
export function appendRequest (
  correlationId: string, stream: string, events: readonly Proposed[], expected: bigint
): streams.BatchAppendReq {
  const options = new streams.BatchAppendReq.Options()
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
  if (expected < 0n) options.setNoStream(new shared.Empty())
  else options.setStreamPosition(String(expected))
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setOptions(options)
    .setProposedMessagesList(events.map(toMessage))
    .setIsFinal(true)
}

function toMessage ({ id, type, data, metadata }: Proposed): streams.BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(Buffer.from(JSON.stringify(data)))
    .setCustomMetadata(Buffer.from(JSON.stringify(metadata)))
  message.getMetadataMap().set('type', type).set('content-type', 'application/json')
  return message
}

/** The id of the append that was answered: a server may send it as two numbers of 64 bits. */
export function correlationIdOf (reply: streams.BatchAppendResp): string {
  const id = reply.getCorrelationId()
  const halves = id?.getStructured()
  if (!id || !halves) return id?.getString() ?? ''
  const hex = [halves.getMostSignificantBits(), halves.getLeastSignificantBits()].map(hexOf).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const hexOf = (signed: string) => BigInt.asUintN(64, BigInt(signed)).toString(16).padStart(16, '0')

/** Where the append ended. @throws what the store refused it with */
export function appendedOf (reply: streams.BatchAppendResp): Appended {
  const success = reply.getSuccess()
  if (!success) throw refusalOf(reply)
  const position = success.getPosition()
  if (!position) throw new AppendOutcomeUnknown(noPosition)
  return { revision: BigInt(success.getCurrentRevision()), position: BigInt(position.getCommitPosition()) }
}

const noPosition = 'the event store answered an append without a position: version 22.6 or newer is needed'

function refusalOf (reply: streams.BatchAppendResp): Error {
  const error = reply.getError()
  const kind = error?.getDetails()?.getTypeName().split('.').at(-1)
  const words = error?.getMessage() || kind || 'no reason given'
  switch (kind) {
    case 'WrongExpectedVersion': return new RevisionConflict('the stream has moved on')
    case 'StreamDeleted': return new StreamGone('the stream was deleted for good')
    case 'MaximumAppendSizeExceeded': return new AppendTooLarge('the events are too large for one append')
    case 'AccessDenied': return new AccessRefused('the event store refuses to write to this stream')
    default: return saysNotReady(words)
      ? new EventStoreUnavailable(`the event store takes no append: ${words}`)
      : new AppendOutcomeUnknown(`the event store did not say whether it wrote the events: ${words}`)
  }
}
