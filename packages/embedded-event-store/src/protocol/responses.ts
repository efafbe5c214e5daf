// Sends the responses of one read as fast as its client takes them.
import { once } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { RecordedEvent, StreamPlace } from '../log/event.js'
import type { EventLog } from '../log/log.js'
import { firstVisible, isFresh } from '../log/stream-state.js'
import type { streams } from './generated.js'
import { asOneMessage, bytesOf, eventMessage, linkResponse } from './recorded.js'

/** Larger responses (bytes) wait until they are sent: gRPC itself would buffer some 16 of them. */
const large = 4 * 1024

export type ReadCall = ServerWritableStream<streams.ReadReq, Buffer>

export class Responses {
  readonly #resolvesLinks: boolean

  /** @param gone aborted when the call has ended */
  constructor (private readonly log: EventLog, private readonly call: ReadCall, private readonly gone: AbortSignal) {
    this.#resolvesLinks = call.request.getOptions()?.getResolveLinks() ?? false
  }

  get areOver (): boolean {
    return this.gone.aborted
  }

  async events (events: readonly RecordedEvent[]): Promise<void> {
    if (this.#resolvesLinks && events.some((event) => event.type === '$>')) {
      for (const response of await resolveLinks(this.log, events)) await this.#write(response)
      return
    }
    if (events.length > 0) await this.#write(asOneMessage(events.map(eventMessage)))
  }

  async send (response: streams.ReadResp): Promise<void> {
    await this.#write(Buffer.from(response.serializeBinary()))
  }

  async #write (response: Buffer): Promise<void> {
    if (this.areOver) return
    if (response.length >= large) await this.#taken(response)
    else if (!this.call.write(response)) await this.#drained()
  }

  /** Waits until the response is sent, so that large ones do not queue up. */
  async #taken (response: Buffer): Promise<void> {
    await new Promise<void>((resolve) => {
      const proceed = () => {
        this.gone.removeEventListener('abort', proceed)
        resolve()
      }
      this.gone.addEventListener('abort', proceed, { once: true })
      this.call.write(response, proceed)
    })
  }

  /** Back-pressure: a stalled consumer blocks us here, for as long as it takes. */
  async #drained (): Promise<void> {
    if (this.gone.aborted) return
    await once(this.call, 'drain', { signal: this.gone }).catch(() => {}) // the caller checks `areOver`
  }
}

/**
 * A link event, `$>` with `revision@stream` as data, stands for another event if that is still visible.
 * @returns responses with links replaced by their targets, found in one query
 */
async function resolveLinks (log: EventLog, events: readonly RecordedEvent[]): Promise<Buffer[]> {
  const found = await log.reader.eventsAt(events.flatMap((event) => targetOf(event) ?? []))
  const targets = new Map(found.map((event) => [keyOf(event), event]))
  return await Promise.all(events.map(async (event) => {
    const place = targetOf(event)
    if (place === undefined) return bytesOf(eventMessage(event))
    const target = targets.get(keyOf(place))
    const isSeen = target !== undefined && await isVisible(log, target)
    return linkResponse(event, isSeen ? target : undefined)
  }))
}

async function isVisible (log: EventLog, event: RecordedEvent): Promise<boolean> {
  const state = await log.reader.stream(event.stream)
  return !state.isTombstoned && event.revision >= firstVisible(state) && isFresh(state, event)
}

/** Undefined unless the data is `revision@stream`, with the number as .NET parses it: then it is a plain event. */
function targetOf (event: RecordedEvent): StreamPlace | undefined {
  if (event.type !== '$>') return undefined
  const [, revision, stream] = /^\s*([+-]?\d{1,15})\s*@([^]+)$/.exec(Buffer.from(event.data).toString('utf8')) ?? []
  return revision === undefined || stream === undefined ? undefined : { stream, revision: Number(revision) || 0 }
}

const keyOf = (target: StreamPlace) => `${target.revision}@${target.stream}`
