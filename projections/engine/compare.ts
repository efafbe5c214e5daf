// Compares a generation with the one that readers see, at one position: whole tables by a hash, rows where it differs.
import type { Pool, PoolClient } from 'pg'
import { inSnapshot } from '../../src/postgres/transaction.js'
import { checkpointOf, schemaOf } from './generations.js'
import type { Projection } from './projection.js'
import type { AnyTable } from './table.js'

export interface Compared {
  /** Against what, in words. */
  how: string
  /** What the two sides are called. */
  found: string
  expected: string
  rows: number
  /** Ten at most; with changed code none. */
  differences: Difference[]
}

interface Generations { active: number, next: number }

const mostDifferences = 10

/**
 * Compares `next`, which the code of now folds, with the `active` generation, whose rows and position a snapshot holds
 * meanwhile. Where other code has folded that one, rows are to differ: they are counted in the columns that both have.
 * @param level brings `next` to the position exactly
 */
export async function compareWithActive (
  projection: Projection, { active, next }: Generations, isSameCode: boolean, pool: Pool,
  level: (position: bigint) => Promise<void>
): Promise<Compared> {
  const names = { found: `generation ${active}`, expected: `generation ${next}` }
  return await inSnapshot(pool, async (snapshot) => {
    const { rows: [row] } = await snapshot.query<{ position: string }>(
      `SELECT position FROM ${checkpointOf(projection, active)}`)
    const position = BigInt(row?.position ?? 0)
    await level(position)
    const sides: Sides = {
      found: { db: snapshot, schema: schemaOf(projection, active) },
      expected: { db: pool, schema: schemaOf(projection, next) }
    }
    const at = `rows of ${names.found} at position ${position}`
    if (isSameCode) return { ...names, how: `all ${at}`, ...await compareRows(projection.tables, sides) }
    const counts = await countDiffering(projection.tables, sides)
    return { ...names, how: `${at}, folded by other code: ${counts.join(', ')}`, rows: 0, differences: [] }
  })
}

interface Side { db: Pool | PoolClient, schema: string }
interface Sides { found: Side, expected: Side }

/** The rows of all tables that are expected, and those that differ, ten at most. */
export async function compareRows (tables: readonly AnyTable[], sides: Sides): Promise<Pick<Compared, 'rows' | 'differences'>> {
  let rows = 0
  const differences: Difference[] = []
  for (const table of tables) {
    const compared = await compareTable(table, sides)
    rows += compared.rows
    for await (const keys of compared.differing) {
      for (const key of keys.slice(0, mostDifferences - differences.length)) {
        const [present, next] = [await rowOf(sides.found, table, key), await rowOf(sides.expected, table, key)]
        differences.push(...differing(table, key, present, next))
      }
      if (differences.length >= mostDifferences) return { rows, differences }
    }
  }
  return { rows, differences }
}

/** In words, by table where any differs. */
async function countDiffering (tables: readonly AnyTable[], sides: Sides): Promise<string[]> {
  const counts: string[] = []
  for (const table of tables) {
    const shared = await sharedColumns(table, sides)
    if (!shared) {
      counts.push(`${table.name} is new`)
      continue
    }
    const { rows, differing } = await compareTable(shared, sides)
    let count = 0
    for await (const keys of differing) count += keys.length
    if (count > 0) counts.push(`${count} of ${rows} rows of ${table.name} differ`)
  }
  return counts.length > 0 ? counts : ['no row differs']
}

/** The table with the columns that both sides have alike; nothing where its key is not among them. */
async function sharedColumns (table: AnyTable, { found, expected }: Sides): Promise<AnyTable | undefined> {
  const { rows } = await expected.db.query<{ name: string }>(`
    SELECT column_name AS name FROM information_schema.columns theirs
    JOIN information_schema.columns ours USING (table_name, column_name, data_type)
    WHERE theirs.table_schema = $1 AND ours.table_schema = $2 AND table_name = $3`,
  [found.schema, expected.schema, table.name])
  const names = new Set(rows.map(({ name }) => name))
  const columns = Object.fromEntries(Object.entries(table.columns).filter(([column]) => names.has(column)))
  return names.has(table.key) ? { ...table, columns } : undefined
}

/** The rows of the generation that is expected, and the keys of those that differ on either side. */
async function compareTable (
  table: AnyTable, sides: Sides
): Promise<{ rows: number, differing: string[][] | AsyncIterable<string[]> }> {
  const [present, next] = await Promise.all([hashOf(sides.found, table), hashOf(sides.expected, table)])
  const isSame = present.rows === next.rows && present.hash === next.hash
  return { rows: next.rows, differing: isSame ? [] : differingKeys(table, sides) }
}

/** A sum, so that the order of rows does not matter. */
async function hashOf (
  { db, schema }: Side, { name, columns }: AnyTable
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
async function * differingKeys (table: AnyTable, { found, expected }: Sides): AsyncGenerator<string[]> {
  const sides = [new Ranges(found, table), new Ranges(expected, table)] as const
  for (let after: string | null = null; ;) {
    const ends: [string | null, string | null] = [await sides[0].end(after), await sides[1].end(after)]
    const upTo = await sides[0].lesser(ends)
    const [ours, theirs] = [await sides[0].hashes(after, upTo), await sides[1].hashes(after, upTo)]
    yield [...new Set([...ours.keys(), ...theirs.keys()])].filter((key) => ours.get(key) !== theirs.get(key))
    if (upTo === null) return
    after = upTo
  }
}

/** A table in ranges of its key: after one, up to and with another; null is no bound. */
class Ranges {
  readonly #type: string
  readonly #key: string
  readonly #from: string

  constructor (private readonly side: Side, private readonly table: AnyTable) {
    this.#key = `"${table.key}"`
    this.#type = table.columns[table.key] ?? 'text'
    this.#from = `${side.schema}.${table.name}`
  }

  /** The last key of the next range, null when the table ends before. */
  async end (after: string | null): Promise<string | null> {
    const { rows: [last] } = await this.side.db.query<{ key: string }>(`
      SELECT ${this.#key}::text AS key FROM ${this.#from} WHERE ${this.#after('$1')}
      ORDER BY ${this.#key} OFFSET ${rowsAtOnce - 1} LIMIT 1`, [after])
    return last?.key ?? null
  }

  /** In the order that the database has. */
  async lesser (keys: [string | null, string | null]): Promise<string | null> {
    const { rows: [answer] } = await this.side.db.query<{ key: string | null }>(
      `SELECT least($1::${this.#type}, $2::${this.#type})::text AS key`, keys)
    return answer?.key ?? null
  }

  /** Of each row, by its key. */
  async hashes (after: string | null, upTo: string | null): Promise<Map<string, string>> {
    const { rows } = await this.side.db.query<{ key: string, hash: string }>(`
      SELECT ${this.#key}::text AS key, ${hashed(this.table.columns)}::text AS hash FROM ${this.#from}
      WHERE ${this.#after('$1')} AND ($2::${this.#type} IS NULL OR ${this.#key} <= $2::${this.#type})`, [after, upTo])
    return new Map(rows.map(({ key, hash }) => [key, hash]))
  }

  #after (parameter: string): string {
    return `(${parameter}::${this.#type} IS NULL OR ${this.#key} > ${parameter}::${this.#type})`
  }
}

/** Its columns as text. */
async function rowOf (
  { db, schema }: Side, { name, key, columns }: AnyTable, value: string
): Promise<TextRow | undefined> {
  const list = Object.keys(columns).map((column) => `"${column}"::text`).join(', ')
  const { rows: [found] } = await db.query<TextRow>(
    `SELECT ${list} FROM ${schema}.${name} WHERE "${key}" = $1::${columns[key]}`, [value])
  return found
}

type TextRow = Record<string, string | null>

/** A row that is not what it should be; a side is absent where there is no such row. */
export interface Difference {
  table: string
  key: string
  /** The columns that differ. */
  found?: TextRow | undefined
  expected?: TextRow | undefined
}

/** The difference of two rows under the same key, or none. */
function differing (
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
