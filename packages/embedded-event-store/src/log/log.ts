// The log: appends through the one writer, reads through a few connections, and the way back after Postgres was gone.
import { setTimeout as delay } from 'node:timers/promises'
import { describedBy, type RecordedEvent } from './event.js'
import { pages, Readers } from './pages.js'
import { SchemaInUse, type Session } from './session.js'
import type { Storage } from './storage.js'
import { isSoftDeleted, type StreamState } from './stream-state.js'
import type { Direction } from './range.js'
import { LogWentBack, Writer } from './writer.js'
import type { Outcome, WriteRequest } from './write.js'

export interface LogListener {
  /** Events became durable; they follow on the last ones. */
  committed (events: RecordedEvent[]): void
  /** The log was opened anew and ends at `head`; what was committed meanwhile was not announced. */
  reopened (head: number): void
}

/** The database cannot be asked at the moment. */
export class LogUnavailable extends Error {}

export interface StreamView extends StreamState {
  /** Never written to or soft-deleted: a reader finds no stream. */
  isMissing: boolean
}

const patience = { atStart: 3_000, afterLoss: 5_000 }

export class EventLog {
  readonly #storage: Storage
  readonly #writer: Writer
  readonly #readers = new Readers()
  readonly #listener: LogListener
  readonly #say: (line: string) => void
  #session: Session | undefined
  #isClosed = false
  #lose: (error: Error) => void = () => {}
  /** Resolves when another server has taken the schema, or Postgres lost events: this log will never write again. */
  readonly lost = new Promise<Error>((resolve) => { this.#lose = resolve })

  private constructor (storage: Storage, listener: LogListener, say: (line: string) => void) {
    this.#storage = storage
    this.#listener = listener
    this.#say = say
    this.#writer = new Writer(storage.table, (events) => { listener.committed(events) })
  }

  /** Opens the log, whose storage ends with it; throws when Postgres cannot be reached, or `SchemaInUse`. `say` tells people what happens. */
  static async open (storage: Storage, listener: LogListener, say: (line: string) => void): Promise<EventLog> {
    const log = new EventLog(storage, listener, say)
    try {
      await log.#open(patience.atStart)
    } catch (error) {
      await storage.readers.end()
      throw error
    }
    return log
  }

  /** The position of the last durable event, 0 when there is none. */
  get head (): number { return this.#writer.head }

  /** Whether it can write: Postgres is there, and the schema is ours. */
  get isReady (): boolean { return this.#writer.isAttached }

  get isFull (): boolean { return this.#writer.queue.isFull }

  /** Resolves when the queue of appends has room. */
  room (): Promise<void> { return this.#writer.queue.room() }

  /** Never rejects. Decided in the order of the calls; resolves when the outcome is durable. */
  write (request: WriteRequest): Promise<Outcome> { return this.#writer.write(request) }

  /** What is durable of a stream. Throws `LogUnavailable`. */
  async stream (name: string): Promise<StreamView> {
    const described = describedBy(name)
    const [state, target] = await Promise.all([this.#state(name), described === undefined ? undefined : this.#state(described)])
    const implied = described === undefined ? state : { ...state, maxCount: 1, isTombstoned: state.isTombstoned || target?.isTombstoned === true }
    return { ...implied, isMissing: implied.last < 0 || isSoftDeleted(implied) }
  }

  /** Pages of $all with from <= position <= to. Between pages nothing is held open. */
  allPages (direction: Direction, from: number, to: number, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    return pages(this.#readers, { direction, from, to }, wanted, {
      read: (from, to, size) => reading(this.#storage.table.readAll(this.#storage.readers, direction, from, to, size)),
      key: (event) => event.position
    })
  }

  /** Pages of a stream with from <= revision <= to, up to `head` in the log. */
  streamPages (stream: string, direction: Direction, from: number, to: number, head: number, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    return pages(this.#readers, { direction, from, to }, wanted, {
      read: (from, to, size) => reading(this.#storage.table.readStream(this.#storage.readers, stream, direction, from, to, head, size)),
      key: (event) => event.revision
    })
  }

  /** Events by stream and revision; what does not exist is left out. */
  eventsAt (targets: ReadonlyArray<{ stream: string, revision: number }>): Promise<RecordedEvent[]> {
    return reading(this.#storage.table.readEach(this.#storage.readers, targets))
  }

  async close (): Promise<void> {
    this.#isClosed = true
    this.#writer.detach()
    await this.#session?.client.end().catch(() => {})
    await this.#storage.readers.end()
  }

  async #open (lockPatience: number): Promise<void> {
    const session = await this.#storage.openSession(lockPatience)
    this.#session = session
    await this.#writer.attach(session)
    this.#listener.reopened(this.#writer.head)
    void session.ended.then((error) => this.#afterLoss(error)) // runs beside; ends with the next session or with `lost`
  }

  async #afterLoss (error: Error): Promise<void> {
    this.#writer.detach()
    if (this.#isClosed) return
    this.#say(`Postgres is gone (${error.message}); appends are refused until it is back`)
    for (let wait = 50; !this.#isClosed; wait = Math.min(wait * 2, 1_000)) {
      const failure = await this.#open(patience.afterLoss).then(() => undefined, (reason: unknown) => reason)
      if (failure === undefined) return this.#say('Postgres is back; appends go on')
      if (failure instanceof SchemaInUse || failure instanceof LogWentBack) return this.#lose(failure)
      await delay(wait)
    }
  }

  async #state (stream: string): Promise<StreamState> {
    const known = this.#writer.known.committed(stream)
    if (known !== undefined) return known
    const epoch = this.#writer.epoch
    const state = (await reading(this.#storage.table.states(this.#storage.readers, [stream]))).get(stream)
    if (state === undefined) throw new LogUnavailable('Postgres did not answer for the stream')
    if (this.#writer.epoch === epoch) this.#writer.known.remember(stream, state)
    return state
  }
}

async function reading<T> (result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw new LogUnavailable('Postgres cannot be read at the moment', { cause: error })
  }
}
