// An event store for transfers: reads raw bytes of the log, appends in order, and answers a few questions.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  ANY, BACKWARDS, END, StreamDeletedError, StreamNotFoundError, type EventStoreDBClient
} from '@eventstore/db-client'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { appendRequest, correlationIdOf } from './batch-append.js'
import { TransferRefused, broken, failureOf, type Sent } from './failure.js'
import { isTombstone, type Recorded } from './recorded.js'

// Reads are finite: cancelling one would make the client drop its connection.
const pageSize = 10_000
const lastPosition = 2n ** 63n - 1n

/** `dispose` waits until streams end, which those of a dead server never do. */
const disposeWithinMs = 1_000

/** What a store knows of another store's event. `gone`: it has later events of the stream, or its tombstone. */
export type Knowledge = 'stream unknown' | 'gone' | 'same' | 'other'

/** Connects on the first call. Owns the client: `close` disposes of it. */
export class Store {
  // The client's method to open calls, with its discovery, TLS and credentials. It is protected, hence brackets.
  readonly #call: EventStoreDBClient['GRPCStreamCreator']

  constructor (private readonly client: EventStoreDBClient) {
    this.#call = client['GRPCStreamCreator']
  }

  /** Every event with after < position <= upTo, including the server's own, in log order. */
  async * read (after: bigint, upTo = lastPosition): AsyncGenerator<Recorded, void> {
    let position = after
    for (let size = pageSize; size >= pageSize && position < upTo;) {
      size = 0
      for await (const event of this.#page(position)) {
        size++
        if (event.position <= position) continue // a read starts with the event at its position
        position = event.position
        if (position <= upTo) yield event
      }
    }
  }

  /** Position of the newest event; 0 in an empty store. */
  async head (): Promise<bigint> {
    let newest = 0n
    const last = this.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
    for await (const { event, commitPosition } of last) newest = commitPosition ?? event?.position.commit ?? 0n
    return newest
  }

  /** Identifies the log by its first event; undefined while it is empty. */
  async origin (): Promise<string | undefined> {
    let origin: string | undefined
    for await (const { event } of this.client.readAll({ maxCount: 1 })) {
      origin = event && `${event.id} ${event.created.toISOString()}`
    }
    return origin
  }

  /** Whether this store has an event with this id at the same revision. */
  async knows (event: Recorded): Promise<Knowledge> {
    try {
      let knowledge: Knowledge = 'other'
      const fromRevision = isTombstone(event) ? 0n : event.revision
      for await (const { event: ours } of this.client.readStream(event.stream, { fromRevision, maxCount: 1 })) {
        if (ours && ours.revision > event.revision) knowledge = 'gone'
        else if (ours?.id === event.id) knowledge = 'same'
      }
      return knowledge
    } catch (error) {
      if (error instanceof StreamNotFoundError) return 'stream unknown'
      if (error instanceof StreamDeletedError) return isTombstone(event) ? 'same' : 'gone'
      throw error
    }
  }

  async openPipe (mostAppends: number): Promise<AppendPipe> {
    const open = this.#call(StreamsClient, 'appendToStream', (service) => service.batchAppend(...this.#forEver()))
    return new AppendPipe(await open(), mostAppends)
  }

  /** Tombstones a stream: nobody can append to it again. Idempotent. */
  async tombstone (stream: string): Promise<void> {
    if (stream.startsWith('$$')) {
      throw new TransferRefused(`${stream} of the source is tombstoned: with such metadata a node of EventStoreDB ends ` +
        'as soon as the stream that they describe is deleted')
    }
    try {
      await this.client.tombstoneStream(stream, { expectedRevision: ANY })
    } catch (error) {
      if (!(error instanceof StreamDeletedError)) throw error
    }
  }

  async close (): Promise<void> {
    await Promise.race([this.client.dispose(), delay(disposeWithinMs, undefined, { ref: false })])
  }

  async * #page (from: bigint): AsyncGenerator<Recorded, void> {
    const request = readRequest(from, pageSize)
    const open = this.#call(StreamsClient, 'readAll', (service) => service.read(request, ...this.#forEver()))
    const responses = await open()
    responses.on('error', () => {}) // the loop gets the first error; another may follow after it
    try {
      for await (const response of responses) {
        const event = response.getEvent()?.getEvent()
        if (event) yield toRecorded(event)
      }
    } finally {
      responses.cancel() // an open call would keep the process alive
    }
  }

  #forEver () {
    return this.client['callArguments']({}, { deadline: Infinity })
  }
}

type BatchCall = ReturnType<StreamsClient['batchAppend']>

const mostBytes = 8 * 1024 * 1024

/** Pipelines appends at exact revisions. Sends nothing more after the first failure. */
class AppendPipe {
  readonly #sent = new Map<string, Sent & { bytes: number }>()
  #bytes = 0
  #isFlowing = true
  #failure: Error | undefined
  #isClosing = false
  #wake = () => {}

  /** @param mostAppends most appends in flight */
  constructor (private readonly call: BatchCall, private readonly mostAppends: number) {
    call.on('data', (reply: streams.BatchAppendResp) => { this.#settle(reply) })
    call.on('drain', () => {
      this.#isFlowing = true
      this.#wake()
    })
    call.on('error', (cause: Error) => { this.#fail(broken(`the target is gone: ${cause.message}`, { cause })) })
    call.on('end', () => { if (!this.#isClosing) this.#fail(broken('the target ended the connection')) })
  }

  /**
   * Waits for room (back-pressure), then sends an append.
   * @param events of one stream, with consecutive revisions
   * @throws NotTaken, TransferRefused, or an Error when the target is gone; also for earlier appends
   */
  async append (events: readonly [Recorded, ...Recorded[]]): Promise<void> {
    const [{ stream, revision }] = events
    await this.#until(() => this.#isFlowing && this.#sent.size < this.mostAppends && this.#bytes < mostBytes)
    const id = randomUUID()
    const bytes = events.reduce((sum, event) => sum + sizeOf(event), 0)
    this.#sent.set(id, { stream, expected: revision - 1n, bytes })
    this.#bytes += bytes
    this.#isFlowing = this.call.write(appendRequest(id, stream, events, revision - 1n))
  }

  /** Returns when everything sent is durable. @throws as `append` does */
  async drain (): Promise<void> {
    await this.#until(() => this.#sent.size === 0)
  }

  /** Cancels the call: a half-close leaves it open on a real server. What was not drained may or may not be written. */
  close (): void {
    this.#isClosing = true
    this.call.cancel()
  }

  async #until (holds: () => boolean): Promise<void> {
    while (!this.#failure && !holds()) await new Promise<void>((resolve) => { this.#wake = resolve })
    if (this.#failure) throw this.#failure
  }

  #settle (reply: streams.BatchAppendResp): void {
    const id = correlationIdOf(reply)
    const sent = this.#sent.get(id)
    if (reply.hasError()) return this.#fail(failureOf(reply, sent, this.#isNext(id)))
    this.#sent.delete(id)
    this.#bytes -= sent?.bytes ?? 0
    this.#wake()
  }

  /** Whether it is the oldest unanswered append to its stream. */
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

/** An event's share of the append size, counted like servers do. */
export const sizeOf = ({ data, metadata, type }: Recorded) => data.length + metadata.length + 2 * type.length

const ticksPerMs = 10_000

/** A finite forward read of $all from `position` on. */
function readRequest (position: bigint, maxCount: number): streams.ReadReq {
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

function toRecorded (event: streams.ReadResp.ReadEvent.RecordedEvent): Recorded {
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
