// The one writer: takes what has queued up, decides it in order, and makes it durable with one commit.
import pg from 'pg'
import { KnownStreams, rememberedIds } from './known-streams.js'
import { describedBy, type RecordedEvent } from './event.js'
import type { EventTable } from './table.js'
import { type Described, type Outcome, plan, type Plan, type WriteRequest } from './write.js'
import type { Session } from './session.js'
import { type Waiting, WriteQueue } from './write-queue.js'

interface Decided { settle: Waiting['settle'], outcome: Outcome }

const mostInGroup = { requests: 1024, bytes: 4 * 1024 * 1024 }

/** Postgres came back without events that it had committed. */
export class LogWentBack extends Error {
  constructor (known: number, found: number) {
    super(`Postgres has lost acknowledged events: the log ends at ${found}, it ended at ${known}`)
  }
}

export class Writer {
  readonly known = new KnownStreams()
  readonly queue = new WriteQueue()
  /** The position of the last durable event. */
  head = 0
  /** Changes whenever a state may have changed: before and after each commit. */
  epoch = 0
  readonly #table: EventTable
  readonly #onCommit: (events: RecordedEvent[]) => void
  #session: Session | undefined
  #isRunning = false

  constructor (table: EventTable, onCommit: (events: RecordedEvent[]) => void) {
    this.#table = table
    this.#onCommit = onCommit
  }

  /** Begins to write through this session, from what the table says. */
  async attach (session: Session): Promise<void> {
    const head = await this.#table.head(session.client)
    if (head < this.head) throw new LogWentBack(this.head, head)
    const sightings = await this.#table.lastSightings(session.client, rememberedIds / 4)
    this.known.forget()
    for (const { id, ...sighting } of sightings) this.known.rememberId(id, sighting)
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
    this.queue.refuse({ kind: 'unavailable' })
  }

  /** Resolves, never rejects, once the outcome is durable. Requests are decided in the order of the calls. */
  async write (request: WriteRequest): Promise<Outcome> {
    if (this.#session === undefined) return { kind: 'unavailable' }
    return await new Promise((settle) => {
      this.queue.push(request, settle)
      if (!this.#isRunning) {
        this.#isRunning = true
        setImmediate(() => { void this.#run() }) // what arrives in the same turn shares the commit
      }
    })
  }

  async #run (): Promise<void> {
    while (this.#session !== undefined && !this.queue.isEmpty) await this.#writeGroup(this.#session)
    this.#isRunning = false
    if (this.#session === undefined) this.detach()
  }

  async #writeGroup (session: Session): Promise<void> {
    const candidates = this.queue.take(mostInGroup.requests)
    let events: RecordedEvent[] = []
    const decided: Decided[] = []
    try {
      await this.#loadStates(session, candidates)
      events = await this.#decide(session, candidates, decided)
    } catch {
      this.known.discard()
      for (const { settle } of candidates) settle({ kind: 'unavailable' })
      return
    }
    this.queue.putBack(candidates.slice(decided.length))
    const failure = events.length === 0 ? undefined : await this.#commit(session, events)
    for (const { settle, outcome } of decided) settle(failure ?? outcome)
  }

  /** Decides candidates in order until the group is full or one of them must see the others in the table first. */
  async #decide (session: Session, candidates: readonly Waiting[], decided: Decided[]): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = []
    const created = Date.now()
    let bytes = 0
    for (const { request, bytes: size, settle } of candidates) {
      if (bytes > mostInGroup.bytes) break
      if (request.expiresAt !== undefined && request.expiresAt < created) {
        decided.push({ settle, outcome: { kind: 'expired' } })
        continue
      }
      let planned = this.#plan(request)
      if (planned.kind === 'look-up') {
        if (events.length > 0) break
        const recorded = await this.#table.idsOf(session.client, request.stream, request.expected + 1, request.expected + request.events.length)
        planned = this.#plan(request, recorded)
      }
      const outcome = this.#carryOut(planned, created, events)
      bytes += size
      decided.push({ settle, outcome })
    }
    return events
  }

  #plan (request: WriteRequest, recorded?: ReadonlyMap<number, { id: string, position: number }>): Plan {
    const state = this.known.drafted(request.stream)
    if (state === undefined) throw new Error(`The state of ${request.stream} is not loaded`)
    return plan(request, state, this.#described(request.stream), { recent: (id) => this.known.sighting(id), ...(recorded && { recorded }) })
  }

  #described (metastream: string): Described | undefined {
    const stream = describedBy(metastream)
    const state = stream === undefined ? undefined : this.known.drafted(stream)
    return stream === undefined || state === undefined ? undefined : { stream, state }
  }

  #carryOut (planned: Plan, created: number, events: RecordedEvent[]): Outcome {
    if (planned.kind === 'refuse') return planned.outcome
    if (planned.kind === 'repeat') return { kind: 'written', revision: planned.revision, position: planned.position }
    if (planned.kind === 'look-up') throw new Error('Looked up twice')
    const first = this.head + events.length + 1
    for (const { stream, revision, event } of planned.placed) {
      const { id, type, isJson, data, metadata } = event
      const recorded = { position: this.head + events.length + 1, stream, revision, id, type, isJson, created, metadata, data }
      this.known.draft(recorded)
      events.push(recorded)
    }
    return { kind: 'written', revision: planned.placed[planned.answer]?.revision ?? -1, position: first + planned.answer }
  }

  async #commit (session: Session, events: RecordedEvent[]): Promise<Outcome | undefined> {
    this.epoch++
    try {
      await this.#table.insert(session.client, events)
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
    if (error instanceof pg.DatabaseError && error.severity === 'ERROR' && error.code !== '23505') return { kind: 'unavailable' }
    if (this.#session === session) this.#session = undefined
    await session.client.end().catch(() => {})
    return { kind: 'unknown' }
  }

  async #loadStates (session: Session, candidates: readonly Waiting[]): Promise<void> {
    const missing = new Set<string>()
    const need = (stream: string) => { if (this.known.committed(stream) === undefined) missing.add(stream) }
    for (const { request: { stream } } of candidates) {
      need(stream)
      const described = describedBy(stream)
      if (described !== undefined) need(described)
    }
    if (missing.size === 0) return
    for (const [stream, state] of await this.#table.states(session.client, [...missing])) this.known.remember(stream, state)
  }
}
