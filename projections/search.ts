// Searches: the beginning of any word of a row, whatever its case and accents. Postgres indexes the words.
import { hash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Conditions } from '../src/postgres/page.js'

/** Letters that Unicode does not take apart. */
const plain = new Map(Object.entries(
  { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i' }))

/** Folded here and not in SQL: what Postgres takes for the other case of a letter depends on how a cluster was made. */
const fold = (text: string) => text.toLowerCase().replace(/[’ʼ`´]/g, "'").normalize('NFKD').replace(/\p{M}+/gu, '')
  .replace(/[ßæœøłđðþħı]/g, (letter) => plain.get(letter) ?? letter)

/** A row has not room for more, and nobody types more. */
const longest = 255

const words = (text: string) => fold(text.slice(0, longest)).match(/[\p{L}\p{N}]+(?:'+[\p{L}\p{N}]+)*/gu) ?? []

/** Stands before each word of a user: so the index keeps the words of one user together. */
const markOf = (userId: string) => hash('sha256', userId).slice(0, 8)

/** What a row is found by, for its column `words`. O'Neil is found as o, neil and oneil. */
export function wordsOf (userId: string, ...texts: string[]): string {
  const mark = markOf(userId)
  const found = texts.flatMap(words).flatMap((word) => [word.replaceAll("'", ''), ...word.split(/'+/)])
  return [...new Set(found)].map((word) => `${mark}${word}`).join(' ')
}

/** A number with blanks is one word. The plus sign of a query string that is not percent-encoded arrives as a space. */
function wordsAsked (userId: string, search: string): string[] {
  const text = /^[+ ][\d\s()./-]+$/.test(search) ? search.replace(/\D/g, '') : search
  return words(text).map((word) => `${markOf(userId)}${word.replaceAll("'", '')}`)
}

const lexemes = "array_to_tsvector(string_to_array(words, ' '))"

/** Each search also reads what was not merged into the index yet: so that is kept short. */
export const wordIndex = `USING gin (${lexemes}) WITH (gin_pending_list_limit = 256)`

/** SQL: whether a row of `table` has words that begin with those asked for. */
export const hasWords = (table: string, patterns: string) => `(' ' || ${table}.words) LIKE ALL(${patterns})`

/** How a list is searched. All of it is SQL of ours; $1 is the user. */
export interface Searched {
  /** Of `read_model`. */
  list: string
  own: string
  order: string
  /** The table that has the words. */
  table: string
  /** Of that table: whose words count. */
  those: string
  /** Of that table: names rows of the list. */
  key: string
  /** Whether a row of the list has one of these keys. */
  hasKey: string
  /** Whether a row of the list is found, by itself or by others. */
  isFound (patterns: string): string
}

/** Where so many of the newest rows of a long list are found, a page of it is full soon, and the index is not asked. */
const newest = { rows: 1_000, found: 4, ofMoreThan: 20_000 }

/** Where the index finds more, rows of the list are read in its order all the same. */
const mostKeys = 20_000

/** The longest, and another of three letters or more: short ones begin very many words. */
function rarest (asked: readonly string[]): string {
  const [first, second = ''] = asked.toSorted((one, other) => other.length - one.length)
  return [first, ...second.length >= 8 + 3 ? [second] : []].map((word) => `'${word}':*`).join(' & ')
}

/**
 * Which rows a search finds: by their keys where they are few, else row by row. Postgres does not know which is better:
 * it hopes to fill a page soon in the order of the list, and reads all of the list where nothing is found.
 */
export async function searchedBy (
  db: Pool | PoolClient, searched: Searched, userId: string, search: string | undefined
): Promise<Pick<Conditions, 'filters' | 'matches'>> {
  if (search === undefined) return {}
  const { list, own, order, table, those, key, hasKey, isFound } = searched
  const asked = wordsAsked(userId, search)
  if (asked.length === 0) return { filters: [['false']] }
  const patterns = asked.map((word) => `% ${word}%`)
  const { rows: [answer] } = await db.query<{ is_dense: boolean, keys: string[] }>(`
    WITH newest AS MATERIALIZED (
      SELECT count(*) FILTER (WHERE ${isFound('$3::text[]')}) >= ${newest.found} AND EXISTS (
        SELECT FROM read_model.${list} WHERE ${own} OFFSET ${newest.ofMoreThan}) AS is_dense
      FROM (SELECT * FROM read_model.${list} WHERE ${own} ORDER BY ${order} LIMIT ${newest.rows}) ${list})
    SELECT is_dense, ARRAY(
      SELECT ${key} FROM read_model.${table}
      WHERE NOT is_dense AND ${lexemes} @@ $2::tsquery AND ${hasWords(table, '$3::text[]')} AND ${those}
      LIMIT ${mostKeys + 1}) AS keys
    FROM newest`, [userId, rarest(asked), patterns])
  if (!answer) throw new Error('a count gave no row')
  const { is_dense, keys } = answer
  if (!is_dense && keys.length <= mostKeys) return { filters: [[hasKey, keys]], matches: 'few' }
  const condition = isFound('?::text[]')
  return { filters: [[condition, ...condition.split('?').slice(1).map(() => patterns)]], matches: 'many' }
}
