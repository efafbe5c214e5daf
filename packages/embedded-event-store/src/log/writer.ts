// The one writer: takes queued requests, decides them in order, and writes them in one commit.
import pg from 'pg'
import { describedBy, weightOf, type Identified, type RecordedEvent } from './event.js'
import { KnownStreams } from './known-streams.js'
import { noStream, plan, type Outcome, type Plan, type WriteRequest } from './plan.js'
import type { Session } from './session.js'
import type { EventTable } from './table.js'

/** Limits of one commit: requests, and bytes of memory of its events, not counting the last request. */
const mostShared = { requests: 1024, bytes: 4 * 1024 * 1024 }
/** Limits of the queue (back-pressure). */
const mostWaiting = { requests: 4096, bytes: 64 * 1024 * 1024 }

const unavailable: Outcome = { kind: 'unavailable' }

/** The table has an event unknown to the writer, which must reload its state. */
const uniqueViolation = '23505'
const diskFull = '53100'

export class Writer {
  readonly known = new KnownStreams()
  readonly queue = new WriteQueue()
  /** Position of the last durable event; 0 for none. */
  head = 0
  /** Incremented before and after each commit: readers must not cache a state read meanwhile. */
  epoch = 0
  #session: Session | undefined
  #isRunning = false
  /** Work to run between two commits; refused when there is no session. */
  readonly #chores: Array<(session: Session | undefined) => Promise<void>> = []

  constructor (private readonly table: EventTable, private readonly onCommit: (events: RecordedEvent[]) => void) {}

  /** Starts writing through this session, with the state of the table. */
  async attach (session: Session): Promise<void> {
    const head = await this.table.head(session.client)
    if (head < this.head) throw new LogWentBack(this.head, head)
    this.known.forget() // also forgets ids, like a restart of EventStoreDB
    this.head = head
    this.epoch++
    this.#session = session
  }

  /** Whether it can write: Postgres is there, and we hold the schema's lock. */
  get isAttached (): boolean {
    return this.#session !== undefined
  }

  /** Stops writing until the next `attach`; refuses queued requests. */
  detach (): void {
    this.#session = undefined
    this.queue.refuse(unavailable)
    for (const refuse of this.#chores.splice(0)) void refuse(undefined)
  }

  /** Resolves once the outcome is durable; never rejects. Requests are decided in call order. */
  async write (request: WriteRequest): Promise<Outcome> {
    if (this.#session === undefined) return unavailable
    return await new Promise((settle) => {
      this.queue.push(request, settle)
      this.#wake()
    })
  }

  /**
   * Runs a few statements while nothing is decided or written.
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
    setImmediate(() => { void this.#run() }) // requests of the same event-loop turn share the commit
  }

  async #run (): Promise<void> {
    while (this.#session !== undefined && !(this.queue.isEmpty && this.#chores.length === 0)) {
      const session = this.#session
      const candidates = this.queue.take(mostShared.requests)
      if (candidates.length > 0 && !await this.#tryGroup(session, candidates, false)) {
        await this.#tryGroup(session, candidates, true)
      }
      if (this.#session !== undefined) await this.#chores.shift()?.(this.#session)
    }
    this.#isRunning = false
    if (this.#session === undefined) this.detach()
  }

  /**
   * Writes as many candidates as fit and requeues the others. False on a wrong assumption: then nothing was written.
   */
  async #tryGroup (session: Session, candidates: Waiting[], isSure: boolean): Promise<boolean> {
    const group = await this.#decide(session.client, candidates, isSure)
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

  /**
   * Decides candidates in order until the group is full or one of them needs the others in the table first. Trusts a
   * client that says a stream is new, which saves a query; `isSure` queries all the same.
   */
  async #decide (on: pg.Client, candidates: readonly Waiting[], isSure: boolean): Promise<Group> {
    const unknown = this.#unknown(candidates)
    const assumed = isSure ? new Set<string>() : saidToBeNew(candidates, unknown)
    const needed = [...unknown].filter((stream) => !assumed.has(stream))
    const states = needed.length > 0 ? await this.table.states(on, needed) : []
    for (const [stream, state] of states) this.known.remember(stream, state)
    for (const stream of assumed) this.known.assumeUntouched(stream)
    const group: Group = { decided: [], events: [], created: Date.now(), assumed: [...assumed] }
    let bytes = 0
    for (const { request, bytes: size, settle } of candidates) {
      if (bytes > mostShared.bytes) break
      if (request.expiresAt !== undefined && request.expiresAt < group.created) {
        group.decided.push({ settle, outcome: { kind: 'expired' } })
        continue
      }
      let planned = this.#plan(request)
      if (planned.kind === 'look-up') {
        if (group.events.length > 0) break
        const { stream, expected, events } = request
        planned = this.#plan(request, await this.table.idsOf(on, stream, expected + 1, expected + events.length))
      }
      bytes += size
      group.decided.push({ settle, outcome: this.#carryOut(planned, group) })
    }
    return group
  }

  /** Uncached streams that the candidates write to or describe. */
  #unknown (candidates: readonly Waiting[]): Set<string> {
    const unknown = new Set<string>()
    const need = (stream: string) => { if (this.known.committed(stream) === undefined) unknown.add(stream) }
    for (const { request: { stream } } of candidates) {
      need(stream)
      const described = describedBy(stream)
      if (described !== undefined) need(described)
    }
    return unknown
  }

  #plan (request: WriteRequest, recorded?: ReadonlyMap<number, Identified>): Plan {
    const state = this.known.drafted(request.stream)
    if (state === undefined) throw new Error(`The state of ${request.stream} is not loaded`)
    const target = describedBy(request.stream)
    const targetState = target === undefined ? undefined : this.known.drafted(target)
    const described = target !== undefined && targetState && { stream: target, state: targetState }
    return plan(request, state, described || undefined, { recent: (id) => this.known.sighting(id), recorded })
  }

  #carryOut (planned: Plan, { events, created }: Group): Outcome {
    if (planned.kind === 'answer') return planned.outcome
    if (planned.kind === 'look-up') throw new Error('Looked up twice')
    const { placed, revision } = planned
    const before = this.head + events.length
    if (placed.length === 0) return { kind: 'written', revision, position: before || undefined }
    for (const { stream, revision, event: { id, type, isJson, data, metadata } } of placed) {
      const position = this.head + events.length + 1
      const recorded = { position, stream, revision, id, type, isJson, created, metadata, data }
      this.known.draft(recorded)
      events.push(recorded)
    }
    return { kind: 'written', revision, position: before + 1 + planned.answer }
  }

  async #commit (session: Session, { events, assumed }: Group): Promise<Outcome | 'wrong assumption' | undefined> {
    if (events.length === 0) return assumed.length === 0 ? undefined : 'wrong assumption'
    this.epoch++
    try {
      if (!await this.table.insert(session.client, events, assumed)) return 'wrong assumption'
    } catch (error) {
      return await this.#afterFailure(session, error)
    } finally {
      this.epoch++
    }
    this.known.commit()
    this.head += events.length
    this.onCommit(events)
    return undefined
  }

  /** Postgres rolls back a statement that it refuses; after any other error, it may be committed. */
  async #afterFailure (session: Session, error: unknown): Promise<Outcome> {
    this.known.discard()
    const isRefused = error instanceof pg.DatabaseError && error.severity === 'ERROR' && error.code !== uniqueViolation
    if (isRefused) return { kind: error.code === diskFull ? 'disk-full' : 'unavailable' }
    if (this.#session === session) this.#session = undefined
    await session.client.end().catch(() => {})
    return { kind: 'unknown' }
  }
}

/** Postgres came back without events that it had committed. */
export class LogWentBack extends Error {
  constructor (known: number, found: number) {
    super(`Postgres has lost acknowledged events: the log ends at ${found}, it ended at ${known}`)
  }
}

interface Waiting {
  request: WriteRequest
  /** Size in memory. */
  bytes: number
  settle: (outcome: Outcome) => void
}

/** Requests that share a commit. Their decisions are a draft in `known`, to be committed or discarded. */
interface Group {
  decided: Array<{ settle: Waiting['settle'], outcome: Outcome }>
  events: RecordedEvent[]
  /** Time of all its events, Unix ms. */
  created: number
  /** Streams assumed untouched without a query. The insert fails if the table has any event of them. */
  assumed: readonly string[]
}

/** Unknown streams whose first request expects no stream. Excludes metadata streams and what they describe. */
function saidToBeNew (candidates: readonly Waiting[], unknown: ReadonlySet<string>): Set<string> {
  const first = new Map<string, WriteRequest>()
  const described = new Set<string>()
  for (const { request } of candidates) {
    if (!first.has(request.stream)) first.set(request.stream, request)
    const target = describedBy(request.stream)
    if (target !== undefined) described.add(target).add(request.stream)
  }
  const isNew = ({ action, expected, events }: WriteRequest) =>
    action === 'append' && expected === noStream && events.length > 0
  return new Set([...first].flatMap(([stream, request]) =>
    unknown.has(stream) && !described.has(stream) && isNew(request) ? [stream] : []))
}

/** Queued requests in order, bounded in memory. */
class WriteQueue {
  #waiting: Waiting[] = []
  #bytes = 0
  #roomMakers: Array<() => void> = []

  get isEmpty (): boolean {
    return this.#waiting.length === 0
  }

  get isFull (): boolean {
    return this.#waiting.length >= mostWaiting.requests || this.#bytes >= mostWaiting.bytes
  }

  push (request: WriteRequest, settle: (outcome: Outcome) => void): void {
    const bytes = request.events.reduce((sum, event) => sum + weightOf(event), 0)
    this.#waiting.push({ request, bytes, settle })
    this.#bytes += bytes
  }

  take (count: number): Waiting[] {
    const taken = this.#waiting.splice(0, count)
    for (const { bytes } of taken) this.#bytes -= bytes
    for (const made of this.#roomMakers.splice(0)) made()
    return taken
  }

  /** Returns undecided requests to the front. */
  putBack (waiting: Waiting[]): void {
    this.#waiting.unshift(...waiting)
    for (const { bytes } of waiting) this.#bytes += bytes
  }

  refuse (outcome: Outcome): void {
    for (const { settle } of this.take(this.#waiting.length)) settle(outcome)
  }

  async room (): Promise<void> {
    while (this.isFull) await new Promise<void>((resolve) => { this.#roomMakers.push(resolve) })
  }
}
