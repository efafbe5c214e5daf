// One page of a list, from one snapshot: so many rows, so many bytes, and how many rows there are in all.
import type { Pool } from 'pg'

/** A page by its number, from 1; or the rows behind those keys, from the first row where there are none. */
export type Page = { perPage: number } & ({ page: number } | { after: readonly string[] })

export interface Paged<Item> {
  items: Item[]
  /** Of a page by its number. Beyond 10,000 it is 10,000 and not exact; where many match, what was met so far. */
  total?: { count: number, isExact: boolean }
  /** The keys of the last row, where others follow it. */
  next: string[] | null
  /** The page is shorter than it was asked for, because its rows are large. */
  isCut: boolean
}

/** A condition; each `?` stands for a value, in their order, and a value that is undefined drops it. */
export type Filter = readonly [condition: string, ...values: unknown[]]

/** Which rows. All of it is text of ours; what callers send are values. */
export interface Conditions {
  /** Of the list itself: whose rows, and which of them are there. */
  own: readonly Filter[]
  /** Of the first column of the order: a part of the list. */
  range?: readonly Filter[]
  /** What this caller asks for beside: by its name where there is an index for it and the order. */
  indexed?: Readonly<Record<string, Filter>>
  filters?: readonly Filter[]
  /** Many are met soon in the order of the list, and not counted. */
  matches?: 'many'
}

/**
 * SQL of a search, which chooses the rows: the table `found` has the keys of the first in the order, as many as are
 * `needed` at least; `walked` says by `is_whole` whether these are all, and by `is_large` whether a plan may be kept.
 */
export type Search = (asked: {
  where: string
  /** Conditions on the first column of the order. */
  range: readonly string[]
  needed: string
  value (value: unknown): string
}) => string

/** All of it is text of ours. */
interface PageQuery extends Conditions {
  /**
   * Of the list, in short: statements are prepared under it where nothing is asked for but `own`, or beside it one of
   * `indexed`. So an index has to give those rows in order, for a user with ten and for one with a million. Absent
   * where the text varies.
   */
  name?: string
  columns: string
  from: string
  key: string
  order: Order
  search?: Search | undefined
  /** What an item is made of, as JSON, from the row `page`. */
  item: string
}

/** What one answer may take of the memory of Postgres, of this process and of the line to the caller. */
const mostBytes = 2 ** 20

/** Counting reads every match: more would take longer than it is worth to know. */
const mostCounted = 10_000

/** A search goes on until it has found so many: so totals of short lists are exact. */
const leastCounted = 100

/** As SQL. */
interface Bounds { rows: string, offset: string }

/** `last` are the keys of the last row that is given; one row more than the page is looked for. */
interface Answer<Item> {
  total?: string
  is_whole?: boolean
  is_large?: boolean
  items: Item[]
  last: string[] | null
  given: number
  found: number
}

/**
 * Reads a page of at most 1 MiB, but of one row at least. A statement with filters has no name, and only the conditions
 * that were asked for, so that each is planned for its own values: a user with ten rows and one with a million need
 * different plans. Where one index has all that is asked for, one plan is good for everybody, and to make it takes
 * longer than to read a page by it: so that statement is prepared. A search is prepared once its table is large: a plan
 * that was made for ten rows would read a million one by one, until Postgres has new statistics.
 */
export async function readPage<Item> (db: Pool, query: PageQuery, page: Page): Promise<Paged<Item>> {
  const { from, order } = query
  const values: unknown[] = []
  const value = (given: unknown) => `$${values.push(given)}`
  const conditions = conditionsOf(query, values)
  const range = query.search ? conditionsOf({ own: query.range ?? [] }, values) : []
  if ('after' in page && page.after.length > 0) {
    const keys = page.after.map(value)
    conditions.push(afterKeys(order, keys))
    range.push(notBefore(order, keys[0]))
  }
  const name = query.search && !large.get(db)?.has(from) ? undefined : nameOf(query, page)
  // Of a number in its text Postgres knows what it means for the plan that it keeps.
  const inText = (number: number) => name === undefined ? `${value(number)}::bigint` : String(number)
  const bounds = { rows: inText(page.perPage), offset: inText('page' in page ? (page.page - 1) * page.perPage : 0) }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  const needed = `greatest(${bounds.rows} + ${bounds.offset} + 1, ${'page' in page ? leastCounted : 0})`
  const found = query.search?.({ where, range, needed, value })
  const text = rowsOf(query, bounds, `FROM ${from} ${where}`, 'page' in page, found)
  const { rows: [answer] } = await db.query<Answer<Item>>({ ...(name !== undefined && { name }), text, values })
  if (!answer) throw new Error('a query without FROM gave no row')
  if (answer.is_large) large.set(db, (large.get(db) ?? new Set()).add(from))
  return pageOf(answer, page, query.matches === 'many')
}

/** Lists of which plans of searches may be kept. */
const large = new WeakMap<Pool, Set<string>>()

/** Of pages whose statements are prepared: defaults and the most. A session keeps 150 to 350 KiB for each statement. */
const usualSizes = [10, 15, 100]

/** What the statement is prepared under, if it is. */
function nameOf (query: PageQuery, page: Page): string | undefined {
  const { name, own, indexed = {}, range = [], filters = [], search } = query
  const [by = 'all', ...others] = Object.entries(indexed).flatMap(([key, filter]) => isAsked(filter) ? key : [])
  if (name === undefined || !own.every(isAsked) || others.length > 0) return undefined
  if ([...range, ...filters].some(isAsked)) return undefined
  if (!usualSizes.includes(page.perPage) || ('page' in page && page.page > 1)) return undefined
  const which = 'page' in page ? 'counted' : page.after.length > 0 ? 'after' : 'first'
  return `page-${name}-${search ? 'searched-' : ''}${by}-${page.perPage}-${which}`
}

/**
 * Keys are chosen first, from an index alone, so that skipped pages cost no rows. Then rows are read one by one until
 * the page is full: none is read that is not given, but for the one that does not fit.
 */
function rowsOf (
  query: PageQuery, { rows, offset }: Bounds, matches: string, counts: boolean, searched?: string
): string {
  const { columns, from, key, order, item } = query
  const keys = columnsOf(order, key)
  const all = searched ? 'FROM found' : matches
  const total = counts && query.matches !== 'many'
    ? `(SELECT count(*) FROM (SELECT ${all} LIMIT ${mostCounted + 1}) counted) AS total,`
    : ''
  const walked = searched ? '(SELECT is_whole FROM walked) AS is_whole, (SELECT is_large FROM walked) AS is_large,' : ''
  return `
  WITH RECURSIVE ${searched ? `${searched},` : ''} chosen AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY ${orderBy(order)}) AS n, * FROM (
      SELECT ${keys} ${all} ORDER BY ${orderBy(order)} LIMIT ${rows} + 1 OFFSET ${offset}) keys),
  given AS (
    SELECT 0::bigint AS n, 0::bigint AS bytes, NULL::json AS item
    UNION ALL
    SELECT chosen.n, given.bytes + one.bytes, one.item
    FROM given JOIN chosen ON chosen.n = given.n + 1 CROSS JOIN LATERAL (
      SELECT made.item, octet_length(made.item::text) AS bytes FROM (
        SELECT ${item} AS item FROM (SELECT ${columns} FROM ${from} WHERE ${key} = chosen.${key}) page OFFSET 0) made
      OFFSET 0) one
    WHERE chosen.n <= ${rows} AND (chosen.n = 1 OR given.bytes + one.bytes <= ${mostBytes}))
  SELECT ${total} ${walked}
         (SELECT coalesce(json_agg(item ORDER BY n), '[]') FROM given WHERE n > 0) AS items,
         (SELECT ${keysOf(order)} FROM chosen WHERE n = (SELECT max(n) FROM given)) AS last,
         (SELECT max(n)::integer FROM given) AS given,
         (SELECT count(*)::integer FROM chosen) AS found`
}

function pageOf<Item> (answer: Answer<Item>, page: Page, isUncounted: boolean): Paged<Item> {
  const { total, is_whole = true, items, last, given, found } = answer
  return {
    items,
    ...('page' in page && {
      total: isUncounted
        ? metSoFar(page, found)
        : { count: Math.min(Number(total), mostCounted), isExact: is_whole && Number(total) <= mostCounted }
    }),
    next: given < found ? last : null,
    isCut: given < Math.min(found, page.perPage)
  }
}

/** Exact on the last page. Behind it nothing is known. */
function metSoFar ({ page, perPage }: Page & { page: number }, found: number): Paged<unknown>['total'] {
  const count = found > 0 ? (page - 1) * perPage + found : 0
  return { count, isExact: found > 0 ? found <= perPage : page === 1 }
}

/** Those that were asked for, as text; their values are added to `values`. */
export function conditionsOf (conditions: Conditions, values: unknown[]): string[] {
  const { own, range = [], indexed = {}, filters = [] } = conditions
  return [...own, ...Object.values(indexed), ...range, ...filters].filter(isAsked).map(([condition, ...given]) => {
    const left = given.values()
    return condition.replaceAll('?', () => `$${values.push(left.next().value)}`)
  })
}

const isAsked = ([, ...values]: Filter) => !values.includes(undefined)

/** Sorts behind every other character, byte by byte. */
const sortsLast = '\u{10FFFF}'

/**
 * Conditions on how a text begins, which an index of the column with the collation "C" answers in any cluster. None
 * where there is no text; `column` is ours, never input.
 */
export const beginning = (column: string, text: string | undefined): Filter[] => [
  [`${column} COLLATE "C" >= ?`, text], [`${column} COLLATE "C" < ?`, text && `${text}${sortsLast}`]
]

type KeyType = 'timestamptz' | 'bigint' | 'uuid' | 'text'

/** Columns and their types, all in one direction. Together without ties, so that no row is on two pages. */
interface Order {
  direction: 'ASC' | 'DESC'
  by: Record<string, KeyType>
}

const orderBy = ({ direction, by }: Order) =>
  Object.keys(by).map((column) => `${column} ${direction}`).join(', ')

/** The columns of the order, and the key, unless it is one of them. */
const columnsOf = ({ by }: Order, key: string) => [...new Set([key, ...Object.keys(by)])].join(', ')

/** The condition that a row comes behind the one with these values; an index on the columns finds it. */
function afterKeys ({ direction, by }: Order, values: readonly string[]): string {
  const typed = Object.values(by).map((type, index) => `${values[index]}::${type}`)
  return `(${Object.keys(by).join(', ')}) ${direction === 'DESC' ? '<' : '>'} (${typed.join(', ')})`
}

/** The condition on the first of the order's columns alone, which follows from that. */
function notBefore ({ direction, by }: Order, value = ''): string {
  const [[column, type] = ['', '']] = Object.entries(by)
  return `${column} ${direction === 'DESC' ? '<=' : '>='} ${value}::${type}`
}

/** The place of a row: its keys as an array of texts, as they are taken by `afterKeys`. */
function keysOf ({ by }: Order): string {
  return `json_build_array(${Object.entries(by).map(([column, type]) => textOf(column, type)).join(', ')})`
}

/** A time to the microsecond that Postgres keeps, whatever the session's time zone. */
const textOf = (column: string, type: KeyType) => type === 'timestamptz'
  ? `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
  : `${column}::text`
