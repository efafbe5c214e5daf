// An append of a batch call that has no reply yet, chunk by chunk.
import type { ProposedEvent } from '../../log/event.js'
import { any, type ExpectedRevision, noStream, streamExists } from '../../log/write/decide.js'
import { shared, type streams } from '../generated.js'
import { checkSize, proposedEvent, proposedMessage, sizeOf, toNumber, writableName } from '../requests.js'

export interface BatchOptions {
  /** The StreamIdentifier as bytes, for the replies. */
  identifier: Uint8Array
  name: Uint8Array
  expected: ExpectedRevision
  /** The expected revision as it came, when it is an exact one. */
  exact: string
  /** Unix ms. */
  deadline: number
}

export interface OpenAppend {
  /** The correlation id as text. */
  key: string
  /** The correlation id as bytes, for the reply. */
  id: Uint8Array
  options: BatchOptions
  stream: string
  events: ProposedEvent[]
  size: number
  isComplete: boolean
  /** Unix ms. */
  deadline: number
}

/** How long the chunks of one append may take, in ms, whatever its deadline says (as the real server has it). */
const chunkPatience = 2_000

/** Begins with the first chunk, which carries options. */
export function openAppend (key: string, id: Uint8Array, asked: streams.BatchAppendReq.Options): OpenAppend {
  const options = optionsOf(asked)
  const deadline = Math.min(options.deadline, Date.now() + chunkPatience)
  return { key, id, options, stream: '', events: [], size: 0, isComplete: false, deadline }
}

function optionsOf (asked: streams.BatchAppendReq.Options): BatchOptions {
  const identifier = asked.getStreamIdentifier() ?? new shared.StreamIdentifier()
  const exact = asked.getStreamPosition()
  return {
    identifier: identifier.serializeBinary(),
    name: identifier.getStreamName_asU8(),
    expected: expectedBy(asked),
    exact,
    deadline: asked.getDeadline()?.toDate().getTime() ?? Infinity
  }
}

/** @throws Refusal when its stream or an event of the chunk is not valid, or the append becomes too large */
export function addChunk (append: OpenAppend, messages: streams.BatchAppendReq.ProposedMessage[]): void {
  if (append.stream === '') append.stream = writableName(append.options.name)
  for (const message of messages) {
    const event = proposedEvent(proposedMessage(message))
    checkSize(append.size += sizeOf(event))
    append.events.push(event)
  }
}

/** Without one, the stream is expected to hold one event. */
function expectedBy (asked: streams.BatchAppendReq.Options): ExpectedRevision {
  if (asked.hasAny()) return any
  if (asked.hasNoStream()) return noStream
  if (asked.hasStreamExists()) return streamExists
  return toNumber(asked.getStreamPosition())
}
