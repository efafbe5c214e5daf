// Remembers what streams were folded to, so that a command reads only the tail of its stream.
import { sizeOf } from '../event-store/size.js'
import type { Folded } from './folded-stream.js'

interface Entry {
  folded: Folded<unknown>
  bytes: number
}

/** About what an entry takes besides its state: two strings, two numbers, a place in a map. */
const entryBytes = 400

/**
 * Bounded by bytes, because users decide how large a state is. The least recently used stream goes first. An old entry
 * is harmless: each append names its exact revision.
 */
export class StreamCache {
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor (private readonly mostBytes: number) {}

  /** About what is remembered, in bytes of memory. */
  get bytes (): number {
    return this.#bytes
  }

  has (stream: string): boolean {
    return this.#entries.has(stream)
  }

  /** A use of it. A key names the stream and what folds it, so what is found has the state of that. */
  get<State> (stream: string): Folded<State> | undefined {
    const entry = this.#entries.get(stream)
    if (!entry) return undefined
    this.#entries.delete(stream)
    this.#entries.set(stream, entry)
    return entry.folded as Folded<State>
  }

  set (stream: string, folded: Folded<unknown>): void {
    this.delete(stream)
    const bytes = entryBytes + sizeOf(folded.state)
    if (bytes > this.mostBytes) return
    this.#entries.set(stream, { folded, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.mostBytes) return
      this.delete(oldest)
    }
  }

  delete (stream: string): void {
    this.#bytes -= this.#entries.get(stream)?.bytes ?? 0
    this.#entries.delete(stream)
  }
}

/** Where what a stream adds up to is remembered: once for each aggregate that folds it. */
export const keyOf = ({ stream, aggregate: { part } }: { stream: string, aggregate: { part?: string } }): string =>
  part === undefined ? stream : `${stream} ${part}`
