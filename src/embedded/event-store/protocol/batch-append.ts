// BatchAppend: one long-lived call carries many appends, in chunks; each gets exactly one reply.
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { ProposedEvent } from '../log/event.js'
import type { EventLog } from '../log/log.js'
import type { Outcome } from '../log/write.js'
import { batchRefusal, batchReply, type BatchOptions } from './batch-reply.js'
import { cancelled, type Refusal, toRefusal, toServiceError, unavailable } from './errors.js'
import type { shared, streams } from './generated.js'
import { checkSize, expectedRevision, proposedEvent, sizeOf, uuid, writableStreamName } from './requests.js'

type Call = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>

/** An append that has no reply yet. */
interface Open {
  id: shared.UUID
  options: BatchOptions
  stream: string
  events: ProposedEvent[]
  size: number
  isComplete: boolean
  deadline: number
}

/** How long the chunks of one append may take, in ms, whatever its deadline says (as the real server has it). */
const chunkPatience = 2_000
const sweepEvery = 250

/** Handles one batch-append call until the client half-closes it or it breaks. */
export function handleBatchAppend (log: EventLog, call: Call, closing: AbortSignal): void {
  const appends = new BatchAppends(log, call)
  const close = () => { appends.breakOff(cancelled()) }
  closing.addEventListener('abort', close, { once: true })
  call.on('data', (chunk: streams.BatchAppendReq) => { appends.take(chunk) })
  call.on('end', () => { appends.end() })
  call.on('error', () => { appends.stop() })
  call.on('cancelled', () => { appends.stop() })
  call.once('close', () => { closing.removeEventListener('abort', close) })
}

class BatchAppends {
  readonly #log: EventLog
  readonly #call: Call
  readonly #open = new Map<string, Open>()
  readonly #sweeper: NodeJS.Timeout
  #hasEnded = false
  #isOver = false

  constructor (log: EventLog, call: Call) {
    this.#log = log
    this.#call = call
    this.#sweeper = setInterval(() => { this.#sweep() }, sweepEvery)
    this.#sweeper.unref()
  }

  take (chunk: streams.BatchAppendReq): void {
    const id = chunk.getCorrelationId()
    if (id === undefined || this.#isOver) return
    const key = uuid(id)
    const append = this.#open.get(key) ?? this.#begin(key, id, chunk.getOptions())
    if (append === undefined || append.isComplete) return // the tail of an append that was refused
    try {
      this.#add(append, chunk)
    } catch (error) {
      this.#reply(append, batchRefusal(append.id, append.options, toRefusal(error)))
    }
  }

  end (): void {
    this.#hasEnded = true
    this.#finish()
  }

  /** Ends the call with an error: the client rejects everything that waits on it. */
  breakOff (refusal: Refusal): void {
    if (this.#isOver) return
    this.stop()
    this.#call.emit('error', toServiceError(refusal))
  }

  stop (): void {
    this.#isOver = true
    clearInterval(this.#sweeper)
    this.#open.clear()
  }

  #begin (key: string, id: shared.UUID, options: BatchOptions | undefined): Open | undefined {
    if (options === undefined) return undefined
    const deadline = options.getDeadline()?.toDate().getTime() ?? Infinity
    const append = { id, options, stream: '', events: [], size: 0, isComplete: false, deadline: Math.min(deadline, Date.now() + chunkPatience) }
    this.#open.set(key, append)
    return append
  }

  #add (append: Open, chunk: streams.BatchAppendReq): void {
    if (append.stream === '') append.stream = writableStreamName(append.options.getStreamIdentifier())
    for (const message of chunk.getProposedMessagesList()) {
      const event = proposedEvent(message)
      checkSize(append.size += sizeOf(event))
      append.events.push(event)
    }
    if (chunk.getIsFinal()) this.#write(append)
  }

  #write (append: Open): void {
    const { options, stream, events } = append
    append.isComplete = true
    append.deadline = options.getDeadline()?.toDate().getTime() ?? Infinity
    void this.#log.write({ action: 'append', stream, expected: expectedRevision(options, options.getStreamPosition()), events, expiresAt: append.deadline })
      .then((outcome) => { this.#settle(append, outcome) }) // writes never reject
    if (this.#log.isFull) void this.#waitForRoom()
  }

  async #waitForRoom (): Promise<void> {
    this.#call.pause()
    await this.#log.room()
    if (!this.#isOver) this.#call.resume()
  }

  // Without a database every append of this call would fail the same way, and nothing of it is
  // written: only the end of the call tells the client so with its typed error.
  #settle (append: Open, outcome: Outcome): void {
    if (this.#isOver) return
    if (outcome.kind !== 'unavailable') return this.#reply(append, batchReply(append.id, append.options, outcome))
    this.breakOff(unavailable())
  }

  #reply (append: Open, response: streams.BatchAppendResp): void {
    if (this.#isOver || !this.#open.delete(uuid(append.id))) return // answered before: its time was up
    this.#call.write(response)
    this.#finish()
  }

  #sweep (): void {
    const now = Date.now()
    for (const append of this.#open.values()) {
      if (append.deadline < now) this.#reply(append, batchReply(append.id, append.options, { kind: append.isComplete ? 'unknown' : 'expired' }))
    }
  }

  #finish (): void {
    if (!this.#hasEnded || this.#open.size > 0 || this.#isOver) return
    this.stop()
    this.#call.end()
  }
}
