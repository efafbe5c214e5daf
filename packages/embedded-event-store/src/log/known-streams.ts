// The writer's cache: states of recently used streams, and places of recent event ids.
import { LRUCache } from 'lru-cache'
import { describedBy, type RecordedEvent } from './event.js'
import type { Sighting } from './plan.js'
import { afterEvent, afterMetadata, type StreamState, untouched } from './stream-state.js'

const rememberedIds = 65_536
const rememberedStreams = 50_000

/** Committed states, plus a draft on top while the writer decides a group of writes. */
export class KnownStreams {
  readonly #states = new LRUCache<string, StreamState>({ max: rememberedStreams })
  readonly #ids = new LRUCache<string, Sighting>({ max: rememberedIds })
  #draftStates = new Map<string, StreamState>()
  #draftIds = new Map<string, Sighting>()

  /** The committed state, if cached. */
  committed (stream: string): StreamState | undefined {
    return this.#states.get(stream)
  }

  /** The state after a commit of the draft. */
  drafted (stream: string): StreamState | undefined {
    return this.#draftStates.get(stream) ?? this.#states.get(stream)
  }

  sighting (id: string): Sighting | undefined {
    return this.#draftIds.get(id) ?? this.#ids.get(id)
  }

  remember (stream: string, state: StreamState): void {
    this.#states.set(stream, state)
  }

  /** Treats a stream as never written to until the draft ends. */
  assumeUntouched (stream: string): void {
    this.#draftStates.set(stream, untouched)
  }

  /** Adds an event to the draft. */
  draft (event: RecordedEvent): void {
    const state = this.drafted(event.stream)
    if (state !== undefined) this.#draftStates.set(event.stream, afterEvent(state, event))
    const described = describedBy(event.stream)
    const target = described === undefined ? undefined : this.drafted(described)
    if (described !== undefined && target !== undefined) this.#draftStates.set(described, afterMetadata(target, event))
    if (this.sighting(event.id) === undefined) this.#draftIds.set(event.id, event) // the first sighting counts
  }

  /** Call when the draft is durable. */
  commit (): void {
    for (const [stream, state] of this.#draftStates) this.#states.set(stream, state)
    const ids = [...this.#draftIds].slice(-rememberedIds)
    for (const [id, { stream, revision, position }] of ids) this.#ids.set(id, { stream, revision, position })
    this.discard()
  }

  /** Call when the draft was not written. */
  discard (): void {
    this.#draftStates = new Map()
    this.#draftIds = new Map()
  }

  forget (): void {
    this.discard()
    this.#states.clear()
    this.#ids.clear()
  }
}
