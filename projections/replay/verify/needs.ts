// The rows outside of a sample that its rows depend on, and which of its rows go without too many bytes of them.
import type { Readable } from '../../engine/fold.js'
import type { RowKey } from '../../engine/projection.js'
import type { AnyTable, Key } from '../../engine/table.js'

interface Chosen { has (table: AnyTable, key: Key): boolean }
type Sizes = (table: AnyTable, keys: Key[]) => Promise<Map<string, number>>

/** Of the rows that are needed beside the sample: they are in memory while the log is folded. */
const mostBytes = 6 * 2 ** 20

export class Needs {
  /** Sampled rows, each with what the events read which may change it: others of the sample are among that. */
  readonly #of = new Map<AnyTable, Map<Key, KeySet>>()

  constructor (private readonly sample: Chosen) {}

  add ({ keys }: Readable, changed: RowKey[]): void {
    const isSampled = ([table, key]: RowKey) => this.sample.has(table, key)
    for (const key of [...keys, ...changed].filter(isSampled)) this.#needsOf(key).addAll(keys)
  }

  /** The needed rows, until those beside the sample are too large; the sampled rows that need more are left out. */
  async within (sizes: Sizes): Promise<{ needed: KeySet, leftOut: KeySet }> {
    const found = await this.#sizes(sizes)
    const [needed, leftOut] = [new KeySet(), new KeySet()]
    let bytes = 0
    for (const [table, rows] of this.#of) {
      for (const [key, needs] of rows) {
        const more = needs.entries().filter(([table, key]) => !needed.has(table, key))
        const size = more.reduce((sum, [table, key]) => sum + (found.get(table)?.get(String(key)) ?? 0), 0)
        const fits = bytes + size <= mostBytes
        if (fits) bytes += size
        if (fits) needed.addAll(more)
        else leftOut.addAll([[table, key]])
      }
    }
    return { needed, leftOut }
  }

  async #sizes (sizes: Sizes): Promise<Map<AnyTable, Map<string, number>>> {
    const all = new KeySet()
    for (const rows of this.#of.values()) for (const needs of rows.values()) all.addAll(needs.entries())
    const found = new Map<AnyTable, Map<string, number>>()
    for (const [table, keys] of all.byTable) {
      const beside = [...keys].filter((key) => !this.sample.has(table, key))
      found.set(table, await sizes(table, beside))
    }
    return found
  }

  #needsOf ([table, key]: RowKey): KeySet {
    const ofTable = this.#of.get(table) ?? new Map<Key, KeySet>()
    this.#of.set(table, ofTable)
    const needs = ofTable.get(key) ?? new KeySet()
    ofTable.set(key, needs)
    return needs
  }
}

class KeySet implements Chosen {
  readonly byTable = new Map<AnyTable, Set<Key>>()

  addAll (keys: RowKey[]): void {
    for (const [table, key] of keys) {
      const ofTable = this.byTable.get(table) ?? new Set()
      this.byTable.set(table, ofTable.add(key))
    }
  }

  has (table: AnyTable, key: Key): boolean {
    return this.byTable.get(table)?.has(key) ?? false
  }

  entries (): RowKey[] {
    return [...this.byTable].flatMap(([table, keys]) => [...keys].map((key): RowKey => [table, key]))
  }
}
