// The order of a list: by what its rows are sorted, and how a place in it is written down.

type KeyType = 'timestamptz' | 'bigint' | 'uuid' | 'text'

/** Columns and their types, all in one direction. Together without ties, so that no row is on two pages. */
export interface Order {
  direction: 'ASC' | 'DESC'
  by: Record<string, KeyType>
}

export const orderBy = ({ direction, by }: Order) =>
  Object.keys(by).map((column) => `${column} ${direction}`).join(', ')

/** The columns of the order, and the key, unless it is one of them. */
export const columnsOf = ({ by }: Order, key: string) => [...new Set([key, ...Object.keys(by)])].join(', ')

/** The condition that a row comes behind the one with these values; an index on the columns finds it. */
export function afterKeys ({ direction, by }: Order, values: readonly string[]): string {
  const typed = Object.values(by).map((type, index) => `${values[index]}::${type}`)
  return `(${Object.keys(by).join(', ')}) ${direction === 'DESC' ? '<' : '>'} (${typed.join(', ')})`
}

/** The place of a row: its keys as an array of texts, as they are taken by `afterKeys`. */
export function keysOf ({ by }: Order): string {
  return `json_build_array(${Object.entries(by).map(([column, type]) => textOf(column, type)).join(', ')})`
}

/** A time to the microsecond that Postgres keeps, whatever the session's time zone. */
const textOf = (column: string, type: KeyType) => type === 'timestamptz'
  ? `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
  : `${column}::text`
