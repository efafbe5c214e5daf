// Reads all rows of a query in key order, in parts of bounded bytes, however many there are.
import type { PoolClient } from 'pg'
import { conditionsOf, type Conditions } from './page.js'

/** SQL text of ours, never input. */
export interface PartsQuery extends Conditions {
  /** Name of the prepared statement that reads a part: planning is a quarter of its time. */
  name?: string
  columns: string
  from: string
  key: string
  /** Sort order, such as `id`: the key itself, perhaps with a collation. */
  order: string
  /** Type of the key, such as `bigint`. */
  type: string
  /** SQL that builds an item as JSON from the row `page`. */
  item: string
}

/** Limit of a part. Parsing it blocks the other requests of this process. */
const mostBytes = 128 * 1024
const mostRows = 500
/** The first FETCH sorts all keys. */
const lookWithinMs = 60_000

/**
 * Passes every match to `visit`, from the snapshot of the transaction. Only keys are sorted; rows are read in parts of
 * at most 128 KiB, but at least one row. If rows are large, it asks for a tenth more than the last part had, so that it
 * reads few in vain.
 * @param visit awaited before the next part is read @throws `signal.reason` between two parts
 */
export async function eachPart<Item> (
  snapshot: PoolClient, query: PartsQuery, visit: (items: Item[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  const { from, key, order } = query
  const values: unknown[] = []
  const conditions = conditionsOf(query, values)
  await snapshot.query(`SET LOCAL statement_timeout = ${lookWithinMs}`)
  const keysOf = `SELECT ${key}::text AS key FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${order}`
  await snapshot.query(`DECLARE matches NO SCROLL CURSOR FOR ${keysOf}`, values)
  const fetch = { text: `FETCH ${mostRows} FROM matches`, query_timeout: lookWithinMs }
  const name = query.name !== undefined && { name: `part-${query.name}` }
  const part = { ...name, text: partOf(query), query_timeout: lookWithinMs }
  let size = 100
  for (;;) {
    signal.throwIfAborted()
    const found = await snapshot.query<{ key: string }>(fetch)
    if (found.rows.length === 0) break
    for (let keys = found.rows.map((row) => row.key); keys.length > 0;) {
      const asked = keys.slice(0, size)
      const { rows } = await snapshot.query<{ item: Item }>({ ...part, values: [asked, mostBytes] })
      if (rows.length === 0) throw new Error(`rows of ${from} vanished within a snapshot`)
      await visit(rows.map(({ item }) => item))
      signal.throwIfAborted()
      keys = keys.slice(rows.length)
      size = Math.min(mostRows, Math.ceil(rows.length < asked.length ? 1.1 * rows.length : 1.5 * size))
    }
  }
  await snapshot.query('CLOSE matches') // the next query of the snapshot declares its own
}

const partOf = ({ columns, from, key, order, type, item }: PartsQuery) => `
  SELECT item FROM (
    SELECT item, n, sum(octet_length(item::text)) OVER (ORDER BY n) AS bytes FROM (
      SELECT ${item} AS item, n FROM (
        SELECT ${columns}, row_number() OVER (ORDER BY ${order}) AS n FROM ${from}
        WHERE ${key} = ANY($1::${type}[])) page OFFSET 0) made) summed
  WHERE bytes <= $2 OR n = 1 ORDER BY n`
