// Decides a group of requests in their order: what they add to the log, and what each is answered once that is durable.
import type pg from 'pg'
import { describedBy, type Identified, type RecordedEvent } from '../event.js'
import { noStream } from './decide.js'
import type { KnownStreams } from './known-streams.js'
import type { Outcome, WriteRequest } from './request.js'
import type { EventTable } from '../table/table.js'
import { forEachInTurns } from '../turns.js'
import { type Described, plan, type Plan } from './plan.js'
import type { Waiting } from './queue.js'

export interface Decided { settle: Waiting['settle'], outcome: Outcome }

export interface Group {
  decided: Decided[]
  events: RecordedEvent[]
  /** The position of the last event before them. */
  head: number
  /** Of all its events, Unix ms. */
  created: number
  /** Streams taken for untouched without a look: the group holds only where the table has nothing of them. */
  assumed: readonly string[]
}

/** How many bytes of memory the events of one commit take, apart from those of the last request. */
const mostBytes = 4 * 1024 * 1024

/** Its decisions are a draft in `known`, to be committed or discarded. */
export class GroupDecider {
  readonly #table: EventTable
  readonly #known: KnownStreams

  constructor (table: EventTable, known: KnownStreams) {
    this.#table = table
    this.#known = known
  }

  /**
   * Decides candidates in order until the group is full or one of them must see the others in the table first.
   * A stream that a client says is new is taken for new, which spares a look; `isSure` looks all the same.
   */
  async decide (on: pg.Client, candidates: readonly Waiting[], head: number, isSure = false): Promise<Group> {
    const unknown = this.#unknown(candidates)
    const assumed = isSure ? new Set<string>() : saidToBeNew(candidates, unknown)
    await this.#loadStates(on, [...unknown].filter((stream) => !assumed.has(stream)))
    for (const stream of assumed) this.#known.assumeUntouched(stream)
    const group: Group = { decided: [], events: [], head, created: Date.now(), assumed: [...assumed] }
    let bytes = 0
    for (const { request, bytes: size, settle } of candidates) {
      if (bytes > mostBytes) break
      if (request.expiresAt !== undefined && request.expiresAt < group.created) {
        group.decided.push({ settle, outcome: { kind: 'expired' } })
        continue
      }
      let planned = this.#plan(request)
      if (planned.kind === 'look-up') {
        if (group.events.length > 0) break
        planned = this.#plan(request, await this.#recorded(on, request))
      }
      bytes += size
      group.decided.push({ settle, outcome: await this.#carryOut(planned, group) })
    }
    return group
  }

  /** Streams that the candidates write to or describe, and whose state is not remembered. */
  #unknown (candidates: readonly Waiting[]): Set<string> {
    const unknown = new Set<string>()
    const need = (stream: string) => { if (this.#known.committed(stream) === undefined) unknown.add(stream) }
    for (const { request: { stream } } of candidates) {
      need(stream)
      const described = describedBy(stream)
      if (described !== undefined) need(described)
    }
    return unknown
  }

  async #loadStates (on: pg.Client, streams: readonly string[]): Promise<void> {
    if (streams.length === 0) return
    for (const [stream, state] of await this.#table.states(on, streams)) this.#known.remember(stream, state)
  }

  async #recorded (on: pg.Client, { stream, expected, events }: WriteRequest): Promise<Map<number, Identified>> {
    return await this.#table.idsOf(on, stream, expected + 1, expected + events.length)
  }

  #plan (request: WriteRequest, recorded?: ReadonlyMap<number, Identified>): Plan {
    const state = this.#known.drafted(request.stream)
    if (state === undefined) throw new Error(`The state of ${request.stream} is not loaded`)
    const recent = (id: string) => this.#known.sighting(id)
    return plan(request, state, this.#described(request.stream), { recent, ...(recorded && { recorded }) })
  }

  #described (metastream: string): Described | undefined {
    const stream = describedBy(metastream)
    const state = stream === undefined ? undefined : this.#known.drafted(stream)
    return stream === undefined || state === undefined ? undefined : { stream, state }
  }

  async #carryOut (planned: Plan, { events, head, created }: Group): Promise<Outcome> {
    if (planned.kind === 'refuse') return planned.outcome
    if (planned.kind === 'repeat') return { kind: 'written', revision: planned.revision, position: planned.position }
    if (planned.kind === 'look-up') throw new Error('Looked up twice')
    if (planned.kind === 'nothing') {
      return { kind: 'written', revision: planned.revision, position: head + events.length || undefined }
    }
    const first = head + events.length + 1
    await forEachInTurns(planned.placed, ({ stream, revision, event }) => {
      const { id, type, isJson, data, metadata } = event
      const position = head + events.length + 1
      const recorded = { position, stream, revision, id, type, isJson, created, metadata, data }
      this.#known.draft(recorded)
      events.push(recorded)
    })
    return { kind: 'written', revision: planned.revision, position: first + planned.answer }
  }
}

/** Unknown streams whose first request appends to no stream; no metadata streams, and nothing that they describe. */
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
