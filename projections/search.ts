// Searches: the beginning of any word of a row, whatever its case and accents. Postgres indexes the words.
import type { Pool, PoolClient } from 'pg'
import type { Search } from '../src/postgres/page.js'

/** Letters that Unicode does not take apart. */
const plain = new Map(Object.entries(
  { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i' }))

/** Folded here and not in SQL: what Postgres takes for the other case of a letter depends on how a cluster was made. */
export const fold = (text: string) => text.toLowerCase().replace(/[’ʼ`´]/g, "'").normalize('NFKD').replace(/\p{M}+/gu, '')
  .replace(/[ßæœøłđðþħı]/g, (letter) => plain.get(letter) ?? letter)

/** A row has not room for more, and nobody types more. */
const longest = 255

const words = (text: string) => fold(text.slice(0, longest)).match(/[\p{L}\p{N}]+(?:'+[\p{L}\p{N}]+)*/gu) ?? []

/** What a row is found by, for its column `words`. O'Neil is found as o, neil and oneil. */
export function wordsOf (...texts: string[]): string {
  const found = texts.flatMap(words).flatMap((word) => [word.replaceAll("'", ''), ...word.split(/'+/)])
  return [...new Set(found)].join(' ')
}

/** A number with blanks is one word. The plus sign of a query string that is not percent-encoded arrives as a space. */
function wordsAsked (search: string): string[] {
  const text = /^[+ ][\d\s()./-]+$/.test(search) ? search.replace(/\D/g, '') : search
  return words(text).map((word) => word.replaceAll("'", ''))
}

/**
 * The rows with so many ids in succession are a block, and the index keeps the words of a user's block together. A
 * search reads a user's blocks one by one, the newest first, until its page is full.
 */
const blockOf = (id: string) => `${id} / 8192`

/** Stands before each word in the index. Two users may have the same, as rows are compared with their user, too. */
const mark = (userId: string, block: string) => `to_hex(hashtext(${userId})) || to_hex(${block}) || ':'`

const lexemes = (id: string) =>
  `array_to_tsvector(string_to_array(${mark('user_id', blockOf(id))} || replace(words, ' ', ' ' || ${mark('user_id', blockOf(id))}), ' '))`

/** Each block is asked alone: what was not merged into the index yet would be read for each again. */
export const wordIndex = (id = 'id') => `USING gin (${lexemes(id)}) WITH (fastupdate = off)`

/** The blocks of a user, and the first row of each in the order of the list. */
export const blockIndex = (first: string) => `(user_id, (${blockOf('id')}) DESC, ${first} DESC)`

/** SQL: a condition on rows that are read in another order; its value is `patternsOf`. */
export const hasWords = (table: string) => `(' ' || ${table}.words) LIKE ALL(?::text[])`

/** None fits where no word is asked for. */
export function patternsOf (search: string | undefined): string[] | undefined {
  if (search === undefined) return undefined
  const asked = wordsAsked(search)
  return asked.length === 0 ? [''] : asked.map((word) => `% ${word}%`)
}

/** How a list is searched. All of it is SQL of ours. */
export interface Searched {
  /** Of `read_model`: the table that has the words. */
  table: string
  /** Which of its rows are rows of the list; each has the block of its id. */
  those: string
  /** A row of the list, or one that is found for it, by the id of that. */
  id: string
  /** By what the list is sorted first. */
  first: string
  type: 'timestamptz' | 'bigint'
  /** The rows of the list for the rows that have the words. */
  rowsOf (hits: string): string
}

/**
 * The index is asked for the longest word, and for others unless they are so short that they begin many times as many.
 * @ is where a mark belongs, and in no word. Nothing where no word is asked for.
 */
function askedOf (search: string): string {
  const [longest = '', ...others] = wordsAsked(search).toSorted((one, other) => other.length - one.length)
  const rare = others.filter(({ length }) => length > 2 || length > longest.length - 2)
  return [longest, ...rare].filter(Boolean).map((word) => `'@${word}':*`).join(' & ')
}

const hitsIn = ({ table, id }: Searched, block: string, { user, asked, patterns }: Asked) => `(
  SELECT * FROM read_model.${table}
  WHERE ${lexemes(id)} @@ replace(${asked}, '@', ${mark(user, block)})::tsquery
  AND ${hasWords(table).replace('?', patterns)} OFFSET 0)`

/** Parameters, as SQL. */
interface Asked { user: string, asked: string, patterns: string }

/** The blocks of a user, with the first row of each; `DISTINCT` would read all rows. */
function blocksOf ({ table, those, first }: Searched, user: string): string {
  const next = (below: string) => `
    SELECT ${blockOf('id')} AS block, ${first} AS first FROM read_model.${table}
    WHERE user_id = ${user} AND ${those} ${below} ORDER BY ${blockOf('id')} DESC, ${first} DESC LIMIT 1`
  return `
  block AS (
    (${next('')}) UNION ALL
    SELECT next.* FROM block CROSS JOIN LATERAL (${next(`AND ${blockOf('id')} < block.block`)}) next)`
}

/**
 * Finds rows for a page, block by block, until so many are before the first row of the next block: ids are nearly, and
 * not always, in the order of the list. A step keeps what its own block has, and of the rows so far only how many are
 * before the next block, and where the others are.
 */
export function searchedBy (searched: Searched, userId: string, search: string | undefined): Search | undefined {
  if (search === undefined) return undefined
  const { table, those, first, type, rowsOf } = searched
  return ({ where, range, needed, value }) => {
    const [user, asked] = [`${value(userId)}::text`, `${value(askedOf(search))}::text`]
    const hits = hitsIn(searched, 'blocks.ids[n + 1]', { user, asked, patterns: value(patternsOf(search)) })
    const isInRange = ['true', ...range].join(' AND ')
    return `
  ${blocksOf(searched, user)},
  blocks AS MATERIALIZED (
    SELECT coalesce(array_agg(block ORDER BY first DESC), '{}') AS ids, array_agg(first ORDER BY first DESC) AS firsts
    FROM block WHERE EXISTS (
      SELECT FROM read_model.${table}
      WHERE user_id = ${user} AND ${those} AND ${blockOf('id')} = block.block AND ${isInRange})),
  walk AS (
    SELECT 0 AS n, '{}'::bigint[] AS ids, '{}'::${type}[] AS firsts, 0::bigint AS before, '{}'::${type}[] AS others
    UNION ALL
    SELECT n + 1, more.ids, more.firsts, walk.before + met.before, met.others
    FROM walk CROSS JOIN blocks CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(id), '{}') AS ids, coalesce(array_agg(first), '{}') AS firsts
      FROM (SELECT DISTINCT id, ${first} AS first
            FROM ${rowsOf(hits)} ${table} ${where}) found) more
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE first > blocks.firsts[n + 2]) AS before,
        coalesce(array_agg(first) FILTER (WHERE first <= blocks.firsts[n + 2]), '{}') AS others
      FROM unnest(walk.others || more.firsts) first) met
    WHERE ${asked} <> '' AND n < cardinality(blocks.ids) AND walk.before < ${needed}),
  walked AS MATERIALIZED (
    SELECT ${asked} = '' OR max(n) = max(cardinality(blocks.ids)) AS is_whole FROM walk, blocks),
  found AS MATERIALIZED (SELECT unnest(ids) AS id${first === 'id' ? '' : `, unnest(firsts) AS ${first}`} FROM walk)`
  }
}

/** The ids of rows that have the words, of the list or found for one; with `most` at most one more. */
export async function hitsOf (
  db: Pool | PoolClient, searched: Searched, userId: string, search: string, most?: number
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(`
    WITH RECURSIVE ${blocksOf(searched, '$1')}
    SELECT hit.id FROM block CROSS JOIN LATERAL ${
      hitsIn(searched, 'block.block', { user: '$1', asked: '$2::text', patterns: '$3' })} hit
    WHERE $2::text <> '' AND hit.user_id = $1 LIMIT $4::bigint + 1`, [userId, askedOf(search), patternsOf(search), most])
  return rows.map(({ id }) => id)
}
