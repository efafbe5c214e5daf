// The one writer: takes what has queued up, decides it in order, and makes it durable with one commit.
import pg from 'pg'
import type { RecordedEvent } from '../event.js'
import { type Group, GroupDecider } from './group.js'
import { KnownStreams } from './known-streams.js'
import { LogWentBack } from './log-went-back.js'
import type { Outcome, WriteRequest } from './request.js'
import type { Session } from '../table/session.js'
import type { EventTable } from '../table/table.js'
import { type Waiting, WriteQueue } from './queue.js'

/** How many requests share a commit. */
const mostRequests = 1024

const unavailable: Outcome = { kind: 'unavailable' }

/** The table holds an event that the writer does not know of: it must begin anew from what the table says. */
const uniqueViolation = '23505'
const diskFull = '53100'

export class Writer {
  readonly known = new KnownStreams()
  readonly queue = new WriteQueue()
  /** The position of the last durable event. */
  head = 0
  /** Changes whenever a state may have changed: before and after each commit. */
  epoch = 0
  readonly #table: EventTable
  readonly #decider: GroupDecider
  readonly #onCommit: (events: RecordedEvent[]) => void
  #session: Session | undefined
  #isRunning = false
  /** Work that is done between two commits, or refused when there is no session. */
  readonly #chores: Array<(session: Session | undefined) => Promise<void>> = []

  constructor (table: EventTable, onCommit: (events: RecordedEvent[]) => void) {
    this.#table = table
    this.#decider = new GroupDecider(table, this.known)
    this.#onCommit = onCommit
  }

  /** Begins to write through this session, from what the table says. */
  async attach (session: Session): Promise<void> {
    const head = await this.#table.head(session.client)
    if (head < this.head) throw new LogWentBack(this.head, head)
    this.known.forget() // the ids as well, as at a restart of EventStoreDB
    this.head = head
    this.epoch++
    this.#session = session
  }

  get isAttached (): boolean {
    return this.#session !== undefined
  }

  /** Writes no more until the next `attach`; what waits is refused. */
  detach (): void {
    this.#session = undefined
    this.queue.refuse(unavailable)
    for (const refuse of this.#chores.splice(0)) void refuse(undefined)
  }

  /** Resolves, never rejects, once the outcome is durable. Requests are decided in the order of the calls. */
  async write (request: WriteRequest): Promise<Outcome> {
    if (this.#session === undefined) return unavailable
    return await new Promise((settle) => {
      this.queue.push(request, settle)
      this.#wake()
    })
  }

  /**
   * Does a statement or two while nothing is decided or written.
   * @throws what `work` throws, or that there is no Postgres
   */
  async alone<Result> (work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    return await new Promise((resolve, reject) => {
      this.#chores.push(async (session) => {
        if (session === undefined) return reject(new Error('There is no Postgres to write to'))
        await work(session.client).then(resolve, async (error: Error) => {
          reject(error)
          await this.#afterFailure(session, error)
        })
      })
      this.#wake()
    })
  }

  #wake (): void {
    if (this.#isRunning) return
    this.#isRunning = true
    setImmediate(() => { void this.#run() }) // what arrives in the same turn shares the commit
  }

  async #run (): Promise<void> {
    while (this.#session !== undefined && !(this.queue.isEmpty && this.#chores.length === 0)) {
      if (!this.queue.isEmpty) await this.#writeGroup(this.#session)
      if (this.#session !== undefined) await this.#chores.shift()?.(this.#session)
    }
    this.#isRunning = false
    if (this.#session === undefined) this.detach()
  }

  async #writeGroup (session: Session): Promise<void> {
    const candidates = this.queue.take(mostRequests)
    if (!await this.#tryGroup(session, candidates, false)) await this.#tryGroup(session, candidates, true)
  }

  /** Writes what it can of the candidates, and puts back the others. False on a wrong assumption: nothing was done. */
  async #tryGroup (session: Session, candidates: Waiting[], isSure: boolean): Promise<boolean> {
    const group = await this.#decider.decide(session.client, candidates, this.head, isSure)
      .catch(async (error: unknown) => { await this.#afterFailure(session, error) })
    const failure = group === undefined ? unavailable : await this.#commit(session, group)
    if (failure === 'wrong assumption') {
      this.known.discard()
      return false
    }
    const decided = group?.decided ?? candidates.map(({ settle }) => ({ settle, outcome: unavailable }))
    this.queue.putBack(candidates.slice(decided.length))
    for (const { settle, outcome } of decided) settle(failure ?? outcome)
    return true
  }

  async #commit (session: Session, { events, assumed }: Group): Promise<Outcome | 'wrong assumption' | undefined> {
    if (events.length === 0) return assumed.length === 0 ? undefined : 'wrong assumption'
    this.epoch++
    try {
      if (!await this.#table.insert(session.client, events, assumed)) return 'wrong assumption'
    } catch (error) {
      return await this.#afterFailure(session, error)
    } finally {
      this.epoch++
    }
    this.known.commit()
    this.head += events.length
    this.#onCommit(events)
    return undefined
  }

  /** A statement that Postgres refused is rolled back; anything else may have been committed. */
  async #afterFailure (session: Session, error: unknown): Promise<Outcome> {
    this.known.discard()
    const isRefused = error instanceof pg.DatabaseError && error.severity === 'ERROR' && error.code !== uniqueViolation
    if (isRefused) return { kind: error.code === diskFull ? 'disk-full' : 'unavailable' }
    if (this.#session === session) this.#session = undefined
    await session.client.end().catch(() => {})
    return { kind: 'unknown' }
  }
}
