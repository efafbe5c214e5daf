// BatchAppend: one long-lived call carries many appends in chunks; each append gets exactly one reply.
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { ProposedEvent } from '../log/event.js'
import type { EventLog } from '../log/log.js'
import type { Outcome } from '../log/plan.js'
import { type BatchChunk, type BatchOptions, batchRefusal, batchReply } from './batch-messages.js'
import { cancelled, type Refusal, toRefusal, toServiceError, unavailable } from './errors.js'
import { checkSize, proposedEvent, sizeOf, writableName } from './requests.js'

export type BatchCall = ServerDuplexStream<BatchChunk, Buffer>

/** Runs only while appends are open, so an idle call wakes nobody. In ms. */
const sweepEvery = 250

/** Handles one call until the client half-closes it or it breaks. */
export function handleBatchAppend (log: EventLog, call: BatchCall, closing: AbortSignal): void {
  const appends = new BatchAppends(log, call)
  const close = () => { appends.breakOff(cancelled()) }
  closing.addEventListener('abort', close, { once: true })
  call.on('data', (chunk: BatchChunk) => { appends.take(chunk) })
  call.on('end', () => { appends.end() })
  call.on('error', () => { appends.stop() })
  call.on('cancelled', () => { appends.stop() })
  call.once('close', () => { closing.removeEventListener('abort', close) })
}

interface OpenAppend {
  key: string
  id: Buffer
  options: BatchOptions
  stream: string
  events: ProposedEvent[]
  size: number
  isComplete: boolean
  /** Unix ms. */
  deadline: number
}

/** How long the chunks of one append may take, in ms, whatever its deadline, as on the real server. */
const chunkPatience = 2_000

class BatchAppends {
  readonly #open = new Map<string, OpenAppend>()
  #sweeper: NodeJS.Timeout | undefined
  #hasEnded = false
  #isOver = false

  constructor (private readonly log: EventLog, private readonly call: BatchCall) {}

  take (chunk: BatchChunk): void {
    if (this.#isOver) return
    const key = chunk.id.toString('latin1')
    const append = this.#open.get(key) ?? this.#begin(key, chunk)
    if (append === undefined || append.isComplete) return // the rest of a refused append
    // Checks the deadline before the size: the client of a late append expects the timeout.
    if (append.deadline < Date.now()) return this.#reply(append, { kind: 'expired' })
    try {
      if (append.stream === '') append.stream = writableName(append.options.name)
      for (const message of chunk.messages) {
        const event = proposedEvent(message)
        checkSize(append.size += sizeOf(event))
        append.events.push(event)
      }
      if (chunk.isFinal) this.#write(append)
    } catch (error) {
      this.#send(append, batchRefusal(append.id, append.options, toRefusal(error)))
    }
  }

  end (): void {
    this.#hasEnded = true
    this.#finish()
  }

  /** Ends the call with an error, so the client rejects all its waiting appends. */
  breakOff (refusal: Refusal): void {
    if (this.#isOver) return
    this.stop()
    this.call.emit('error', toServiceError(refusal))
  }

  stop (): void {
    this.#isOver = true
    this.#rest()
    this.#open.clear()
  }

  #begin (key: string, { id, options }: BatchChunk): OpenAppend | undefined {
    if (options === undefined) return undefined
    const deadline = Math.min(options.deadline, Date.now() + chunkPatience)
    const append = { key, id, options, stream: '', events: [], size: 0, isComplete: false, deadline }
    this.#open.set(key, append)
    this.#sweeper ??= setInterval(() => { this.#sweep() }, sweepEvery).unref()
    return append
  }

  #write (append: OpenAppend): void {
    const { options: { expected, deadline }, stream, events } = append
    append.isComplete = true
    append.deadline = deadline
    void this.log.writer.write({ action: 'append', stream, expected, events, expiresAt: deadline })
      .then((outcome) => { this.#settle(append, outcome) }) // `write` never rejects
    if (this.log.writer.queue.isFull) void this.#waitForRoom()
  }

  async #waitForRoom (): Promise<void> {
    this.call.pause()
    await this.log.writer.queue.room()
    if (!this.#isOver) this.call.resume()
  }

  /** Only the end of the call gives a client its typed error. It speaks of all appends of the call: one here. */
  #settle (append: OpenAppend, outcome: Outcome): void {
    if (this.#isOver) return
    if (outcome.kind === 'unavailable' && this.#open.size === 1) this.breakOff(unavailable())
    else this.#reply(append, outcome)
  }

  #reply (append: OpenAppend, outcome: Outcome): void {
    this.#send(append, batchReply(append.id, append.options, outcome))
  }

  #send (append: OpenAppend, response: Buffer): void {
    if (this.#isOver || !this.#open.delete(append.key)) return // its timeout was already answered
    this.call.write(response)
    this.#finish()
  }

  #sweep (): void {
    const now = Date.now()
    for (const append of this.#open.values()) {
      if (append.deadline < now) this.#reply(append, { kind: append.isComplete ? 'unknown' : 'expired' })
    }
    if (this.#open.size === 0) this.#rest()
  }

  #rest (): void {
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }

  #finish (): void {
    if (!this.#hasEnded || this.#open.size > 0 || this.#isOver) return
    this.stop()
    this.call.end()
  }
}
