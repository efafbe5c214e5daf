// Which rows belong to a sample: decided by a hash of the key, so that rows which are missing are sampled like others.
import { createHash } from 'node:crypto'
import type { PoolClient } from 'pg'
import type { AnyTable, Key } from '../../engine/table.js'
import { asText, byKey, type TextRow } from './difference.js'

export interface SampleSize {
  /** Of each table, about. */
  rows: number
  /** The same seed gives the same sample. */
  seed: number
}

export class Sample {
  private constructor (private readonly seed: number, private readonly limits: Map<AnyTable, number>) {}

  /** About as many rows of each table in `schema` as asked for, or all where there are fewer. */
  static async of (
    db: PoolClient, schema: string, tables: readonly AnyTable[], { rows: wanted, seed }: SampleSize
  ): Promise<Sample> {
    const limits = new Map<AnyTable, number>()
    for (const table of tables) {
      const { rows: [all] } = await db.query<{ count: string }>(`SELECT count(*) FROM ${schema}.${table.name}`)
      limits.set(table, Math.ceil(2 ** 32 * Math.min(1, wanted / Math.max(1, Number(all?.count)))))
    }
    return new Sample(seed, limits)
  }

  has (table: AnyTable, key: Key): boolean {
    const limit = this.limits.get(table) ?? 0
    if (limit >= 2 ** 32) return true
    const hash = createHash('md5').update(this.#salt(table) + String(key)).digest('hex')
    return parseInt(hash.slice(0, 8), 16) < limit
  }

  /** The sampled rows that are in the table, by key. */
  async rows (db: PoolClient, schema: string, table: AnyTable): Promise<Map<string, TextRow>> {
    const { rows } = await db.query<TextRow>(`
      SELECT ${asText(table)} FROM ${schema}.${table.name}
      WHERE ('x' || left(md5($1 || "${table.key}"::text), 8))::bit(32)::bigint < $2`,
    [this.#salt(table), this.limits.get(table)])
    return byKey(table, rows)
  }

  #salt ({ name }: AnyTable): string {
    return `${this.seed} ${name} `
  }
}
