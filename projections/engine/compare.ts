// Compares a generation with the one that readers see, at one position: first whole tables by hash, then rows.
import type { Pool, PoolClient } from 'pg'
import { inSnapshot } from '../../src/postgres/transaction.js'
import { checkpointOf, schemaOf } from './generations.js'
import type { Projection } from './projection.js'
import type { AnyTable } from './table.js'

export interface Compared {
  /** For people: what was compared. */
  how: string
  /** Names of the two sides. */
  found: string
  expected: string
  rows: number
  /** Ten at most; with changed code none. */
  differences: Difference[]
}

interface Generations { active: number, next: number }

const mostDifferences = 10

/**
 * Compares `next`, which the present code folds, with a snapshot of the `active` generation. If other code folded that
 * one, differences are expected: then it only counts the rows that differ in columns that both have.
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

/** @returns the number of expected rows, and at most ten that differ */
export async function compareRows (tables: readonly AnyTable[], sides: Sides): Promise<Pick<Compared, 'rows' | 'differences'>> {
  let rows = 0
  const differences: Difference[] = []
  for (const table of tables) {
    const compared = await compareTable(table, sides, mostDifferences - differences.length)
    rows += compared.rows
    for (const key of compared.keys.slice(0, mostDifferences - differences.length)) {
      const [present, next] = [await rowOf(sides.found, table, key), await rowOf(sides.expected, table, key)]
      differences.push(...differing(table, key, present, next))
    }
    if (differences.length >= mostDifferences) break
  }
  return { rows, differences }
}

/** One phrase for each table that differs. */
async function countDiffering (tables: readonly AnyTable[], sides: Sides): Promise<string[]> {
  const counts: string[] = []
  for (const table of tables) {
    const shared = await sharedColumns(table, sides)
    if (!shared) {
      counts.push(`${table.name} is new`)
      continue
    }
    const { rows, count } = await compareTable(shared, sides)
    if (count > 0) counts.push(`${count} of ${rows} rows of ${table.name} differ`)
  }
  return counts.length > 0 ? counts : ['no row differs']
}

/** The table with only the columns that both sides have; nothing if its key is not among them. */
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

const rowsAtOnce = 2_000

/**
 * Compares hashes of rows in ranges of keys, so that it never loads many large rows at once.
 * @param enough stops once it has found so many keys
 * @returns how many rows `expected` has, how many differ on either side, and the keys of some of those
 */
async function compareTable (
  table: AnyTable, sides: Sides, enough = Infinity
): Promise<{ rows: number, count: number, keys: string[] }> {
  const [present, next] = await Promise.all([hashOf(sides.found, table), hashOf(sides.expected, table)])
  const differing = { rows: next.rows, count: 0, keys: [] as string[] }
  if (present.rows === next.rows && present.hash === next.hash) return differing
  const { name, key, columns } = table
  const type = columns[key]
  const hashes = (side: Side) => `
    SELECT "${key}"::text AS key, ${hashed(columns)}::text AS hash FROM ${side.schema}.${name}
    WHERE ($1::${type} IS NULL OR "${key}" > $1::${type})`
  for (let after: string | null = null; ;) {
    const { rows: range }: { rows: Array<{ key: string, hash: string }> } = await sides.found.db.query(
      `${hashes(sides.found)} ORDER BY "${key}" LIMIT ${rowsAtOnce}`, [after])
    const upTo: string | null = range[rowsAtOnce - 1]?.key ?? null
    const { rows: [found] } = await sides.expected.db.query<{ count: number, keys: string[] }>(`
      WITH differing AS MATERIALIZED (
        SELECT key FROM unnest($3::text[], $4::text[]) AS range (key, hash)
        FULL JOIN (${hashes(sides.expected)} AND ($2::${type} IS NULL OR "${key}" <= $2::${type})) theirs USING (key)
        WHERE range.hash IS DISTINCT FROM theirs.hash)
      SELECT (SELECT count(*)::int FROM differing) AS count, ARRAY(SELECT key FROM differing LIMIT ${mostDifferences}) AS keys`,
    [after, upTo, range.map((row) => row.key), range.map((row) => row.hash)])
    differing.count += found?.count ?? 0
    differing.keys.push(...found?.keys ?? [])
    if (upTo === null || differing.keys.length >= enough) return differing
    after = upTo
  }
}

/** A sum, so that the order of rows does not matter. */
async function hashOf (
  { db, schema }: Side, { name, columns }: AnyTable
): Promise<{ rows: number, hash: string | null }> {
  const { rows: [found] } = await db.query<{ rows: string, hash: string | null }>(
    `SELECT count(*) AS rows, sum(${hashed(columns)}::numeric) AS hash FROM ${schema}.${name}`)
  return { rows: Number(found?.rows ?? 0), hash: found?.hash ?? null }
}

function hashed (columns: AnyTable['columns']): string {
  const list = Object.entries(columns).map(([column, type]) => type === 'json' ? `"${column}"::text` : `"${column}"`)
  return `hash_record_extended(ROW(${list.join(', ')}), 0)`
}

async function rowOf (
  { db, schema }: Side, { name, key, columns }: AnyTable, value: string
): Promise<TextRow | undefined> {
  const list = Object.keys(columns).map((column) => `"${column}"::text`).join(', ')
  const { rows: [found] } = await db.query<TextRow>(
    `SELECT ${list} FROM ${schema}.${name} WHERE "${key}" = $1::${columns[key]}`, [value])
  return found
}

type TextRow = Record<string, string | null>

/** A row that differs. A side that has no such row is absent. */
interface Difference {
  table: string
  key: string
  /** The columns that differ. */
  found?: TextRow | undefined
  expected?: TextRow | undefined
}

function differing (
  { name }: AnyTable, key: string, found: TextRow | undefined, expected: TextRow | undefined
): Difference[] {
  if (!found || !expected) return [{ table: name, key, found, expected }]
  const columns = Object.keys(found).filter((column) => found[column] !== expected[column])
  const only = (row: TextRow) => Object.fromEntries(columns.map((column) => [column, row[column] ?? null]))
  return columns.length > 0 ? [{ table: name, key, found: only(found), expected: only(expected) }] : []
}

const longestValue = 100

/** One line for people. @param showsValues values too, not only the names of columns that differ */
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
