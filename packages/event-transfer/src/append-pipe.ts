// Many appends under way on one call, which the server takes in the order in which they were sent.
import { randomUUID } from 'node:crypto'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { describedBy, type Recorded } from './recorded.js'
import { OtherRevision, TransferRefused } from './refused.js'
import { appendRequest } from './wire.js'

export type BatchCall = ReturnType<StreamsClient['batchAppend']>

interface Sent { stream: string, expected: bigint, bytes: number }

const mostBytes = 8 * 1024 * 1024

/** Appends of whole batches at exact revisions. After the first failure nothing more is sent. */
export class AppendPipe {
  readonly #call: BatchCall
  readonly #mostAppends: number
  readonly #sent = new Map<string, Sent>()
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
    call.on('error', (error: Error) => { this.#fail(new Error(`the target is gone: ${error.message}; the same command goes on where the target stands`, { cause: error })) })
    call.on('end', () => { if (!this.#isClosing) this.#fail(new Error('the target ended the connection; the same command goes on where the target stands')) })
  }

  /**
   * Waits for room, then sends an append.
   * @param events of one stream, with revisions that follow on each other
   * @throws OtherRevision, TransferRefused, or an Error when the target is gone; also for appends sent before
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
    if (reply.hasError()) return this.#fail(refusalOf(reply, sent))
    this.#sent.delete(id)
    this.#bytes -= sent?.bytes ?? 0
    this.#wake()
  }

  #fail (error: Error): void {
    this.#failure ??= error
    this.#wake()
  }
}

/** What an event adds to the size of its append, as servers count it. */
export const sizeOf = ({ data, metadata, type }: Recorded) => data.length + metadata.length + 2 * type.length

function refusalOf (reply: streams.BatchAppendResp, sent: Sent | undefined): Error {
  const details = reply.getError()?.getDetails()
  const kind = details?.getTypeName().split('.').at(-1)
  const stream = sent?.stream ?? 'unknown'
  switch (kind) {
    case 'WrongExpectedVersion': {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(details?.getValue_asU8() ?? new Uint8Array())
      const current = wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : -1n
      return otherRevision(stream, current, sent?.expected ?? 0n)
    }
    case 'StreamDeleted': return new OtherRevision(`stream ${stream} is deleted for ever in the target, and has further events here: choose an empty target`)
    case 'MaximumAppendSizeExceeded': return new TransferRefused(`an event of stream ${stream} is larger than the target takes: raise its MaxAppendSize`)
    case 'AccessDenied': return new TransferRefused(`the target does not let these credentials write to stream ${stream}`)
    default: return new Error(`the target did not write to stream ${stream}: ${reply.getError()?.getMessage() || kind}; the same command goes on where the target stands`)
  }
}

function otherRevision (stream: string, current: bigint, expected: bigint): OtherRevision {
  if (current >= expected) return new OtherRevision(`stream ${stream} of the target holds other events after revision ${expected}: choose a target without them`)
  const what = describedBy(stream) === undefined ? 'its earlier events' : 'earlier metadata'
  return new OtherRevision(`stream ${stream} has no revision ${expected}: ${what} were scavenged away, and no store lets one begin in the middle. Use the backup and restore of EventStoreDB itself`)
}
