// Which rows belong to a sample: decided by a hash of the key, so that rows which are missing are sampled like others.
import { createHash } from 'node:crypto'
import type { PoolClient } from 'pg'
import type { AnyTable, Key } from '../../engine/table.js'
import { asText, byKey, type TextRow } from './difference.js'

export interface SampleSize {
  /** Of each table, about; fewer of large rows. */
  rows: number
  /** The same seed gives the same sample. */
  seed: number
}

/** Of the rows of each table, as text: they are in memory several times while they are compared. */
const mostBytes = 6 * 2 ** 20

const whole = 2 ** 32

export class Sample {
  private constructor (private readonly seed: number, private readonly limits: Map<AnyTable, number>) {}

  /** About as many rows of each table in `schema` as asked for, or all where there are fewer. */
  static async of (
    db: PoolClient, schema: string, tables: readonly AnyTable[], { rows: wanted, seed }: SampleSize
  ): Promise<Sample> {
    const sample = new Sample(seed, new Map())
    for (const table of tables) {
      const { rows: [all] } = await db.query<{ count: string }>(`SELECT count(*) FROM ${schema}.${table.name}`)
      const limit = Math.ceil(whole * Math.min(1, wanted / Math.max(1, Number(all?.count))))
      sample.limits.set(table, limit)
      const bytes = await sample.#bytes(db, schema, table)
      if (bytes > mostBytes) sample.limits.set(table, Math.ceil(limit * mostBytes / bytes))
    }
    return sample
  }

  has (table: AnyTable, key: Key): boolean {
    const limit = this.limits.get(table) ?? 0
    if (limit >= whole) return true
    const hash = createHash('md5').update(this.#salt(table) + String(key)).digest('hex')
    return parseInt(hash.slice(0, 8), 16) < limit
  }

  /** The sampled rows that are in the table, by key. */
  async rows (db: PoolClient, schema: string, table: AnyTable): Promise<Map<string, TextRow>> {
    const { rows } = await db.query<TextRow>(
      `SELECT ${asText(table)} FROM ${schema}.${table.name} WHERE ${isSampled(table)}`, this.#parameters(table))
    return byKey(table, rows)
  }

  async #bytes (db: PoolClient, schema: string, table: AnyTable): Promise<number> {
    const { rows: [found] } = await db.query<{ bytes: string | null }>(
      `SELECT sum(octet_length(t::text)) AS bytes FROM ${schema}.${table.name} t WHERE ${isSampled(table)}`,
      this.#parameters(table))
    return Number(found?.bytes ?? 0)
  }

  #parameters (table: AnyTable): unknown[] {
    return [this.#salt(table), this.limits.get(table)]
  }

  #salt ({ name }: AnyTable): string {
    return `${this.seed} ${name} `
  }
}

const isSampled = ({ key }: AnyTable) => `('x' || left(md5($1 || "${key}"::text), 8))::bit(32)::bigint < $2`
