// Reads the log: pages of events, single events, and what is durable of a stream.
import { describedBy, type RecordedEvent, type StreamPlace } from '../event.js'
import { pages, Readers } from './pages.js'
import type { Range } from '../range.js'
import type { Storage } from '../table/storage.js'
import { isSoftDeleted, type StreamState } from '../stream-state.js'
import type { Writer } from '../write/writer.js'

/** The database cannot be read at the moment. */
export class LogUnavailable extends Error {}

export interface StreamView extends StreamState {
  /** Never written to or soft-deleted: a reader finds no stream. */
  isMissing: boolean
}

/** Everything that it reads rejects with `LogUnavailable` while Postgres is away. */
export class LogReader {
  readonly #storage: Storage
  readonly #writer: Writer
  readonly #readers = new Readers()

  /** @param writer remembers the states of the streams used lately */
  constructor (storage: Storage, writer: Writer) {
    this.#storage = storage
    this.#writer = writer
  }

  /** What is durable of a stream. */
  async stream (name: string): Promise<StreamView> {
    const described = describedBy(name)
    const target = described === undefined ? undefined : this.#state(described)
    const [own, targets] = await Promise.all([this.#state(name), target])
    const state = targets === undefined ? own : stateOfMetadata(own, targets)
    return { ...state, isMissing: state.last < 0 || isSoftDeleted(state) }
  }

  /** Pages of $all, by position. Between pages nothing is held open. */
  allPages (range: Range, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    const { table, readers } = this.#storage
    return pages(this.#readers, range, wanted, {
      read: (from, to, size) => reading(table.readAll(readers, range.direction, from, to, size)),
      key: (event) => event.position
    })
  }

  /** Pages of a stream, by revision, up to `head` in the log. */
  streamPages (stream: string, range: Range, head: number, wanted = Infinity): AsyncGenerator<RecordedEvent[]> {
    const { table, readers } = this.#storage
    return pages(this.#readers, range, wanted, {
      read: (from, to, size) => reading(table.readStream(readers, stream, range.direction, from, to, head, size)),
      key: (event) => event.revision
    })
  }

  /** Events by stream and revision; what does not exist is left out. */
  eventsAt (targets: readonly StreamPlace[]): Promise<RecordedEvent[]> {
    return reading(this.#storage.table.readEach(this.#storage.readers, targets))
  }

  async #state (stream: string): Promise<StreamState> {
    const { known, epoch } = this.#writer
    const committed = known.committed(stream)
    if (committed !== undefined) return committed
    const state = (await reading(this.#storage.table.states(this.#storage.readers, [stream]))).get(stream)
    if (state === undefined) throw new LogUnavailable('Postgres did not answer for the stream')
    if (this.#writer.epoch === epoch) known.remember(stream, state)
    return state
  }
}

/** Of a stream that holds the metadata of another: one event counts, and a tombstone of the other ends it too. */
function stateOfMetadata (state: StreamState, target: StreamState): StreamState {
  return { ...state, maxCount: 1, isTombstoned: state.isTombstoned || target.isTombstoned }
}

async function reading<T> (result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw new LogUnavailable('Postgres cannot be read at the moment', { cause: error })
  }
}
