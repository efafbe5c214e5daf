// The responses of one read, sent as fast as its client takes them.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'
import { nowhere } from '../../feed/step.js'
import type { RecordedEvent } from '../../log/event.js'
import type { EventLog } from '../../log/log.js'
import { streams } from '../generated.js'
import { resolveLinks } from './links.js'
import { readResponse } from './wire.js'

export type ReadCall = ServerWritableStream<streams.ReadReq, Buffer>

export class Responses {
  readonly #log: EventLog
  readonly #call: ReadCall
  readonly #gone: AbortSignal
  readonly #resolvesLinks: boolean
  #isStopped = false

  /** @param gone aborted when the call has ended */
  constructor (log: EventLog, call: ReadCall, gone: AbortSignal) {
    this.#log = log
    this.#call = call
    this.#gone = gone
    this.#resolvesLinks = call.request.getOptions()?.getResolveLinks() ?? false
  }

  get areOver (): boolean {
    return this.#gone.aborted || this.#isStopped
  }

  /** Sends no more, so that the call can end with an error while its consumer stands still. */
  stop (): void {
    this.#isStopped = true
  }

  async events (events: readonly RecordedEvent[]): Promise<void> {
    if (this.#resolvesLinks && events.some((event) => event.type === '$>')) {
      for (const response of await resolveLinks(this.#log, events)) await this.#write(response)
      return
    }
    for (const event of events) {
      if (!this.#call.write(readResponse(event))) await this.#drained()
      if (this.areOver) return
    }
  }

  async confirmation (): Promise<void> {
    const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID())
    await this.#send(new streams.ReadResp().setConfirmation(confirmation))
  }

  async checkpoint (position: number): Promise<void> {
    const at = position === nowhere ? '18446744073709551615' : String(position)
    const checkpoint = new streams.ReadResp.Checkpoint().setCommitPosition(at).setPreparePosition(at)
    await this.#send(new streams.ReadResp().setCheckpoint(checkpoint))
  }

  async caughtUp (): Promise<void> {
    await this.#send(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()))
  }

  async streamNotFound (options: streams.ReadReq.Options.StreamOptions): Promise<void> {
    const missing = new streams.ReadResp.StreamNotFound().setStreamIdentifier(options.getStreamIdentifier())
    await this.#send(new streams.ReadResp().setStreamNotFound(missing))
  }

  /** Where the stream begins, for a reader who looked elsewhere. */
  async firstStreamPosition (revision: number): Promise<void> {
    await this.#send(new streams.ReadResp().setFirstStreamPosition(String(revision)))
  }

  async lastStreamPosition (revision: number): Promise<void> {
    await this.#send(new streams.ReadResp().setLastStreamPosition(String(revision)))
  }

  async #send (response: streams.ReadResp): Promise<void> {
    await this.#write(Buffer.from(response.serializeBinary()))
  }

  async #write (response: Buffer): Promise<void> {
    if (!this.areOver && !this.#call.write(response)) await this.#drained()
  }

  /** A consumer that has stopped reading stops us here, however long it takes. */
  async #drained (): Promise<void> {
    if (this.#gone.aborted) return
    await once(this.#call, 'drain', { signal: this.#gone }).catch(() => {}) // the call is gone, and the caller looks
  }
}
