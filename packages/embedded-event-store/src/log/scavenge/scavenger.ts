// Removes what nobody can read any more, part by part, between the appends of others.
import { randomUUID } from 'node:crypto'
import { describedBy, metastreamOf } from '../event.js'
import type { StreamState } from '../stream-state.js'
import type { Storage } from '../table/storage.js'
import type { Writer } from '../write/writer.js'
import { ScavengeHistory, type Scavenged } from './history.js'
import { removableOf, type Removable } from '../table/removable.js'

/** How many streams one statement looks at, and how many events one removes while appends wait. */
const most = { streams: 500, events: 500 }
/** How many positions are looked through for tombstones at once. */
const positionsAtOnce = 20_000

export interface StartedScavenge {
  id: string
  /** Never rejects. */
  done: Promise<Scavenged>
}

export class Scavenger {
  readonly #storage: Storage
  readonly #writer: Writer
  readonly #onRemoved: (positions: ReadonlySet<number>) => void
  #running: StartedScavenge | undefined
  /** Up to here in the log, every stream that has a tombstone has been scavenged. */
  #tombstonesUpTo = 0

  constructor (storage: Storage, writer: Writer, onRemoved: (positions: ReadonlySet<number>) => void) {
    this.#storage = storage
    this.#writer = writer
    this.#onRemoved = onRemoved
  }

  /** The one that is under way. */
  get running (): StartedScavenge | undefined { return this.#running }

  /** Begins, unless one is under way. @param nodeEndpoint is told in the log, as EventStoreDB does */
  start (nodeEndpoint: string): StartedScavenge {
    if (this.#running !== undefined) return this.#running
    const id = randomUUID()
    const history = new ScavengeHistory((request) => this.#writer.write(request), id, nodeEndpoint)
    const done = this.#run(history).finally(() => { this.#running = undefined })
    return this.#running = { id, done }
  }

  async #run (history: ScavengeHistory): Promise<Scavenged> {
    const began = performance.now()
    const removed = { events: 0, bytes: 0 }
    const ended = (how: Pick<Scavenged, 'result' | 'error'>): Scavenged =>
      ({ ...how, ...removed, tookMs: performance.now() - began })
    const before = await history.started()
    if (before === undefined) return ended({ result: 'Failed', error: 'there is no Postgres to write to' })
    const scavenged = await this.#removeAll(before, removed).then(
      () => ended({ result: 'Success' }),
      (error: unknown) => ended({ result: 'Failed', error: error instanceof Error ? error.message : String(error) }))
    await history.completed(scavenged)
    return scavenged
  }

  /** Everything that is due at this position. What is due later waits for the next scavenge. */
  async #removeAll (before: number, removed: { events: number, bytes: number }): Promise<void> {
    for await (const streams of this.#candidates(before)) {
      const { table, removals, readers } = this.#storage
      const removables = removablesOf(streams, await table.states(readers, withTargets(streams)))
      const due = await removals.due(readers, removables, before)
      for (let isMore = due.length > 0; isMore;) {
        const { positions, bytes } = await this.#remove(due, before)
        removed.events += positions.length
        removed.bytes += bytes
        isMore = positions.length === most.events
      }
    }
    this.#tombstonesUpTo = before
  }

  /** The metadata may have changed since: nothing is appended while this is decided and done. */
  async #remove (streams: readonly string[], before: number) {
    return await this.#writer.alone(async (client) => {
      const { table, removals } = this.#storage
      const removables = removablesOf(streams, await table.states(client, withTargets(streams)))
      const removed = await removals.remove(client, removables, before, most.events)
      this.#onRemoved(new Set(removed.positions))
      return removed
    })
  }

  /** The streams that have metadata or a tombstone, and their metadata. */
  async * #candidates (before: number): AsyncGenerator<string[]> {
    const { removals, readers } = this.#storage
    for (let after = ''; ;) {
      const metastreams = await removals.metastreams(readers, after, most.streams)
      const last = metastreams.at(-1)
      if (last === undefined) break
      after = last
      yield metastreams.flatMap((stream) => [stream, ...targetOf(stream)])
    }
    for (let after = this.#tombstonesUpTo; after < before; after += positionsAtOnce) {
      const gone = await removals.tombstoned(readers, after, Math.min(after + positionsAtOnce, before))
      if (gone.length > 0) yield gone.flatMap((stream) => [stream, metastreamOf(stream)])
    }
  }
}

/** Streams of metadata are judged by the streams that they describe. */
function withTargets (streams: readonly string[]): string[] {
  return [...new Set(streams.flatMap((stream) => [stream, ...targetOf(stream)]))]
}

function removablesOf (streams: readonly string[], states: ReadonlyMap<string, StreamState>): Removable[] {
  return streams.flatMap((stream) => {
    const state = states.get(stream)
    return state ? [removableOf(stream, state, states.get(describedBy(stream) ?? ''))] : []
  })
}

function targetOf (stream: string): string[] {
  const target = describedBy(stream)
  return target === undefined || target === '' ? [] : [target]
}
