// All rows of a query by their key, in parts of bounded bytes, however many there are.
import type { PoolClient } from 'pg'
import { conditionsOf, type Conditions } from './page.js'

/** All of it is text of ours. */
export interface PartsQuery extends Conditions {
  columns: string
  from: string
  key: string
  /** What rows are sorted by, such as `id`: the key itself, perhaps with a collation. */
  order: string
  /** Of the key, such as `bigint`. */
  type: string
  /** What an item is made of, as JSON, from the row `page`. */
  item: string
}

const mostBytes = 2 ** 20
const mostRows = 500
/** A part is 1 MiB. The first look at keys sorts all of them. */
const lookWithinMs = 60_000

/**
 * Hands on every match, from the snapshot of the transaction. Keys alone are sorted; rows are read part by part, each
 * of at most 1 MiB, but of one row at least.
 * @param visit awaited before the next part is read @throws `signal.reason` between two parts
 */
export async function eachPart<Item> (
  snapshot: PoolClient, query: PartsQuery, visit: (items: Item[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  const { from, key, order } = query
  const values: unknown[] = []
  const conditions = conditionsOf(query, values)
  await snapshot.query(`SET LOCAL statement_timeout = ${lookWithinMs}`)
  const keys = `SELECT ${key}::text AS key FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${order}`
  await snapshot.query(`DECLARE matches NO SCROLL CURSOR FOR ${keys}`, values)
  const fetch = { text: `FETCH ${mostRows} FROM matches`, query_timeout: lookWithinMs }
  for (;;) {
    signal.throwIfAborted()
    const { rows } = await snapshot.query<{ key: string }>(fetch)
    if (rows.length === 0) break
    await eachOf(snapshot, query, rows.map((row) => row.key), visit, signal)
  }
  await snapshot.query('CLOSE matches') // the next query of the snapshot has one of its own
}

/** Takes half as many keys again as were given the last time, so that large rows are not read in vain. */
async function eachOf<Item> (
  snapshot: PoolClient, query: PartsQuery, keys: string[], visit: (items: Item[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  for (let at = 0, size = keys.length; at < keys.length;) {
    const part = { text: partOf(query), values: [keys.slice(at, at + size), mostBytes], query_timeout: lookWithinMs }
    const { rows } = await snapshot.query<{ item: Item }>(part)
    if (rows.length === 0) throw new Error(`rows of ${query.from} vanished within a snapshot`)
    await visit(rows.map(({ item }) => item))
    signal.throwIfAborted()
    at += rows.length
    size = Math.ceil(rows.length * 1.5)
  }
}

const partOf = ({ columns, from, key, order, type, item }: PartsQuery) => `
  SELECT item FROM (
    SELECT item, n, sum(octet_length(item::text)) OVER (ORDER BY n) AS bytes FROM (
      SELECT ${item} AS item, n FROM (
        SELECT ${columns}, row_number() OVER (ORDER BY ${order}) AS n FROM ${from}
        WHERE ${key} = ANY($1::${type}[])) page OFFSET 0) made) summed
  WHERE bytes <= $2 OR n = 1 ORDER BY n`
