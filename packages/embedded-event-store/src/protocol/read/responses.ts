// The responses of one read, sent as fast as its client takes them.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { RecordedEvent } from '../../log/event.js'
import type { EventLog } from '../../log/log.js'
import { streams } from '../generated.js'
import { resolveLinks } from './links.js'
import { asOneMessage, eventMessage } from './wire.js'

/** From here on a response waits until it is on its way: the call itself would keep some 16 of them. */
const large = 4 * 1024

export type ReadCall = ServerWritableStream<streams.ReadReq, Buffer>

export class Responses {
  readonly #log: EventLog
  readonly #call: ReadCall
  readonly #gone: AbortSignal
  readonly #resolvesLinks: boolean

  /** @param gone aborted when the call has ended */
  constructor (log: EventLog, call: ReadCall, gone: AbortSignal) {
    this.#log = log
    this.#call = call
    this.#gone = gone
    this.#resolvesLinks = call.request.getOptions()?.getResolveLinks() ?? false
  }

  get areOver (): boolean {
    return this.#gone.aborted
  }

  async events (events: readonly RecordedEvent[]): Promise<void> {
    if (this.#resolvesLinks && events.some((event) => event.type === '$>')) {
      for (const response of await resolveLinks(this.#log, events)) await this.#write(response)
      return
    }
    if (events.length > 0) await this.#write(asOneMessage(events.map(eventMessage)))
  }

  async confirmation (): Promise<void> {
    const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID())
    await this.#send(new streams.ReadResp().setConfirmation(confirmation))
  }

  async checkpoint (position: number): Promise<void> {
    const at = String(position)
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
    if (this.areOver) return
    if (response.length >= large) await this.#taken(response)
    else if (!this.#call.write(response)) await this.#drained()
  }

  /** Of many events at once none wait behind those that are on their way. */
  async #taken (response: Buffer): Promise<void> {
    await new Promise<void>((resolve) => {
      const proceed = () => {
        this.#gone.removeEventListener('abort', proceed)
        resolve()
      }
      this.#gone.addEventListener('abort', proceed, { once: true })
      this.#call.write(response, proceed)
    })
  }

  /** A consumer that has stopped reading stops us here, however long it takes. */
  async #drained (): Promise<void> {
    if (this.#gone.aborted) return
    await once(this.#call, 'drain', { signal: this.#gone }).catch(() => {}) // the call is gone, and the caller looks
  }
}
