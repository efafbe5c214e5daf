// One call for many appends under way. The client's own way keeps the promises of all its calls in one place, where the
// end of one call drops the appends of others.
import { randomUUID } from 'node:crypto'
import { convertToCommandError, NotLeaderError } from '@eventstore/db-client'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import {
  AccessRefused, AppendOutcomeUnknown, AppendTooLarge, EventStoreUnavailable, NoAnswer, RevisionConflict, saysNotReady,
  StreamGone
} from './errors.js'

type BatchCall = ReturnType<StreamsClient['batchAppend']>

interface Waiting {
  resolve (appended: Appended): void
  reject (error: Error): void
  timer: NodeJS.Timeout
}

export class AppendCall {
  readonly #waiting = new Map<string, Waiting>()
  #isOver = false
  #isLast = false

  /** @param onOver is called once, when nothing more can be appended */
  constructor (
    private readonly call: BatchCall, private readonly onReply: () => void, private readonly onOver: () => void
  ) {
    call.on('data', (reply: streams.BatchAppendResp) => this.#settle(reply))
    call.on('error', (error: Error) => this.#end(error))
    call.on('end', () => this.#end(new Error('the event store ended the call')))
  }

  /**
   * Sends it at once, as one message.
   * @throws what the store refused it with, NoAnswer after `withinMs`, or what ended the call
   */
  async append (stream: string, events: readonly Proposed[], expected: bigint, withinMs: number): Promise<Appended> {
    const id = randomUUID()
    const request = appendRequest(id, stream, events, expected)
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#take(id)?.reject(new NoAnswer(withinMs)), withinMs)
      this.#waiting.set(id, { resolve, reject, timer })
      this.call.write(request)
    })
  }

  /** Ends the call as soon as no append waits for its answer; to half-close it would leave it open on a real server. */
  finish (): void {
    this.#isLast = true
    if (this.#waiting.size === 0) this.call.cancel()
  }

  #settle (reply: streams.BatchAppendResp): void {
    this.onReply()
    const waiting = this.#take(correlationIdOf(reply))
    if (!waiting) return // it was given up
    try {
      waiting.resolve(appendedOf(reply))
    } catch (error) {
      waiting.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #take (id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    clearTimeout(waiting?.timer)
    this.#waiting.delete(id)
    if (this.#isLast && this.#waiting.size === 0) this.call.cancel()
    return waiting
  }

  /** Of several appends, one met a member that does not lead; what became of the others before is not known. */
  #end (failure: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onOver()
    const error = convertToCommandError(failure)
    const isUnclear = error instanceof NotLeaderError && this.#waiting.size > 1
    const told = isUnclear ? new AppendOutcomeUnknown('another member leads', { cause: error }) : error
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(told)
  }
}

/** One append of all events, behind the event at revision `expected`, or to a new stream when that is negative. */
function appendRequest (
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
function correlationIdOf (reply: streams.BatchAppendResp): string {
  const id = reply.getCorrelationId()
  const halves = id?.getStructured()
  if (!id || !halves) return id?.getString() ?? ''
  const hex = [halves.getMostSignificantBits(), halves.getLeastSignificantBits()].map(hexOf).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const hexOf = (signed: string) => BigInt.asUintN(64, BigInt(signed)).toString(16).padStart(16, '0')

/** Where the append ended. @throws what the store refused it with */
function appendedOf (reply: streams.BatchAppendResp): Appended {
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

/** One event to append; `id` is a UUID that stays the same when the append is tried again. */
export interface Proposed {
  id: string
  type: string
  data: object
  metadata: Record<string, string>
  /** Whose persons the data names, where it does not say so itself. Not appended. */
  ofUser?: string | undefined
}

/** Where an append ended: the revision of its last event and that event's position in $all. */
export interface Appended {
  revision: bigint
  position: bigint
}
