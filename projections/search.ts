// A search matches the beginning of any word of a row, ignoring case and accents. Postgres indexes the words.
import type { Pool, PoolClient } from 'pg'
import type { Search } from '../src/postgres/page.js'

/** Letters that Unicode does not decompose, and a form that only the end of a word has. */
const plain = new Map(Object.entries(
  { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i', ς: 'σ' }))

/** Not in SQL, because there the case of a letter depends on the locale of the cluster. */
export const fold = (text: string) => text.replace(/[’ʼ`´]/g, "'").normalize('NFKD').toLowerCase().replace(/\p{M}+/gu, '')
  .replace(/[ßæœøłđðþħıς]/g, (letter) => plain.get(letter) ?? letter)

/** A much longer word does not fit into the index, and nobody types one. Folding may make several letters of one. */
const longest = 255

const words = (text: string) => fold(text.slice(0, longest)).slice(0, longest).match(/[\p{L}\p{N}]+(?:'+[\p{L}\p{N}]+)*/gu) ?? []

/** The value of the column `words`. O'Neil is found as o, neil and oneil. */
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
 * A block has so many consecutive ids, and the index keeps the words of a user's block together. A search reads a
 * user's blocks one by one, the newest first, until its page is full. A span has so many blocks: of a span that the
 * search does not reach, it reads only the first row.
 */
const [idsOfBlock, blocksOfSpan] = [4_096, 16]
const blockOf = (id: string) => `${id} / ${idsOfBlock}`
const span = `id / ${idsOfBlock * blocksOfSpan}`

/** The prefix of each word in the index. Two users may share one, because queries compare the user of rows, too. */
const mark = (userId: string, block: string) => `to_hex(hashtext(${userId})) || to_hex(${block}) || ':'`

const lexemes = (id: string) =>
  `array_to_tsvector(string_to_array(${mark('user_id', blockOf(id))} || replace(words, ' ', ' ' || ${mark('user_id', blockOf(id))}), ' '))`

/** Indexes of words, and of the first rows of blocks and spans in list order; `INCLUDE` allows index-only scans. */
export const searchIndexes = (first: string, where: string, id = 'id') => [
  // Each block is a lookup of its own, and each would read the whole pending list of a `fastupdate` index.
  `USING gin (${lexemes(id)}) WITH (fastupdate = off)`,
  ...[blockOf('id'), span].map((part) => `(user_id, (${part}) DESC, ${first} DESC) INCLUDE (id) WHERE ${where}`)
]

/** SQL: whether a row has the words, for queries without the index of words. Its value is `patternsOf`. */
export const hasWords = (table: string) => `(' ' || ${table}.words) LIKE ALL(?::text[])`

/** A search without a word matches nothing. */
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
  /** SQL: the id of the list's row for which a row with the words stands. */
  id: string
  /** The first column of the list's order. */
  first: string
  type: 'timestamptz' | 'bigint'
  /** The rows of the list for the rows that have the words. */
  rowsOf (hits: string): string
}

/**
 * The index query has the longest word, and others unless they are so short that far more words begin with them. @ is
 * where a mark belongs; no word has one. Empty if the search has no word.
 */
function askedOf (search: string): string {
  const [longest = '', ...others] = wordsAsked(search).toReversed().toSorted((one, other) => other.length - one.length)
  const rare = others.filter(({ length }) => length > 2 || length > longest.length - 2)
  return [longest, ...rare].filter(Boolean).map((word) => `'@${word}':*`).join(' & ')
}

/** SQL: the rows that meet the condition and have all words. */
const hitsOf = (table: string, condition: string, patterns: string) => `(
  SELECT * FROM read_model.${table} WHERE (${condition}) AND ${hasWords(table).replace('?', patterns)} OFFSET 0)`

/** SQL: the index query for the words of a user's block. */
const atBlock = (asked: string, user: string, block: string) => `replace(${asked}, '@', ${mark(user, block)})`

/**
 * Postgres reads all rows of each word before it intersects them. So this first looks up the first word alone, which is
 * mostly the rarest. `user_id || ''` keeps Postgres from an index on the user, which would read all rows of the user.
 */
const probed = (table: string, lexemes: string, asked: string, user: string, queryOf: (words: string) => string) => `
  CASE WHEN ${asked} NOT LIKE '% & %' OR (SELECT count(*) > 0 FROM (
    SELECT FROM read_model.${table}
    WHERE ${lexemes} @@ (${queryOf(firstOf(asked))})::tsquery AND user_id || '' = ${user} LIMIT 10) rows) THEN ${queryOf(asked)} END`

const firstOf = (asked: string) => `split_part(${asked}, ' & ', 1)`

/** The user's blocks or spans with rows of the list. It skips from one to the next; `DISTINCT` would read all rows. */
function partsOf (part: string, { table, those }: Searched, user: string): string {
  const next = (below: string) => `
    SELECT ${part} AS id FROM read_model.${table}
    WHERE user_id = ${user} AND ${those} ${below} ORDER BY ${part} DESC LIMIT 1`
  return `part AS ((${next('')}) UNION ALL SELECT next.* FROM part CROSS JOIN LATERAL (${next(`AND ${part} < part.id`)}) next)`
}

/** With so many ids, every plan uses the index of words. */
const isLarge = (table: string) => `(SELECT max(id) > 10000 FROM read_model.${table}) AS is_large`

/** If a span has at most so many rows with the first word, one step reads them all. */
const mostOfSpan = 100

/**
 * Finds rows for a page, block by block, until enough come before the first row of the next block: ids are mostly, but
 * not always, in list order. A step keeps the rows of its own block. Of earlier rows it keeps only how many come before
 * the next block, and the sort keys of the others. After the first span, a span is one step while the words are rare.
 */
export function searchedBy (searched: Searched, userId: string, search: string | undefined): Search | undefined {
  if (search === undefined) return undefined
  const { table, those, id, first, type, rowsOf } = searched
  return ({ where, range, needed, value }) => {
    const [user, asked, patterns] = [`${value(userId)}::text`, `${value(askedOf(search))}::text`, value(patternsOf(search))]
    const inOrder = (parts: string, part: string) => `
      coalesce(array_agg(id ORDER BY first DESC), '{}') AS blocks, array_agg(first ORDER BY first DESC) AS firsts
      FROM ${parts} CROSS JOIN LATERAL (
        SELECT ${first} AS first FROM read_model.${table}
        WHERE ${[`user_id = ${user}`, those, `${part} = part.id`, ...range].join(' AND ')} ORDER BY ${first} DESC LIMIT 1) row`
    const blocks = `generate_series(0, ${blocksOfSpan - 1}) nth
      CROSS JOIN LATERAL (SELECT spans.blocks[walk.n + 1] * ${blocksOfSpan} + nth AS id) part`
    const firstWord = atBlock(firstOf(asked), user, 'part.id')
    const allWords = atBlock(asked, user, 'now.blocks[1]')
    const hits = hitsOf(table, `${lexemes(id)} @@ (CASE WHEN few.ids IS NULL THEN ${allWords} END)::tsquery OR id = ANY(few.ids)`, patterns)
    return `
  ${partsOf(span, searched, user)},
  spans AS MATERIALIZED (SELECT ${inOrder('part', span)}),
  walk AS (
    SELECT 0 AS n, true AS is_busy, '{}'::bigint[] AS blocks, '{}'::${type}[] AS nexts,
      '{}'::bigint[] AS ids, '{}'::${type}[] AS firsts, 0::bigint AS before, '{}'::${type}[] AS others
    UNION ALL
    SELECT now.n, CASE WHEN walk.blocks = '{}' THEN walk.n > 0 AND few.ids IS NULL ELSE is_busy END, now.blocks[2:], now.firsts[2:],
      more.ids, more.firsts, walk.before + met.before, met.others
    FROM walk CROSS JOIN spans CROSS JOIN LATERAL (
      SELECT CASE WHEN cardinality(ids) <= ${mostOfSpan} THEN ids END AS ids FROM (
        SELECT CASE WHEN walk.blocks = '{}' AND NOT is_busy THEN ARRAY(
          SELECT hit.id FROM ${blocks} CROSS JOIN LATERAL (
            SELECT id FROM read_model.${table} WHERE ${lexemes(id)} @@ (${firstWord})::tsquery OFFSET 0) hit
          LIMIT ${mostOfSpan} + 1) END AS ids) asked OFFSET 0) few
    CROSS JOIN LATERAL (
      SELECT walk.n, walk.blocks, nexts AS firsts WHERE walk.blocks <> '{}' UNION ALL
      SELECT walk.n + 1, '{NULL}', '{NULL}' WHERE few.ids IS NOT NULL UNION ALL
      SELECT walk.n + 1, ${inOrder(blocks, blockOf('id'))} HAVING walk.blocks = '{}' AND few.ids IS NULL) now
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(id), '{}') AS ids, coalesce(array_agg(first), '{}') AS firsts
      FROM (SELECT DISTINCT id, ${first} AS first FROM ${rowsOf(hits)} ${table} ${where}) found) more
    CROSS JOIN LATERAL (SELECT greatest(now.firsts[2], spans.firsts[now.n + 1]) AS first) next
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE met > next.first) AS before,
        coalesce(array_agg(met) FILTER (WHERE met <= next.first), '{}') AS others
      FROM unnest(walk.others || more.firsts) met) met
    WHERE ${asked} <> '' AND (walk.blocks <> '{}' OR walk.n < cardinality(spans.blocks)) AND walk.before < ${needed}),
  walked AS MATERIALIZED (
    SELECT ${asked} = '' OR bool_or(n = cardinality(spans.blocks) AND walk.blocks = '{}') AS is_whole, ${isLarge(table)}
    FROM walk, spans),
  found AS MATERIALIZED (SELECT unnest(ids) AS id${first === 'id' ? '' : `, unnest(firsts) AS ${first}`} FROM walk)`
  }
}

/** Whether more than `most` rows have the words. */
export async function hasMoreHits (
  db: Pool | PoolClient, searched: Searched, userId: string, search: string, most: number
): Promise<boolean> {
  const { table, id } = searched
  const query = probed(table, lexemes(id), '$2::text', '$1', (words) => atBlock(words, '$1', 'part.id'))
  const { rowCount } = await db.query(`
    WITH RECURSIVE ${partsOf(blockOf('id'), searched, '$1')}
    SELECT FROM part CROSS JOIN LATERAL ${hitsOf(table, `${lexemes(id)} @@ (${query})::tsquery`, '$3')} hit
    WHERE $2::text <> '' AND hit.user_id = $1 LIMIT $4::bigint + 1`, [userId, askedOf(search), patternsOf(search), most])
  return (rowCount ?? 0) > most
}

/**
 * A call has no words, because its lead may be renamed. Instead the row of a lead has marks for the half hours of
 * 2,048 s and days of 32 half hours in which it was called, and an index has its words prefixed by each mark. To stay
 * short, the row keeps marks only for its last half hours; earlier ones become marks for groups of eight.
 */
const [secondsOfHalf, halvesOfEight, halvesOfDay, mostHalves] = [2_048, 8, 32, 32]

/** The column `called` after one more call. The order of calls does not matter. */
export function calledAlso (called: string, endedAt: string): string {
  const half = Math.floor(Date.parse(endedAt) / 1000 / secondsOfHalf)
  const marks = new Set([...called.split(' ').filter(Boolean), `d${Math.floor(half / halvesOfDay)}`, `h${half}`])
  const halves = [...marks].filter((mark) => mark.startsWith('h')).map((mark) => Number(mark.slice(1)))
  for (const old of halves.toSorted((one, other) => other - one).slice(mostHalves)) {
    marks.delete(`h${old}`)
    marks.add(`e${Math.floor(old / halvesOfEight)}`)
  }
  return [...marks].toSorted().join(' ')
}

const calledLexemes = `array_to_tsvector(string_to_array(regexp_replace(called, '[^ ]+',
  to_hex(hashtext(user_id)) || '\\&:' || replace(words, ' ', ' ' || to_hex(hashtext(user_id)) || '\\&:'), 'g'), ' '))`

export const calledIndex = `USING gin (${calledLexemes}) WITH (fastupdate = off) WHERE called <> ''`

/** A day with at most so many leads is read at once. */
const mostLeads = 100

/** Finds calls for a page day by day, backwards; by half hours in the first day and in days with many leads. */
export function searchedCalls (userId: string, search: string): Search {
  return ({ where, range, needed, value }) => {
    const [user, asked, patterns] = [`${value(userId)}::text`, `${value(askedOf(search))}::text`, value(patternsOf(search))]
    const at = (words: string, mark: string, number: string) => `replace(${words}, '@', to_hex(hashtext(${user})) || '${mark}' || ${number} || ':')`
    const leadsOf = (query: string) => `(
      SELECT id FROM read_model.leads WHERE called <> '' AND ${calledLexemes} @@ (${query})::tsquery
      AND user_id || '' = ${user} AND ${hasWords('leads').replace('?', patterns)} OFFSET 0) lead`
    const inTime = (queryOf: (words: string) => string) => probed('leads', `called <> '' AND ${calledLexemes}`, asked, user, queryOf)
    const ofDay = inTime((words) => at(words, 'd', 'day'))
    const ofHalf = inTime((words) => `${at(words, 'h', 'half')} || ' | ' || ${at(words, 'e', 'eight')}`)
    const next = `
      SELECT floor(extract(epoch FROM ended_at) / ${secondsOfHalf}) AS half FROM read_model.calls
      WHERE ${[`user_id = ${user}`, ...range].join(' AND ')} AND ended_at < walk.before ORDER BY ended_at DESC LIMIT 1`
    return `
  walk AS (
    SELECT 'infinity'::timestamptz AS before, NULL::numeric AS busy, 0::bigint AS count,
      '{}'::text[] AS ids, '{}'::timestamptz[] AS ends, '{}'::bigint[] AS positions
    UNION ALL
    SELECT since_at, CASE WHEN is_busy THEN day END, count + cardinality(found.ids), found.*
    FROM walk CROSS JOIN LATERAL (
      SELECT half, floor(half / ${halvesOfDay}) AS day, floor(half / ${halvesOfEight}) AS eight FROM (${next}) half OFFSET 0) next
    CROSS JOIN LATERAL (
      SELECT CASE WHEN busy = day OR before = 'infinity' THEN ${mostLeads + 1} ELSE (
        SELECT count(*) FROM (SELECT FROM ${leadsOf(ofDay)} LIMIT ${mostLeads + 1}) leads) END AS leads OFFSET 0) met
    CROSS JOIN LATERAL (
      SELECT leads > ${mostLeads} AS is_busy, CASE WHEN leads > ${mostLeads} THEN half ELSE day * ${halvesOfDay} END AS since,
        CASE WHEN leads > ${mostLeads} THEN ${ofHalf}
          WHEN leads > 0 THEN ${at(asked, 'd', 'day')} END AS query OFFSET 0) span
    CROSS JOIN LATERAL (SELECT to_timestamp(since * ${secondsOfHalf}) AS since_at OFFSET 0) start
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(call.id), '{}') AS ids, coalesce(array_agg(ended_at), '{}'), coalesce(array_agg(position), '{}')
      FROM ${leadsOf('query')} CROSS JOIN LATERAL (
        SELECT id, ended_at, position FROM read_model.calls ${where} AND lead_id = lead.id
        AND ended_at >= since_at AND ended_at < before
        ORDER BY ended_at DESC, position DESC LIMIT ${needed}) call) found
    WHERE ${asked} <> '' AND count < ${needed}),
  walked AS MATERIALIZED (
    SELECT count < ${needed} AS is_whole, ${isLarge('leads')} FROM walk ORDER BY before LIMIT 1),
  found AS MATERIALIZED (SELECT unnest(ids) AS id, unnest(ends) AS ended_at, unnest(positions) AS position FROM walk)`
  }
}
