// A read-model table: its columns, and how rows of it are loaded and written in bulk.
import type { Pool, PoolClient } from 'pg'

export type ColumnType = 'bigint' | 'integer' | 'text' | 'boolean' | 'timestamptz' | 'json'
export type Key = number | string

export interface AnyTable {
  name: string
  key: string
  columns: Record<string, ColumnType>
  /** Index definitions without CREATE INDEX, for instance `(user_id, id DESC)`. */
  indexes?: string[]
  /** Readers do not see it: it only serves the fold. */
  internal?: boolean
  /** An event that puts a row without reading it nearly always puts a new one. */
  isMostlyNew?: boolean
}

/** A table whose rows have the type `Row`. */
export interface Table<Row> extends AnyTable {
  /** Never set: carries the type. */
  readonly rowType?: Row
}

/** Defines a table; the compiler holds key and columns to the row type. */
export function table<Row extends object> (
  definition: AnyTable & { key: keyof Row, columns: Record<keyof Row, ColumnType> }): Table<Row> {
  return definition
}

export const keyOf = (table: AnyTable, row: object): Key => Reflect.get(row, table.key)

/** DDL of the table in a generation's schema, with its key alone; both names are ours, never input. */
export function createTable (schema: string, { name, key, columns }: AnyTable): string {
  const columnList = Object.entries(columns).map(([column, type]) => `"${column}" ${type}`).join(', ')
  return `CREATE TABLE ${schema}.${name} (${columnList}, PRIMARY KEY ("${key}"))`
}

/** DDL of its indexes, one statement each, that does nothing where the index is there already. */
export function createIndexes (schema: string, { name, indexes = [] }: AnyTable): string[] {
  return indexes.map((index, at) => `CREATE INDEX IF NOT EXISTS ${name}_${at + 1} ON ${schema}.${name} ${index}`)
}

/**
 * The rows with these keys, or nothing when they are longer than `mostBytes` together. `row_to_json` gives ids as
 * numbers, times as ISO 8601 and json columns as they were written.
 */
export async function loadRows (
  tx: PoolClient | Pool, schema: string, { name, key, columns }: AnyTable, keys: Key[], mostBytes = Infinity
): Promise<object[] | undefined> {
  const { rows } = await tx.query<{ row: object | null }>({
    name: `load-${schema}-${name}`,
    text: `
    SELECT CASE WHEN sum(octet_length(row::text)) OVER (ROWS UNBOUNDED PRECEDING) <= $2 THEN row END AS row
    FROM (SELECT row_to_json(t) AS row FROM ${schema}.${name} t WHERE "${key}" = ANY($1::${columns[key]}[])) found`,
    values: [keys, Number.isFinite(mostBytes) ? mostBytes : Number.MAX_SAFE_INTEGER]
  })
  const loaded = rows.flatMap(({ row }) => row ?? [])
  return loaded.length === rows.length ? loaded : undefined
}

/** Inserts or replaces rows, one statement for all of them. */
export async function saveRows (tx: PoolClient, schema: string, table: AnyTable, rows: object[]): Promise<void> {
  if (rows.length > 0) await tx.query(upsert(schema, table), columnsOf(table, rows))
}

/**
 * SQL that inserts rows which are not there, a parameter for each column.
 * @param after how many parameters come before those
 * @param condition a relation that has one row, or none when nothing is to be written
 */
export function insert (schema: string, { name, columns }: AnyTable, after = 0, condition?: string): string {
  const names = Object.keys(columns)
  const list = names.map((column) => `"${column}"`).join(', ')
  const arrays = names.map((column, index) => `$${after + index + 1}${castOf(columns[column])}`).join(', ')
  return `
    INSERT INTO ${schema}.${name} (${list})
    SELECT changed.* FROM ${condition ? `${condition}, ` : ''}unnest(${arrays}) AS changed`
}

/** SQL that inserts rows or replaces those that are there, as `insert` is. */
export function upsert (schema: string, table: AnyTable, after?: number, condition?: string): string {
  const { key, columns } = table
  const changing = Object.keys(columns).filter((column) => column !== key)
  const updates = changing.map((column) => `"${column}" = excluded."${column}"`).join(', ')
  return `${insert(schema, table, after, condition)}
    ON CONFLICT ("${key}") DO ${updates ? `UPDATE SET ${updates}` : 'NOTHING'}`
}

/** The parameters of `insert` and `upsert`. */
export const columnsOf = ({ columns }: AnyTable, rows: object[]): unknown[] => Object.keys(columns).map((column) =>
  arrayOf(rows.map((row): unknown => Reflect.get(row, column)), columns[column]))

/** Times are sent as text. */
const castOf = (type: ColumnType | undefined) => `${type === 'timestamptz' ? '::text[]' : ''}::${type}[]`

/** A parameter with a column's values. */
function arrayOf (values: unknown[], type: ColumnType | undefined): unknown {
  switch (type) {
    case 'json': return textArray(values.map((value) => value == null ? null : JSON.stringify(value)), 'json')
    case 'text':
    case 'timestamptz': return textArray(values.map((value) => value == null ? null : String(value)), 'text')
    default: return values
  }
}

/** A time of a row. Postgres writes `…+00:00` and leaves out zero fractions; ours end in milliseconds and Z. */
export const iso = (time: string) => new Date(time).toISOString()

/** `text[]` or, with the other element type, `json[]`; to be sent as a parameter. */
export function textArray (texts: ReadonlyArray<string | null>, element: 'text' | 'json'): Buffer {
  let bytes = headBytes
  for (const text of texts) bytes += 4 + (text === null ? 0 : Buffer.byteLength(text))
  const array = Buffer.allocUnsafe(bytes)
  const hasNulls = texts.includes(null) ? 1 : 0
  const head = [1, hasNulls, oids[element], texts.length, 1] // dimensions, nulls, type, length, first index
  let at = 0
  for (const field of head) at = array.writeInt32BE(field, at)
  for (const text of texts) {
    const length = text === null ? -1 : array.write(text, at + 4)
    array.writeInt32BE(length, at)
    at += 4 + Math.max(0, length)
  }
  return array
}

const headBytes = 20
/** https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const oids = { text: 25, json: 114 }
