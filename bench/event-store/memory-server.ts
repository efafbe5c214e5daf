// The embedded event store with its SQL replaced by memory: what is left is gRPC in this language.
import pg from 'pg'
import { startEventStore } from '@ringledger/embedded-event-store'
import {
  afterEvent, afterMetadata, type Direction, EventTable, metastreamOf, type PageSize, type RecordedEvent,
  type StreamState, untouched
} from '@ringledger/embedded-event-store/storage'

class MemoryTable extends EventTable {
  readonly #events: RecordedEvent[] = []
  readonly #streams = new Map<string, RecordedEvent[]>()

  override async insert (
    _on: unknown, events: readonly RecordedEvent[], untouched: readonly string[] = []
  ): Promise<boolean> {
    if (untouched.some((stream) => this.#streams.has(stream) || this.#streams.has(metastreamOf(stream)))) return false
    for (const { encoded: _left, ...event } of events) { // a row remembers no encoding
      this.#events.push(event)
      const stream = this.#streams.get(event.stream)
      if (stream === undefined) this.#streams.set(event.stream, [event])
      else stream.push(event)
    }
    return true
  }

  override async head (): Promise<number> {
    return this.#events.length
  }

  override async readAll (
    _on: unknown, direction: Direction, from: number, to: number, { events: limit }: PageSize
  ): Promise<RecordedEvent[]> {
    return page(this.#events.slice(Math.max(0, from - 1), to), direction, limit)
  }

  override async readStream (
    _on: unknown, stream: string, direction: Direction, from: number, to: number, head: number,
    { events: limit }: PageSize
  ): Promise<RecordedEvent[]> {
    const events = this.#streams.get(stream) ?? []
    const isAsked = ({ revision, position }: RecordedEvent) => revision >= from && revision <= to && position <= head
    return page(events.filter(isAsked), direction, limit)
  }

  override async readEach (): Promise<RecordedEvent[]> {
    return []
  }

  override async idsOf (): Promise<Map<number, { id: string, position: number }>> {
    return new Map()
  }

  override async states (_on: unknown, streams: readonly string[]): Promise<Map<string, StreamState>> {
    return new Map(streams.map((stream) => {
      const last = this.#streams.get(stream)?.at(-1)
      const metadata = this.#streams.get(metastreamOf(stream))?.at(-1)
      const state = last === undefined ? untouched : afterEvent(untouched, last)
      return [stream, metadata === undefined ? state : afterMetadata(state, metadata)]
    }))
  }
}

function page (events: RecordedEvent[], direction: Direction, limit: number): RecordedEvent[] {
  const ordered = direction === 'forward' ? events : events.reverse()
  return ordered.slice(0, limit).map((event) => ({ ...event })) // as rows do, each read makes its own
}

const never = new Promise<Error>(() => {})
const storage = {
  table: new MemoryTable('none'),
  readers: new pg.Pool(), // neither of the two is ever connected
  openSession: async () => ({ client: new pg.Client(), ended: never })
}
const store = await startEventStore({ databaseUrl: '', storage })
process.stdin.on('close', () => process.exit(0)).resume()
process.stdout.write(`LISTENING ${store.port}\n`)
