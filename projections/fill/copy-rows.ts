// Rows as COPY takes them as text: one string for all, so that they are encoded once.
import type { PoolClient } from 'pg'
import { copyIn } from '../../src/postgres/copy-in.js'
import type { AnyTable, ColumnType } from '../engine/table.js'

/** Inserts rows that are not there. @throws DatabaseError where one is */
export async function copyRows (
  tx: PoolClient, schema: string, { name, columns }: AnyTable, rows: readonly object[]
): Promise<void> {
  if (rows.length === 0) return
  const names = Object.keys(columns)
  const list = names.map((column) => `"${column}"`).join(', ')
  const types = names.map((column) => columns[column])
  let text = ''
  for (const row of rows) {
    let between = ''
    for (let at = 0; at < names.length; at++) {
      text += between + fieldOf(Reflect.get(row, names[at] ?? ''), types[at])
      between = '\t'
    }
    text += '\n'
  }
  await copyIn(tx, `COPY ${schema}.${name} (${list}) FROM STDIN`, Buffer.from(text))
}

function fieldOf (value: unknown, type: ColumnType | undefined): string {
  if (value == null) return '\\N'
  if (type === 'json') return JSON.stringify(value).replaceAll('\\', '\\\\') // control characters are escaped in it
  return typeof value === 'string' ? escaped(value) : String(value)
}

const special = /[\\\n\r\t]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escaped = (text: string) =>
  special.test(text) ? text.replace(/[\\\n\r\t]/g, (found) => escapes[found] ?? found) : text
