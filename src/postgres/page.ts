// Reads one page of a list in one statement: bounded rows and bytes, and the total.
import type { Pool } from 'pg'

/** A page by number, from 1, or the rows after these keys; empty keys mean the first row. */
export type Page = { perPage: number } & ({ page: number } | { after: readonly string[] })

export interface Paged<Item> {
  items: Item[]
  /** Only for a page by number. At most 10,000; for `many` matches, the rows met so far. */
  total?: { count: number, isExact: boolean }
  /** The keys of the last row, if more rows follow. */
  next: string[] | null
  /** The page is shorter than requested because its rows are large. */
  isCut: boolean
}

/** UTC with milliseconds, as every time in an answer. */
export const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A condition; each `?` stands for a value, in order. An undefined value drops the condition. */
export type Filter = readonly [condition: string, ...values: unknown[]]

/** Selects the rows. SQL text is ours; callers provide only values. */
export interface Conditions {
  /** Conditions of the list itself: owner, and which rows exist. */
  own: readonly Filter[]
  /** Conditions on the first column of the order. */
  range?: readonly Filter[]
  /** The caller's conditions that an index serves together with the order, by name. */
  indexed?: Readonly<Record<string, Filter>>
  filters?: readonly Filter[]
  /** Matches are frequent in list order, so they are not counted. */
  matches?: 'many'
}

/**
 * SQL of a search, which chooses the rows. Its table `found` has the keys of the first rows in the order, at least
 * `needed`. In `walked`, `is_whole` tells whether these are all, and `is_large` whether the plan may be kept.
 */
export type Search = (asked: {
  where: string
  /** Conditions on the first column of the order. */
  range: readonly string[]
  needed: string
  value (value: unknown): string
}) => string

/** SQL text of ours, never input. */
interface PageQuery extends Conditions {
  /**
   * Short name of the list. Prepares statements under it that have no condition but `own`, or one more of `indexed`. So
   * an index must give those rows in order, for a user with ten and for one with a million. Absent when the text
   * varies.
   */
  name?: string
  columns: string
  from: string
  key: string
  order: Order
  search?: Search | undefined
  /** SQL that builds an item as JSON from the row `page`. */
  item: string
}

/** Bounds memory in Postgres and in this process, and the size of a response. */
const mostBytes = 2 ** 20

/** Counting reads every match: an exact total beyond this is not worth its cost. */
const mostCounted = 10_000

/** A search continues until it has found this many, so that totals of short lists are exact. */
const leastCounted = 100

interface Bounds { rows: string, offset: string }

/** `last`: keys of the last row given. The query looks for one row more than the page. */
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
 * Reads a page of at most 1 MiB, but at least one row. A statement with filters is not prepared and has only the
 * requested conditions, so Postgres plans it for its values: a user with ten rows and one with a million need different
 * plans. If one index serves the whole request, one plan suits everybody, and planning takes longer than reading the
 * page: so that statement is prepared. A search is prepared only once its table is large: a plan made for ten rows
 * would read a million one by one, until Postgres has new statistics.
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
  // Inlined, so that Postgres knows the number when it makes the plan that it keeps.
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

/** Tables whose search plans may be kept. */
const large = new WeakMap<Pool, Set<string>>()

/** Page sizes with prepared statements: defaults, the console's, the largest. Each takes a session 150 to 350 KiB. */
const usualSizes = [10, 15, 25, 100]

/** The name of the prepared statement; undefined when it is not prepared. */
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
 * Chooses keys first, from an index alone, so that skipped pages cost no rows. Then reads rows one by one until the
 * page is full: at most one row more than it returns.
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
    FROM given CROSS JOIN LATERAL (SELECT * FROM chosen WHERE chosen.n = given.n + 1 OFFSET 0) chosen CROSS JOIN LATERAL (
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

/** Exact on the last page; beyond it nothing is known. */
function metSoFar ({ page, perPage }: Page & { page: number }, found: number): Paged<unknown>['total'] {
  const count = found > 0 ? (page - 1) * perPage + found : 0
  return { count, isExact: found > 0 ? found <= perPage : page === 1 }
}

/** SQL of the requested conditions; appends their values to `values`. */
export function conditionsOf (conditions: Conditions, values: unknown[]): string[] {
  const { own, range = [], indexed = {}, filters = [] } = conditions
  return [...own, ...Object.values(indexed), ...range, ...filters].filter(isAsked).map(([condition, ...given]) => {
    const left = given.values()
    return condition.replaceAll('?', () => `$${values.push(left.next().value)}`)
  })
}

const isAsked = ([, ...values]: Filter) => !values.includes(undefined)

/** Sorts after every other character, byte by byte. */
const sortsLast = '\u{10FFFF}'

/**
 * A prefix search that an index with the collation "C" serves in any cluster. Drops out when `text` is undefined;
 * `column` is ours, never input.
 */
export const beginning = (column: string, text: string | undefined): Filter[] => [
  [`${column} COLLATE "C" >= ?`, text], [`${column} COLLATE "C" < ?`, text && `${text}${sortsLast}`]
]

type KeyType = 'timestamptz' | 'bigint' | 'uuid' | 'text'

/** Columns and their types, all in one direction. Together they must be unique, so that no row is on two pages. */
interface Order {
  direction: 'ASC' | 'DESC'
  by: Record<string, KeyType>
}

const orderBy = ({ direction, by }: Order) =>
  Object.keys(by).map((column) => `${column} ${direction}`).join(', ')

const columnsOf = ({ by }: Order, key: string) => [...new Set([key, ...Object.keys(by)])].join(', ')

/** Rows after the one with these values; an index on the columns serves it. */
function afterKeys ({ direction, by }: Order, values: readonly string[]): string {
  const typed = Object.values(by).map((type, index) => `${values[index]}::${type}`)
  return `(${Object.keys(by).join(', ')}) ${direction === 'DESC' ? '<' : '>'} (${typed.join(', ')})`
}

/** The same condition on the first column alone: weaker, but a search can use it as its range. */
function notBefore ({ direction, by }: Order, value = ''): string {
  const [[column, type] = ['', '']] = Object.entries(by)
  return `${column} ${direction === 'DESC' ? '<=' : '>='} ${value}::${type}`
}

/** The keys of a row as an array of texts, as `afterKeys` takes them. */
function keysOf ({ by }: Order): string {
  return `json_build_array(${Object.entries(by).map(([column, type]) => textOf(column, type)).join(', ')})`
}

/** Times keep the microseconds of Postgres, in UTC whatever the session's time zone. */
const textOf = (column: string, type: KeyType) => type === 'timestamptz'
  ? `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
  : `${column}::text`
