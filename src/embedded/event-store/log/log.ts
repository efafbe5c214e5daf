// The log: appends through the one writer, reads through a few connections, and the way back after Postgres was gone.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { describedBy, type RecordedEvent } from './event.js'
import { pages } from './pages.js'
import { openSession, SchemaInUse, type Session } from './session.js'
import { isSoftDeleted, type StreamState } from './stream-state.js'
import { type Direction, EventTable } from './table.js'
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
  readonly #table: EventTable
  readonly #readers: pg.Pool
  readonly #writer: Writer
  readonly #listener: LogListener
  readonly #options: { databaseUrl: string, schema: string, log: (line: string) => void }
  #session: Session | undefined
  #isClosed = false
  #lose: (error: Error) => void = () => {}
  /** Resolves when another server has taken the schema, or Postgres lost events: this log will never write again. */
  readonly lost = new Promise<Error>((resolve) => { this.#lose = resolve })

  private constructor (options: { databaseUrl: string, schema: string, log: (line: string) => void }, listener: LogListener) {
    this.#options = options
    this.#listener = listener
    this.#table = new EventTable(options.schema)
    this.#readers = new pg.Pool({ connectionString: options.databaseUrl, max: 4, keepAlive: true, application_name: 'ringledger-event-store-reader', connectionTimeoutMillis: 30_000 })
    this.#readers.on('error', () => {}) // an idle reader died with Postgres: the next read gets a new one
    this.#writer = new Writer(this.#table, (events) => { listener.committed(events) })
  }

  /** Opens the log; throws when Postgres cannot be reached, or `SchemaInUse`. */
  static async open (options: { databaseUrl: string, schema: string, log: (line: string) => void }, listener: LogListener): Promise<EventLog> {
    const log = new EventLog(options, listener)
    try {
      await log.#open(patience.atStart)
    } catch (error) {
      await log.#readers.end()
      throw error
    }
    return log
  }

  /** The position of the last durable event, 0 when there is none. */
  get head (): number { return this.#writer.head }

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
    return pages(direction, from, to, wanted, (lower, upper, limit) => reading(this.#table.readAll(this.#readers, direction, lower, upper, limit)), (event) => event.position)
  }

  /** Pages of a stream with from <= revision <= to, up to `head` in the log. */
  streamPages (stream: string, direction: Direction, from: number, to: number, head: number, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    return pages(direction, from, to, wanted, (lower, upper, limit) => reading(this.#table.readStream(this.#readers, stream, direction, lower, upper, head, limit)), (event) => event.revision)
  }

  /** Events by stream and revision; what does not exist is left out. */
  eventsAt (targets: ReadonlyArray<{ stream: string, revision: number }>): Promise<RecordedEvent[]> {
    return reading(this.#table.readEach(this.#readers, targets))
  }

  async close (): Promise<void> {
    this.#isClosed = true
    this.#writer.detach()
    await this.#session?.client.end().catch(() => {})
    await this.#readers.end()
  }

  async #open (lockPatience: number): Promise<void> {
    const session = await openSession(this.#options.databaseUrl, this.#options.schema, lockPatience)
    this.#session = session
    await this.#writer.attach(session)
    this.#listener.reopened(this.#writer.head)
    void session.ended.then((error) => this.#afterLoss(error)) // runs beside; ends with the next session or with `lost`
  }

  async #afterLoss (error: Error): Promise<void> {
    this.#writer.detach()
    if (this.#isClosed) return
    this.#options.log(`Postgres is gone (${error.message}); appends are refused until it is back`)
    for (let wait = 50; !this.#isClosed; wait = Math.min(wait * 2, 1_000)) {
      const failure = await this.#open(patience.afterLoss).then(() => undefined, (reason: unknown) => reason)
      if (failure === undefined) return this.#options.log('Postgres is back; appends go on')
      if (failure instanceof SchemaInUse || failure instanceof LogWentBack) return this.#lose(failure)
      await delay(wait)
    }
  }

  async #state (stream: string): Promise<StreamState> {
    const known = this.#writer.known.committed(stream)
    if (known !== undefined) return known
    const epoch = this.#writer.epoch
    const state = (await reading(this.#table.states(this.#readers, [stream]))).get(stream)
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
