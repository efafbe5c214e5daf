// Compares two generations at the same position: whole tables by a hash, and row by row where the hashes differ.
import type { Pool, PoolClient } from 'pg'
import { schemaOf } from './generations.js'
import type { Projection } from './projection.js'
import type { AnyTable } from './table.js'

export interface Sides {
  /** Its schema is read through this connection, which may hold a snapshot. */
  found: { db: PoolClient, generation: number }
  expected: { db: Pool, generation: number }
}

/** The rows of all tables, and those that differ, `most` at most. */
export async function compareGenerations (
  projection: Projection, sides: Sides, most: number
): Promise<{ rows: number, differences: Difference[] }> {
  let rows = 0
  const differences: Difference[] = []
  for (const table of projection.tables) {
    const [present, next] = await Promise.all([
      hashOf(sides.found.db, schemaOf(projection, sides.found.generation), table),
      hashOf(sides.expected.db, schemaOf(projection, sides.expected.generation), table)
    ])
    rows += next.rows
    if (present.rows === next.rows && present.hash === next.hash) continue
    for await (const difference of differencesOf(projection, table, sides)) {
      if (differences.push(difference) >= most) return { rows, differences }
    }
  }
  return { rows, differences }
}

/** A sum, so that the order of rows does not matter. */
async function hashOf (
  db: Pool | PoolClient, schema: string, { name, columns }: AnyTable
): Promise<{ rows: number, hash: string | null }> {
  const { rows: [found] } = await db.query<{ rows: string, hash: string | null }>(
    `SELECT count(*) AS rows, sum(${hashed(columns)}::numeric) AS hash FROM ${schema}.${name}`)
  return { rows: Number(found?.rows ?? 0), hash: found?.hash ?? null }
}

/** The hash of a row. */
function hashed (columns: AnyTable['columns']): string {
  const list = Object.entries(columns).map(([column, type]) => type === 'json' ? `"${column}"::text` : `"${column}"`)
  return `hash_record_extended(ROW(${list.join(', ')}), 0)`
}

const rowsAtOnce = 2_000

/** Both tables side by side, in the same ranges of the key, of so many rows at most: large ones are loaded alone. */
async function * differencesOf (
  projection: Projection, table: AnyTable, { found, expected }: Sides
): AsyncGenerator<Difference> {
  const sides = [
    new Ranges(found.db, schemaOf(projection, found.generation), table),
    new Ranges(expected.db, schemaOf(projection, expected.generation), table)
  ] as const
  for (let after: string | null = null; ;) {
    const ends: [string | null, string | null] = [await sides[0].end(after), await sides[1].end(after)]
    const upTo = await sides[0].lesser(ends)
    const [ours, theirs] = [await sides[0].hashes(after, upTo), await sides[1].hashes(after, upTo)]
    for (const key of new Set([...ours.keys(), ...theirs.keys()])) {
      if (ours.get(key) === theirs.get(key)) continue
      yield * differing(table, key, await sides[0].row(key), await sides[1].row(key))
    }
    if (upTo === null) return
    after = upTo
  }
}

/** A table in ranges of its key: after one, up to and with another; null is no bound. */
class Ranges {
  readonly #type: string
  readonly #key: string

  constructor (
    private readonly db: Pool | PoolClient, private readonly schema: string, private readonly table: AnyTable
  ) {
    this.#key = `"${table.key}"`
    this.#type = table.columns[table.key] ?? 'text'
  }

  /** The last key of the next range, null when the table ends before. */
  async end (after: string | null): Promise<string | null> {
    const { rows: [last] } = await this.db.query<{ key: string }>(`
      SELECT ${this.#key}::text AS key FROM ${this.schema}.${this.table.name} WHERE ${this.#after('$1')}
      ORDER BY ${this.#key} OFFSET ${rowsAtOnce - 1} LIMIT 1`, [after])
    return last?.key ?? null
  }

  /** In the order that the database has. */
  async lesser (keys: [string | null, string | null]): Promise<string | null> {
    const { rows: [answer] } = await this.db.query<{ key: string | null }>(
      `SELECT least($1::${this.#type}, $2::${this.#type})::text AS key`, keys)
    return answer?.key ?? null
  }

  /** Of each row, by its key. */
  async hashes (after: string | null, upTo: string | null): Promise<Map<string, string>> {
    const { rows } = await this.db.query<{ key: string, hash: string }>(`
      SELECT ${this.#key}::text AS key, ${hashed(this.table.columns)}::text AS hash FROM ${this.schema}.${this.table.name}
      WHERE ${this.#after('$1')} AND ($2::${this.#type} IS NULL OR ${this.#key} <= $2::${this.#type})`, [after, upTo])
    return new Map(rows.map(({ key, hash }) => [key, hash]))
  }

  /** Its columns as text. */
  async row (key: string): Promise<TextRow | undefined> {
    const { rows: [found] } = await this.db.query<TextRow>(`
      SELECT ${asText(this.table)} FROM ${this.schema}.${this.table.name}
      WHERE ${this.#key} = $1::${this.#type}`, [key])
    return found
  }

  #after (parameter: string): string {
    return `(${parameter}::${this.#type} IS NULL OR ${this.#key} > ${parameter}::${this.#type})`
  }
}

export type TextRow = Record<string, string | null>

/** A row that is not what it should be; a side is absent where there is no such row. */
export interface Difference {
  table: string
  key: string
  /** The columns that differ. */
  found?: TextRow | undefined
  expected?: TextRow | undefined
}

/** The select list that makes a row a TextRow. */
export const asText = ({ columns }: AnyTable) => Object.keys(columns).map((column) => `"${column}"::text`).join(', ')

export const byKey = ({ key }: AnyTable, rows: TextRow[]) => new Map(rows.map((row) => [row[key] ?? '', row]))

/** The difference of two rows under the same key, or none. */
export function differing (
  { name }: AnyTable, key: string, found: TextRow | undefined, expected: TextRow | undefined
): Difference[] {
  if (!found || !expected) return [{ table: name, key, found, expected }]
  const columns = Object.keys(found).filter((column) => found[column] !== expected[column])
  const only = (row: TextRow) => Object.fromEntries(columns.map((column) => [column, row[column] ?? null]))
  return columns.length > 0 ? [{ table: name, key, found: only(found), expected: only(expected) }] : []
}

const longestValue = 100

/** One line a row, for people. @param showsValues and not only the columns that differ */
export function describe (
  { table, key, found, expected }: Difference, names: { found: string, expected: string }, showsValues = false
): string {
  if (!found) return `${table} ${key}: only in ${names.expected}`
  if (!expected) return `${table} ${key}: only in ${names.found}`
  const columns = Object.keys(found).map((column) => !showsValues
    ? column
    : `${column} ${short(found[column])} in ${names.found}, ${short(expected[column])} in ${names.expected}`)
  return `${table} ${key}: ${columns.join(showsValues ? '; ' : ', ')}`
}

function short (value: string | null | undefined): string {
  if (value == null) return 'null'
  return value.length > longestValue ? `${value.slice(0, longestValue)}…` : value
}
