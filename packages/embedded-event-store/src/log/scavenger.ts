// Removes hidden events in small batches between appends. Reports its start and end in the log, with the streams and
// event types of EventStoreDB.
import { randomUUID } from 'node:crypto'
import { describedBy, metastreamOf, tombstoneRevision } from './event.js'
import { any, noStream } from './plan.js'
import type { Storage } from './session.js'
import { firstVisible, type StreamState } from './stream-state.js'
import type { Queryable, Removable } from './table.js'
import type { Writer } from './writer.js'

/** Streams checked by one statement, and events removed by one while appends wait. */
const most = { streams: 500, events: 500 }
/** Positions searched for tombstones by one statement. */
const positionsAtOnce = 20_000

const allScavenges = '$scavenges'
/** 30 days, the default of EventStoreDB. */
const keptSeconds = 30 * 24 * 3600

interface About { scavengeId: string, nodeEndpoint: string }

export class Scavenger {
  #running: string | undefined
  /** Every stream with a tombstone up to this position has been scavenged. */
  #tombstonesUpTo = 0

  constructor (
    private readonly storage: Storage, private readonly writer: Writer,
    private readonly onRemoved: (positions: ReadonlySet<number>) => void
  ) {}

  /** Starts a scavenge, or returns the id of the running one. @param nodeEndpoint as EventStoreDB logs it */
  start (nodeEndpoint: string): { id: string, isNew: boolean } {
    if (this.#running !== undefined) return { id: this.#running, isNew: false }
    const id = this.#running = randomUUID()
    void this.#run({ scavengeId: id, nodeEndpoint }).finally(() => { this.#running = undefined })
    return { id, isNew: true }
  }

  /** Never rejects. */
  async #run (about: About): Promise<void> {
    const began = performance.now()
    const removed = { events: 0, bytes: 0 }
    const before = await this.#tell(about, '$scavengeStarted', {}, 0)
    for (const stream of [streamOf(about), allScavenges]) {
      const kept = JSON.stringify({ $maxAge: keptSeconds })
      await this.#append(metastreamOf(stream), '$metadata', kept, noStream) // unless it already has metadata
    }
    if (before === undefined) return // Postgres is away
    const how = await this.#removeAll(before, removed).then(
      () => ({ result: 'Success' }),
      (error: unknown) => ({ result: 'Failed', error: error instanceof Error ? error.message : String(error) }))
    const timeTaken = new Date(Math.round(performance.now() - began)).toISOString().slice(11, -1)
    const { bytes: spaceSaved, events: eventsRemoved } = removed
    await this.#tell(about, '$scavengeCompleted', { ...how, timeTaken, spaceSaved, eventsRemoved }, 1)
  }

  /** @returns the position of the event; undefined when it could not be written */
  async #tell (about: About, type: string, more: object, revision: number): Promise<number | undefined> {
    const stream = streamOf(about)
    const position = await this.#append(stream, type, JSON.stringify({ ...about, ...more }))
    if (position !== undefined) await this.#append(allScavenges, '$>', `${revision}@${stream}`)
    return position
  }

  async #append (stream: string, type: string, data: string, expected = any): Promise<number | undefined> {
    const content = { data: Buffer.from(data), metadata: new Uint8Array() }
    const event = { id: randomUUID(), type, isJson: type !== '$>', ...content }
    const outcome = await this.writer.write({ action: 'append', stream, expected, events: [event] })
    return outcome.kind === 'written' ? outcome.position : undefined
  }

  /** Removes all events due at this position. Later ones wait for the next scavenge. */
  async #removeAll (before: number, removed: { events: number, bytes: number }): Promise<void> {
    const { table, readers } = this.storage
    for await (const streams of this.#candidates(before)) {
      const due = await table.due(readers, await this.#removables(readers, streams), before)
      for (let isMore = due.size > 0; isMore;) {
        const { positions, bytes } = await this.#remove(due, before)
        removed.events += positions.length
        removed.bytes += bytes
        isMore = positions.length === most.events
      }
    }
    this.#tombstonesUpTo = before
  }

  /**
   * Checks the metadata again, as it may have changed. Runs while the writer decides and appends nothing, so it looks
   * no further than what was due.
   */
  async #remove (due: ReadonlyMap<string, number>, before: number) {
    return await this.writer.alone(async (client) => {
      const removables = (await this.#removables(client, [...due.keys()]))
        .map((removable) => ({ ...removable, end: Math.min(removable.end, due.get(removable.stream) ?? 0) }))
      const removed = await this.storage.table.remove(client, removables, before, most.events)
      this.onRemoved(new Set(removed.positions))
      return removed
    })
  }

  /** The state of the described stream decides what is removable of its metadata stream. */
  async #removables (on: Queryable, streams: readonly string[]): Promise<Removable[]> {
    const states = await this.storage.table.states(on, [...new Set(streams.flatMap(withTarget))])
    return streams.flatMap((stream) => {
      const state = states.get(stream)
      return state ? [removableOf(stream, state, states.get(describedBy(stream) ?? ''))] : []
    })
  }

  /** Streams that have metadata or a tombstone, and their metadata streams. */
  async * #candidates (before: number): AsyncGenerator<string[]> {
    const { table, readers } = this.storage
    for (let after = ''; ;) {
      const metastreams = await table.metastreams(readers, after, most.streams)
      const last = metastreams.at(-1)
      if (last === undefined) break
      after = last
      yield metastreams.flatMap(withTarget)
    }
    for (let after = this.#tombstonesUpTo; after < before; after += positionsAtOnce) {
      const gone = await table.tombstoned(readers, after, Math.min(after + positionsAtOnce, before))
      if (gone.length > 0) yield gone.flatMap((stream) => [stream, metastreamOf(stream)])
    }
  }
}

const streamOf = ({ scavengeId }: About) => `${allScavenges}-${scavengeId}`

function withTarget (stream: string): string[] {
  const target = describedBy(stream)
  return target === undefined || target === '' ? [stream] : [stream, target]
}

/**
 * The last event always stays, as the next revision continues from it.
 * @param target the state of the stream that a metadata stream describes
 */
function removableOf (stream: string, state: StreamState, target: StreamState | undefined): Removable {
  const all = (end: number) => ({ stream, end, before: end, created: 0 })
  const isMetadata = describedBy(stream) !== undefined
  // A tombstoned stream keeps only its tombstone, and none of its metadata.
  if (isMetadata && target?.isTombstoned) return all(Infinity)
  if (state.isTombstoned) return all(tombstoneRevision)
  const before = Math.min(isMetadata ? state.last : firstVisible(state), state.last)
  if (state.maxAge === Infinity) return all(before)
  return { stream, end: state.last, before, created: Date.now() - state.maxAge * 1000 }
}
