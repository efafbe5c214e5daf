// Append, Delete and Tombstone as single calls. An append sends options, then events, and gets one reply.
import { status, type ServerReadableStream, type ServerUnaryCall } from '@grpc/grpc-js'
import { describedBy, type ProposedEvent } from '../log/event.js'
import type { EventLog } from '../log/log.js'
import type { Outcome } from '../log/plan.js'
import {
  diskFull, invalid, Refusal, streamDeleted, unavailable, wrongExpectedVersion
} from './errors.js'
import { shared, streams } from './generated.js'
import { checkSize, expectedRevision, proposedEvent, proposedMessage, sizeOf, writableName } from './requests.js'

export type AppendCall = ServerReadableStream<streams.AppendReq, streams.AppendResp>

/** A wrong expected revision is a reply; every other refusal is a gRPC status. */
export async function append (log: EventLog, call: AppendCall): Promise<streams.AppendResp> {
  const { options, events } = await receive(call)
  if (options === undefined) throw invalid('The first message of an append carries its options')
  const stream = writableName(options.getStreamIdentifier()?.getStreamName_asU8())
  const expected = expectedRevision(options, options.getRevision())
  await log.writer.queue.room()
  const expiresAt = Number(call.getDeadline())
  const outcome = await log.writer.write({ action: 'append', stream, expected, events, expiresAt })
  return responseTo(outcome, stream, options)
}

async function receive (call: AppendCall) {
  const events: ProposedEvent[] = []
  let options: streams.AppendReq.Options | undefined
  let size = 0
  for await (const message of call as AsyncIterable<streams.AppendReq>) {
    options ??= message.getOptions()
    const proposed = message.getProposedMessage()
    if (proposed === undefined) continue
    const event = proposedEvent(proposedMessage(proposed))
    checkSize(size += sizeOf(event))
    events.push(event)
  }
  return { options, events }
}

function responseTo (outcome: Outcome, stream: string, options: streams.AppendReq.Options): streams.AppendResp {
  const response = new streams.AppendResp()
  switch (outcome.kind) {
    case 'written': return response.setSuccess(success(outcome.revision, outcome.position))
    case 'wrong-revision': return response.setWrongExpectedVersion(wrongVersion(outcome.current, options))
    default: throw refusalOf(outcome.kind, stream, 'append')
  }
}

const empty = () => new shared.Empty()

function success (revision: number, at: number | undefined): streams.AppendResp.Success {
  const success = new streams.AppendResp.Success()
  if (revision < 0) success.setNoStream(empty())
  else success.setCurrentRevision(String(revision))
  if (at === undefined) return success.setNoPosition(empty())
  const position = new streams.AppendResp.Position().setCommitPosition(String(at)).setPreparePosition(String(at))
  return success.setPosition(position)
}

function wrongVersion (
  current: number, options: streams.AppendReq.Options
): streams.AppendResp.WrongExpectedVersion {
  const wrong = new streams.AppendResp.WrongExpectedVersion()
  if (current < 0) wrong.setCurrentNoStream(empty())
  else wrong.setCurrentRevision(String(current))
  if (options.hasAny()) return wrong.setExpectedAny(empty())
  if (options.hasStreamExists()) return wrong.setExpectedStreamExists(empty())
  if (options.hasNoStream()) return wrong.setExpectedNoStream(empty())
  return wrong.setExpectedRevision(options.getRevision())
}

export type RemoveCall = ServerUnaryCall<streams.DeleteReq | streams.TombstoneReq, streams.DeleteResp>

/** The answers of Delete and Tombstone have the same bytes. */
export async function remove (
  log: EventLog, action: 'delete' | 'tombstone', call: RemoveCall
): Promise<streams.DeleteResp> {
  const options = call.request.getOptions()
  if (options === undefined) throw invalid('A delete carries its options')
  const stream = writableName(options.getStreamIdentifier()?.getStreamName_asU8())
  // EventStoreDB accepts this, and crashes at every start once the described stream is deleted.
  if (action === 'tombstone' && describedBy(stream) !== undefined) {
    throw invalid('A stream of metadata, whose name begins with $$, cannot be tombstoned')
  }
  const exact = options.getRevision()
  const expected = expectedRevision(options, exact)
  await log.writer.queue.room()
  const expiresAt = Number(call.getDeadline())
  const outcome = await log.writer.write({ action, stream, expected, events: [], expiresAt })
  switch (outcome.kind) {
    case 'written': {
      const at = String(outcome.position)
      const position = new streams.DeleteResp.Position().setCommitPosition(at).setPreparePosition(at)
      return new streams.DeleteResp().setPosition(position)
    }
    case 'wrong-revision':
      throw wrongExpectedVersion(stream, expected < 0 ? String(expected) : exact, outcome.current)
    default: throw refusalOf(outcome.kind, stream, 'delete')
  }
}

function refusalOf (
  kind: Exclude<Outcome['kind'], 'written' | 'wrong-revision'>, stream: string, what: 'append' | 'delete'
): Refusal {
  switch (kind) {
    case 'stream-deleted': return streamDeleted(stream)
    case 'unavailable': return unavailable()
    case 'disk-full': return diskFull()
    case 'unknown': return new Refusal(status.ABORTED, 'The outcome of the write is not known')
    case 'expired': return new Refusal(status.DEADLINE_EXCEEDED, `The deadline passed before the ${what} was begun`)
  }
}
