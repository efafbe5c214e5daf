// The rows of one batch: loaded once, folded in memory, written back once.
import type { PoolClient } from 'pg'
import type { Rows, RowKey } from './projection.js'
import { keyOf, loadRows, saveRows, type AnyTable, type Key, type Table } from './table.js'

/** Loads every row in `touched`, one statement a table. */
export async function loadTouched (tx: PoolClient, schema: string, touched: Iterable<RowKey>): Promise<BatchRows> {
  const wanted = new Map<AnyTable, Set<Key>>()
  for (const [table, key] of touched) {
    const keys = wanted.get(table) ?? new Set()
    wanted.set(table, keys.add(key))
  }
  const rows = new BatchRows()
  for (const [table, keys] of wanted) {
    for (const row of await loadRows(tx, schema, table, [...keys])) rows.remember(table, row)
  }
  return rows
}

export class BatchRows implements Rows {
  readonly #rows = new Map<AnyTable, Map<Key, object>>()
  /** What each row has become by the events of the batch, one after the other. */
  readonly #versions = new Map<AnyTable, Map<Key, object[]>>()

  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined {
    // Only rows of `table` are ever stored under it.
    return this.#rows.get(table)?.get(key) as Row | undefined
  }

  put<Row extends object> (table: Table<Row>, row: Row): void {
    const key = this.remember(table, row)
    const ofTable = this.#versions.get(table) ?? new Map<Key, object[]>()
    const ofRow = ofTable.get(key) ?? []
    ofRow.push(row)
    this.#versions.set(table, ofTable.set(key, ofRow))
  }

  remember (table: AnyTable, row: object): Key {
    const key = keyOf(table, row)
    const rows = this.#rows.get(table) ?? new Map<Key, object>()
    this.#rows.set(table, rows.set(key, row))
    return key
  }

  /**
   * Writes the rows that were put, in the order of `tables`. Also those that were put again later: whether Postgres takes
   * what an event says must not depend on what else is in its batch.
   */
  async save (tx: PoolClient, schema: string, tables: readonly AnyTable[]): Promise<void> {
    for (const table of tables) {
      const versions = [...this.#versions.get(table)?.values() ?? []]
      const most = Math.max(0, ...versions.map(({ length }) => length))
      for (let nth = 0; nth < most; nth++) await saveRows(tx, schema, table, versions.flatMap((ofRow) => ofRow[nth] ?? []))
    }
  }
}
