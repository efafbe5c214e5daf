// Many appends under way on one call. The client's own way keeps the promises of all its calls in one place, where the
// end of one call drops the appends of others.
import { randomUUID } from 'node:crypto'
import { convertToCommandError, NotLeaderError } from '@eventstore/db-client'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { AppendOutcomeUnknown, NoAnswer } from '../errors.js'
import { appendedOf, appendRequest, correlationIdOf } from './append-request.js'
import type { Appended, Proposed } from './proposed.js'

export type BatchCall = ReturnType<StreamsClient['batchAppend']>

interface Waiting {
  resolve (appended: Appended): void
  reject (error: Error): void
  timer: NodeJS.Timeout
}

interface Notices {
  /** A reply has come. */
  onReply (): void
  /** Called once, when nothing more can be appended. */
  onOver (): void
}

export class AppendCall {
  readonly #waiting = new Map<string, Waiting>()
  #isOver = false
  #isLast = false

  constructor (private readonly call: BatchCall, private readonly notices: Notices) {
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
    this.notices.onReply()
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
    this.notices.onOver()
    const error = convertToCommandError(failure)
    const isUnclear = error instanceof NotLeaderError && this.#waiting.size > 1
    const told = isUnclear ? new AppendOutcomeUnknown('another member leads', { cause: error }) : error
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(told)
  }
}
