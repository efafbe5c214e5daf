// A read-model table: its columns, and how rows of it are loaded and written in bulk.
import type { Pool, PoolClient } from 'pg'

type ColumnType = 'bigint' | 'integer' | 'text' | 'boolean' | 'timestamptz' | 'json'
export type Key = number | string

export interface AnyTable {
  name: string
  key: string
  columns: Record<string, ColumnType>
  /** Index definitions without CREATE INDEX, for instance `(user_id, id DESC)`. */
  indexes?: string[]
  /** Readers do not see it: it only serves the fold. */
  internal?: boolean
  /** JSON keeps escapes that Postgres has no text for, as only the fold reads it. */
  isVerbatim?: boolean
}

/** A table whose rows have the type `Row`. */
export interface Table<Row> extends AnyTable {
  /** Never set: carries the type. */
  readonly rowType?: Row
}

export type RowOf<Of> = Of extends Table<infer Row> ? Row : never

declare const values: unique symbol
/** A column whose values have another type than the default for its SQL type. */
type Typed<Value> = ColumnType & { readonly [values]: Value }
type Column = ColumnType | Typed<unknown>
/** Times are ISO 8601. */
interface ValuesOf extends Record<'bigint' | 'integer', number>, Record<'text' | 'timestamptz', string> {
  boolean: boolean
  json: unknown
}
type ValueOf<Of> = Of extends Typed<infer Value> ? Value : Of extends keyof ValuesOf ? ValuesOf[Of] : never

export const typed = <Value>(type: ColumnType) => type as Typed<Value>
export const orNull = <const Of extends Column>(column: Of) => column as Typed<ValueOf<Of> | null>

/** Defines a table; its columns say what its rows are. */
export function table<const Columns extends Record<string, Column>> (
  definition: Omit<AnyTable, 'columns'> & { key: keyof Columns, columns: Columns }
): Table<{ -readonly [name in keyof Columns]: ValueOf<Columns[name]> }> {
  return definition
}

export const keyOf = (table: AnyTable, row: object): Key => Reflect.get(row, table.key)

/** DDL of the table in a generation's schema, with its key alone; both names are ours, never input. */
export function createTable (schema: string, { name, key, columns }: AnyTable): string {
  const columnList = Object.entries(columns).map(([column, type]) => `"${column}" ${type}`).join(', ')
  return `CREATE TABLE ${schema}.${name} (${columnList}, PRIMARY KEY ("${key}"))`
}

/**
 * DDL of its indexes, which may be repeated. A partial index of words gets no statistics: once it has no row, ANALYZE
 * keeps the former sample, with words of persons who were erased since.
 */
export function createIndexes (schema: string, { name, indexes = [] }: AnyTable): string[] {
  return indexes.flatMap((index, at) => {
    const create = `CREATE INDEX IF NOT EXISTS ${name}_${at + 1} ON ${schema}.${name} ${index}`
    const isOfWords = /^USING gin .* WHERE /s.test(index)
    return isOfWords ? [create, `ALTER INDEX ${schema}.${name}_${at + 1} ALTER 1 SET STATISTICS 0`] : create
  })
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

/**
 * SQL that inserts new rows, with one parameter for each column.
 * @param after how many parameters come before those
 * @param condition a relation that has one row, or none when nothing is to be written
 */
export function insert (schema: string, { name, columns }: AnyTable, after = 0, condition?: string): string {
  return `
    INSERT INTO ${schema}.${name} (${namesOf(columns)})
    SELECT changed.* FROM ${condition ? `${condition}, ` : ''}${relation({ columns }, after)} AS changed`
}

export const namesOf = (columns: AnyTable['columns']) => Object.keys(columns).map((column) => `"${column}"`).join(', ')

/** SQL that makes rows of the parameters that `columnsOf` gives. */
export const relation = ({ columns }: Pick<AnyTable, 'columns'>, after = 0): string =>
  `unnest(${Object.values(columns).map((type, index) => hidden(after + index + 1, type)).join(', ')})`

/** Like `insert`, but replaces rows that exist. */
export function upsert (schema: string, table: AnyTable, after?: number, condition?: string): string {
  const { key, columns } = table
  const changing = Object.keys(columns).filter((column) => column !== key)
  const updates = changing.map((column) => `"${column}" = excluded."${column}"`).join(', ')
  return `${insert(schema, table, after, condition)}
    ON CONFLICT ("${key}") DO ${updates ? `UPDATE SET ${updates}` : 'NOTHING'}`
}

/** The parameters of `insert` and `upsert`: how every value of a row is encoded. */
export function columnsOf ({ columns, isVerbatim }: AnyTable, rows: object[]): unknown[] {
  const jsonOf = isVerbatim ? JSON.stringify : readableJson
  return Object.entries(columns).map(([column, type]) => {
    const encode = type === 'json' ? jsonOf : type === 'text' ? readable : (value: unknown) => value
    return rows.map((row) => {
      const value: unknown = Reflect.get(row, column)
      return value == null ? null : encode(value)
    })
  })
}

/**
 * The array parameter `$nth` in a subquery, which hides its length from the planner. If Postgres saw the length, it
 * would plan each execution anew, which takes longer than the rest.
 */
export const hidden = (nth: number, type: string) => `(SELECT $${nth}::${type}[])`

/** Postgres text cannot hold NUL. UTF-8 encoding turns half of a surrogate pair into U+FFFD anyway. */
const readable = (text: unknown) => String(text).replaceAll('\0', '\ufffd')

/** What no query of Postgres can read: NUL, and half of a surrogate pair. JSON.stringify escapes both. */
const unreadable = /\\u(?:0000|d[89a-f][0-9a-f]{2})/

/** JSON that every query can read: what Postgres has no text for is U+FFFD, as in columns of text. */
function readableJson (value: unknown): string {
  const json = JSON.stringify(value)
  if (!unreadable.test(json)) return json
  const text = json.replace(/\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g, (escape) => unreadable.test(escape) ? '\ufffd' : escape)
  return JSON.stringify(JSON.parse(text)) // keys that are one now are there once, as when the row is read
}

/** A time of a row. Postgres writes `…+00:00` and leaves out zero fractions; ours end in milliseconds and Z. */
export const iso = (time: string) => new Date(time).toISOString()
