// Events to and from the client's messages, byte for byte: its own event types would parse the JSON and write it anew.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { Recorded } from './recorded.js'

const ticksPerMs = 10_000

/** A finite read of $all, forward, from `position` on. */
export function readRequest (position: bigint, maxCount: number): streams.ReadReq {
  const all = new streams.ReadReq.Options.AllOptions()
  const place = String(position)
  if (position === 0n) all.setStart(new shared.Empty())
  else all.setPosition(new streams.ReadReq.Options.Position().setCommitPosition(place).setPreparePosition(place))
  return new streams.ReadReq().setOptions(new streams.ReadReq.Options()
    .setAll(all)
    .setReadDirection(streams.ReadReq.Options.ReadDirection.FORWARDS)
    .setCount(String(maxCount))
    .setNoFilter(new shared.Empty())
    .setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty())))
}

export function toRecorded (event: streams.ReadResp.ReadEvent.RecordedEvent): Recorded {
  const properties = event.getMetadataMap()
  return {
    stream: Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
    revision: BigInt(event.getStreamRevision()),
    id: event.getId()?.getString() ?? '',
    type: properties.get('type') ?? '',
    contentType: properties.get('content-type') ?? '',
    data: event.getData_asU8(),
    metadata: event.getCustomMetadata_asU8(),
    created: Math.floor(Number(properties.get('created') ?? 0) / ticksPerMs),
    position: BigInt(event.getCommitPosition())
  }
}

/** One append of consecutive events of one stream, expected right behind the event before them. */
export function appendRequest (
  correlationId: string, stream: string, events: readonly Recorded[], expected: bigint
): streams.BatchAppendReq {
  const options = new streams.BatchAppendReq.Options()
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
  if (expected < 0n) options.setNoStream(new shared.Empty())
  else options.setStreamPosition(String(expected))
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setOptions(options)
    .setProposedMessagesList(events.map(toProposed))
    .setIsFinal(true)
}

function toProposed ({ id, type, contentType, data, metadata }: Recorded): streams.BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(data)
    .setCustomMetadata(metadata)
  message.getMetadataMap().set('type', type).set('content-type', contentType)
  return message
}
