// Messages of BatchAppend, in the client's generated classes.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'

export interface Message {
  /** A UUID. */
  id: string
  type: string
  contentType: string
  data: Uint8Array
  metadata: Uint8Array
}

/** Appends all messages at once after revision `expected`, or to a new stream when that is negative. */
export function appendRequest (
  correlationId: string, stream: string, messages: readonly Message[], expected: bigint
): streams.BatchAppendReq {
  const options = new streams.BatchAppendReq.Options()
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
  if (expected < 0n) options.setNoStream(new shared.Empty())
  else options.setStreamPosition(String(expected))
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setOptions(options)
    .setProposedMessagesList(messages.map(toProposed))
    .setIsFinal(true)
}

function toProposed ({ id, type, contentType, data, metadata }: Message): streams.BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(data)
    .setCustomMetadata(metadata)
  message.getMetadataMap().set('type', type).set('content-type', contentType)
  return message
}

/** A server may send the id as two 64-bit numbers. */
export function correlationIdOf (reply: streams.BatchAppendResp): string {
  const id = reply.getCorrelationId()
  const halves = id?.getStructured()
  if (!id || !halves) return id?.getString() ?? ''
  const hex = [halves.getMostSignificantBits(), halves.getLeastSignificantBits()].map(hexOf).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const hexOf = (signed: string) => BigInt.asUintN(64, BigInt(signed)).toString(16).padStart(16, '0')
