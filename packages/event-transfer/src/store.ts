// An event store as a transfer needs it: its log as bytes, appends in order, and a few questions.
import { setTimeout as delay } from 'node:timers/promises'
import {
  ANY, BACKWARDS, END, StreamDeletedError, StreamNotFoundError, type EventStoreDBClient
} from '@eventstore/db-client'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { AppendPipe } from './append/pipe.js'
import { isTombstone, type Recorded } from './recorded.js'
import { TransferRefused } from './refused.js'
import { readRequest, toRecorded } from './wire.js'

// Reads end by themselves after so many events: to cancel one would make the client drop its connection.
const pageSize = 10_000
const lastPosition = 2n ** 63n - 1n

/** The client waits for streams of a dead server to end, which may be never. */
const disposeWithinMs = 1_000

/** What a store knows of an event that another one has; `gone`: it has later ones of the stream, or its tombstone. */
export type Knowledge = 'stream unknown' | 'gone' | 'same' | 'other'

const endsNodes = 'with such metadata a node of EventStoreDB ends as soon as the stream that they describe is deleted'

export interface Store {
  /** Every event with after < position <= upTo, the server's own too, in log order. */
  read (after: bigint, upTo?: bigint): AsyncGenerator<Recorded, void>
  /** The position of the newest event, 0 in an empty store. */
  head (): Promise<bigint>
  /** What only this log begins with; nothing while it is empty. */
  origin (): Promise<string | undefined>
  /** Whether this store has an event with this id at the same place. */
  knows (event: Recorded): Promise<Knowledge>
  openPipe (mostAppends: number): Promise<AppendPipe>
  /** Ends a stream: nothing can be appended to it again. Idempotent. */
  tombstone (stream: string): Promise<void>
  close (): Promise<void>
}

/** Connects at the first call. The client is the store's own from now on: `close` ends it. */
export function openStore (client: EventStoreDBClient): Store {
  return new ConnectedStore(client)
}

class ConnectedStore implements Store {
  readonly #client: EventStoreDBClient
  // The client's own door to its connection, with its discovery, TLS and credentials, is protected: hence the brackets.
  readonly #call: EventStoreDBClient['GRPCStreamCreator']

  constructor (client: EventStoreDBClient) {
    this.#client = client
    this.#call = client['GRPCStreamCreator']
  }

  async * read (after: bigint, upTo = lastPosition): AsyncGenerator<Recorded, void> {
    let position = after
    for (let size = pageSize; size >= pageSize && position < upTo;) {
      size = 0
      for await (const event of this.#page(position)) {
        size++
        if (event.position <= position) continue // a read begins with the event at its position
        position = event.position
        if (position <= upTo) yield event
      }
    }
  }

  async head (): Promise<bigint> {
    let newest = 0n
    const last = this.#client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
    for await (const { event, commitPosition } of last) newest = commitPosition ?? event?.position.commit ?? 0n
    return newest
  }

  async origin (): Promise<string | undefined> {
    let origin: string | undefined
    for await (const { event } of this.#client.readAll({ maxCount: 1 })) {
      origin = event && `${event.id} ${event.created.toISOString()}`
    }
    return origin
  }

  async knows (event: Recorded): Promise<Knowledge> {
    try {
      let knowledge: Knowledge = 'other'
      const fromRevision = isTombstone(event) ? 0n : event.revision
      for await (const { event: ours } of this.#client.readStream(event.stream, { fromRevision, maxCount: 1 })) {
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

  async tombstone (stream: string): Promise<void> {
    if (stream.startsWith('$$')) throw new TransferRefused(`${stream} of the source is tombstoned: ${endsNodes}`)
    try {
      await this.#client.tombstoneStream(stream, { expectedRevision: ANY })
    } catch (error) {
      if (!(error instanceof StreamDeletedError)) throw error
    }
  }

  async close (): Promise<void> {
    await Promise.race([this.#client.dispose(), delay(disposeWithinMs, undefined, { ref: false })])
  }

  async * #page (from: bigint): AsyncGenerator<Recorded, void> {
    const request = readRequest(from, pageSize)
    const open = this.#call(StreamsClient, 'readAll', (service) => service.read(request, ...this.#forEver()))
    const responses = await open()
    responses.on('error', () => {}) // one more may come after the loop has been told, or was left
    try {
      for await (const response of responses) {
        const event = response.getEvent()?.getEvent()
        if (event) yield toRecorded(event)
      }
    } finally {
      responses.cancel() // left open, it would keep the process
    }
  }

  #forEver () {
    return this.#client['callArguments']({}, { deadline: Infinity })
  }
}
