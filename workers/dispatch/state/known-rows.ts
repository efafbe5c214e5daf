// Rows by their ids, with the bytes that they take.
import { sizeOf } from '../../../src/log/stored.js'

/** What an entry takes beside its row. */
const entryBytes = 100

interface Entry<Row> { row: Row, bytes: number }

export class KnownRows<Row extends object> {
  readonly #entries = new Map<number, Entry<Row>>()
  #bytes = 0

  has (id: number): boolean {
    return this.#entries.has(id)
  }

  get (id: number): Row | undefined {
    return this.#entries.get(id)?.row
  }

  set (id: number, row: Row): void {
    this.#delete(id) // so that it comes last: the oldest are forgotten first
    const bytes = entryBytes + sizeOf(row)
    this.#entries.set(id, { row, bytes })
    this.#bytes += bytes
  }

  values (): Row[] {
    return Array.from(this.#entries.values(), ({ row }) => row)
  }

  /** Forgets the oldest until the others fit. @returns the bytes of those */
  shrinkTo (mostBytes: number): number {
    for (const id of this.#entries.keys()) {
      if (this.#bytes <= mostBytes) break
      this.#delete(id)
    }
    return this.#bytes
  }

  #delete (id: number): void {
    this.#bytes -= this.#entries.get(id)?.bytes ?? 0
    this.#entries.delete(id)
  }
}

export const idsByTable = () =>
  ({ assistants: new Set<number>(), leads: new Set<number>(), campaigns: new Set<number>() })
