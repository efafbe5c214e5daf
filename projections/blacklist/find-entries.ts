// What readers ask about the do-not-call list.
import type { Pool } from 'pg'
import { describeEntry, type EntryAnswer } from '../../src/features/blacklist/model.js'
import { beginning, readPage, type Page, type Paged } from '../../src/postgres/page.js'
import type { OwnFilter } from '../catalog.js'
import { iso } from '../folding/table.js'

/** SQL: whether the user of a row of `leads` has an entry with its number that fits `condition`. */
export const hasEntry = (condition: string, row = 'leads') => `EXISTS (
  SELECT FROM read_model.blacklist entry
  WHERE entry.user_id = ${row}.user_id AND entry.phone_number COLLATE "C" = ${row}.phone_number AND ${condition})`

export const isListed = hasEntry('NOT entry.is_deleted')

/** A page of the user's entries, newest first. */
export async function findBlacklist (
  db: Pool, { userId, searched, updatedFrom }: OwnFilter, page: Page
): Promise<Paged<EntryAnswer>> {
  const { items, ...place } = await readPage<FoundEntry>(db, {
    name: 'blacklist',
    columns: 'id, user_id, phone_number, reason, created_at',
    from: 'read_model.blacklist',
    key: 'key',
    own: [['user_id = ?', userId], ['NOT is_deleted']],
    filters: [...beginning('phone_number', searched), ['updated_at >= ?', updatedFrom]],
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: 'row_to_json(page)'
  }, page)
  return { items: items.map(answerOf), ...place }
}

interface FoundEntry {
  id: number
  user_id: string
  phone_number: string | null
  reason: string | null
  created_at: string
}

const answerOf = ({ id: blacklist_id, created_at, ...entry }: FoundEntry) =>
  describeEntry({ ...entry, blacklist_id, created_at: iso(created_at) })

/** The stream of the user's entry with this id, also of one that was deleted. */
export async function findBlacklistStream (db: Pool, userId: string, id: number): Promise<string | undefined> {
  const { rows } = await db.query<{ stream: string }>({
    name: 'find-blacklist-stream',
    text: 'SELECT stream FROM read_model.blacklist WHERE user_id = $1 AND id = $2 ORDER BY is_deleted LIMIT 1',
    values: [userId, id]
  })
  return rows[0]?.stream
}
