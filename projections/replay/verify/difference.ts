// Rows as text, and where two of them differ.
import type { AnyTable } from '../../engine/table.js'

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
