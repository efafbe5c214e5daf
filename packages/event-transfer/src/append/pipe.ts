// Many appends under way on one call, which the server takes in the order in which they were sent.
import { randomUUID } from 'node:crypto'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { broken, failureOf, type Sent } from './failure.js'
import type { Recorded } from '../recorded.js'
import { appendRequest } from '../wire.js'

export type BatchCall = ReturnType<StreamsClient['batchAppend']>

const mostBytes = 8 * 1024 * 1024

/** Appends of whole batches at exact revisions. After the first failure nothing more is sent. */
export class AppendPipe {
  readonly #call: BatchCall
  readonly #mostAppends: number
  readonly #sent = new Map<string, Sent & { bytes: number }>()
  #bytes = 0
  #isFlowing = true
  #failure: Error | undefined
  #isClosing = false
  #wake = () => {}

  /** @param mostAppends under way at once */
  constructor (call: BatchCall, mostAppends: number) {
    this.#call = call
    this.#mostAppends = mostAppends
    call.on('data', (reply: streams.BatchAppendResp) => { this.#settle(reply) })
    call.on('drain', () => {
      this.#isFlowing = true
      this.#wake()
    })
    call.on('error', (cause: Error) => { this.#fail(broken(`the target is gone: ${cause.message}`, { cause })) })
    call.on('end', () => { if (!this.#isClosing) this.#fail(broken('the target ended the connection')) })
  }

  /**
   * Waits for room, then sends an append.
   * @param events of one stream, with revisions that follow on each other
   * @throws NotTaken, TransferRefused, or an Error when the target is gone; also for appends sent before
   */
  async append (events: readonly [Recorded, ...Recorded[]]): Promise<void> {
    const [{ stream, revision }] = events
    await this.#until(() => this.#isFlowing && this.#sent.size < this.#mostAppends && this.#bytes < mostBytes)
    const id = randomUUID()
    const bytes = events.reduce((sum, event) => sum + sizeOf(event), 0)
    this.#sent.set(id, { stream, expected: revision - 1n, bytes })
    this.#bytes += bytes
    this.#isFlowing = this.#call.write(appendRequest(id, stream, events, revision - 1n))
  }

  /** Returns when everything sent is durable. @throws as `append` does */
  async drain (): Promise<void> {
    await this.#until(() => this.#sent.size === 0)
  }

  /** Ends the call; what was not drained may be written or not. */
  close (): void {
    this.#isClosing = true
    this.#call.end()
  }

  async #until (holds: () => boolean): Promise<void> {
    while (!this.#failure && !holds()) await new Promise<void>((resolve) => { this.#wake = resolve })
    if (this.#failure) throw this.#failure
  }

  #settle (reply: streams.BatchAppendResp): void {
    const id = reply.getCorrelationId()?.getString() ?? ''
    const sent = this.#sent.get(id)
    if (reply.hasError()) return this.#fail(failureOf(reply, sent, this.#isNext(id)))
    this.#sent.delete(id)
    this.#bytes -= sent?.bytes ?? 0
    this.#wake()
  }

  /** Whether this is the oldest unanswered append to its stream. */
  #isNext (id: string): boolean {
    const stream = this.#sent.get(id)?.stream
    for (const [one, sent] of this.#sent) if (sent.stream === stream) return one === id
    return true
  }

  #fail (error: Error): void {
    this.#failure ??= error
    this.#wake()
  }
}

/** What an event adds to the size of its append, as servers count it. */
export const sizeOf = ({ data, metadata, type }: Recorded) => data.length + metadata.length + 2 * type.length
