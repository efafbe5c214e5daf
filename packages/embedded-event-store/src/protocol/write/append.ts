// Append, one call per append: options, then events, then one reply.
import { status, type sendUnaryData, type ServerReadableStream } from '@grpc/grpc-js'
import type { ProposedEvent } from '../../log/event.js'
import type { EventLog } from '../../log/log.js'
import type { Outcome } from '../../log/write/request.js'
import { diskFull, invalid, Refusal, streamDeleted, timedOut, toServiceError, unavailable } from '../errors.js'
import { shared, streams } from '../generated.js'
import { checkSize, expectedRevision, proposedEvent, proposedMessage, sizeOf, writableStreamName } from '../requests.js'

export type AppendCall = ServerReadableStream<streams.AppendReq, streams.AppendResp>

/** Handles one unary append. A revision that does not hold is a reply, every other refusal a status. */
export function handleAppend (log: EventLog, call: AppendCall, reply: sendUnaryData<streams.AppendResp>): void {
  append(log, call).then((response) => { reply(null, response) }, (error: unknown) => { reply(toServiceError(error)) })
}

interface Received { options: streams.AppendReq.Options | undefined, events: ProposedEvent[] }

async function append (log: EventLog, call: AppendCall): Promise<streams.AppendResp> {
  const { options, events } = await receive(call)
  if (options === undefined) throw invalid('The first message of an append carries its options')
  const stream = writableStreamName(options.getStreamIdentifier())
  const expected = expectedRevision(options, options.getRevision())
  await log.room()
  const outcome = await log.write({ action: 'append', stream, expected, events, expiresAt: Number(call.getDeadline()) })
  return responseTo(outcome, stream, options)
}

async function receive (call: AppendCall): Promise<Received> {
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
    case 'stream-deleted': throw streamDeleted(stream)
    case 'unavailable': throw unavailable()
    case 'disk-full': throw diskFull()
    case 'unknown': throw timedOut()
    case 'expired': throw new Refusal(status.DEADLINE_EXCEEDED, 'The deadline passed before the append was begun')
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

/** With the fields that clients before 20.6.1 read as well, as EventStoreDB sends them. */
function wrongVersion (
  current: number, options: streams.AppendReq.Options
): streams.AppendResp.WrongExpectedVersion {
  const wrong = new streams.AppendResp.WrongExpectedVersion()
  const revision = options.getRevision()
  if (current < 0) wrong.setCurrentNoStream(empty()).setNoStream2060(empty())
  else wrong.setCurrentRevision(String(current)).setCurrentRevision2060(current)
  if (options.hasAny()) return wrong.setExpectedAny(empty()).setAny2060(empty())
  if (options.hasStreamExists()) return wrong.setExpectedStreamExists(empty()).setStreamExists2060(empty())
  if (options.hasNoStream()) return wrong.setExpectedNoStream(empty())
  return wrong.setExpectedRevision(revision).setExpectedRevision2060(Number(revision))
}
