// One page of a list and how many there are in all, from one snapshot: a total that fits its rows.
import type { Pool } from 'pg'

export interface Page {
  /** From 1. */
  page: number
  perPage: number
}

export interface Paged<Item> { items: Item[], total: number }

/** A condition; `?` stands for its value, and a value that is undefined drops it. */
export type Filter = readonly [condition: string] | readonly [condition: string, value: unknown]

/** All of it is text of ours; what callers send are values of filters. */
export interface PageQuery {
  columns: string
  from: string
  key: string
  filters: readonly Filter[]
  /** Names only columns, and none twice: without ties, so that no row is on two pages. */
  order: string
  /** What an item is made of, as JSON, from the row `page`. */
  item: string
}

/**
 * Reads a page. The statement has no name and only the conditions that were asked for, so that each is planned for
 * its own values: a user with ten rows and one with a million need different plans. Keys are chosen first, from an
 * index alone, so that skipped pages cost no rows.
 */
export async function readPage<Item> (
  db: Pool, { columns, from, key, filters, order, item }: PageQuery, { page, perPage }: Page
): Promise<Paged<Item>> {
  const values: unknown[] = [perPage, (page - 1) * perPage]
  const conditions = filters.flatMap(([condition, ...value]) => {
    if (value.length === 0) return condition
    return value[0] === undefined ? [] : condition.replace('?', `$${values.push(value[0])}`)
  })
  const found = `FROM ${from}${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}`
  const { rows: [answer] } = await db.query<{ total: string, items: Item[] }>(`
    SELECT (SELECT count(*) ${found}) AS total,
           (SELECT coalesce(json_agg(${item} ORDER BY ${order}), '[]')
            FROM (SELECT ${columns} FROM ${from} JOIN (
                    SELECT ${key} ${found} ORDER BY ${order} LIMIT $1 OFFSET $2) chosen USING (${key})) page) AS items`, values)
  if (!answer) throw new Error('a query without FROM gave no row')
  return { items: answer.items, total: Number(answer.total) }
}
