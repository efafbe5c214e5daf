// The do-not-call list of each user: its rows, and the queries on them.
import type { Pool } from 'pg'
import type { BlacklistEvent } from '../src/features/blacklist/events.js'
import { describeEntry, type EntryAnswer } from '../src/features/blacklist/model.js'
import { lookUp } from '../src/postgres/batcher.js'
import { beginning, type Page, type Paged, readPage } from '../src/postgres/page.js'
import { campaignOrEntry, type OwnFilter } from './catalog.js'
import type { LogPosition, Rows } from './engine/projection.js'
import { iso, orNull, type RowOf, table } from './engine/table.js'

/**
 * A deleted entry keeps its row and number, because the deletion changed leads with that number. An erased entry keeps
 * its row without the number.
 */
export const blacklistTable = table({
  name: 'blacklist',
  key: 'key',
  columns: {
    key: 'text', // stream and id: if a mistake gave an id out twice, it hides no entry
    id: 'bigint',
    user_id: 'text',
    phone_number: orNull('text'),
    reason: orNull('text'),
    stream: 'text',
    is_deleted: 'boolean',
    revision: 'bigint',
    created_at: 'timestamptz',
    updated_at: 'timestamptz'
  },
  indexes: [
    '(user_id, id DESC) INCLUDE (key, phone_number) WHERE NOT is_deleted',
    '(user_id, phone_number COLLATE "C")',
    '(user_id, updated_at)',
    '(user_id, id)',
    '(stream) WHERE NOT is_deleted'
  ]
})

export const entryKey = (stream: string, { blacklist_id }: { blacklist_id: number }) => `${stream} ${blacklist_id}`

export function projectEntry (
  { type, data }: BlacklistEvent, { stream, revision, created }: LogPosition, rows: Rows
): void {
  const key = entryKey(stream, data)
  const row = rows.get(blacklistTable, key)
  if (row && revision <= BigInt(row.revision)) return
  const { blacklist_id: id, user_id } = data
  const shared = { key, id, user_id, stream, revision: Number(revision), updated_at: created.toISOString() }
  switch (type) {
    case 'BlacklistEntryErased': {
      const erased = { phone_number: null, reason: null, is_deleted: false, created_at: data.created_at }
      return rows.put(blacklistTable, { ...shared, ...erased })
    }
    case 'PhoneNumberBlacklisted': {
      const { phone_number, reason, created_at } = data
      return rows.put(blacklistTable, { ...shared, phone_number, reason, is_deleted: false, created_at })
    }
    case 'PhoneNumberUnblacklisted':
      if (row) rows.put(blacklistTable, { ...row, ...shared, reason: null, is_deleted: true })
      return
    default: return type satisfies never
  }
}

/** SQL: whether the user of a row of `leads` has an entry with its number that fits `condition`. */
export const hasEntry = (condition: string, row = 'leads') => `EXISTS (
  SELECT FROM read_model.blacklist entry
  WHERE entry.user_id = ${row}.user_id AND entry.phone_number COLLATE "C" = ${row}.phone_number AND ${condition})`

export const isListed = hasEntry('NOT entry.is_deleted')

/** A page of the user's entries, newest first. */
export async function findBlacklist (
  db: Pool, { userId, searched, updatedFrom }: OwnFilter, page: Page
): Promise<Paged<EntryAnswer>> {
  type FoundEntry = Pick<RowOf<typeof blacklistTable>, 'id' | 'user_id' | 'phone_number' | 'reason' | 'created_at'>
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
  const answers = items.map(({ id: blacklist_id, created_at, ...entry }) =>
    describeEntry({ ...entry, blacklist_id, created_at: iso(created_at) }))
  return { items: answers, ...place }
}

/** Finds the streams of deleted entries too. */
export async function findBlacklistStream (db: Pool, userId: string, id: number): Promise<string | undefined> {
  const { rows } = await db.query<{ stream: string }>({
    name: 'find-blacklist-stream',
    text: 'SELECT stream FROM read_model.blacklist WHERE user_id = $1 AND id = $2 ORDER BY is_deleted LIMIT 1',
    values: [userId, id]
  })
  return rows[0]?.stream
}

/**
 * Notes in the ledger which streams may have an entry. If the ledger was lost, the read model replaces the notes once
 * it has passed the head that the log had at our start (`isCaughtUp`); until then every stream may have an entry.
 */
export const notedEntries = (pool: Pool, positions: { isCaughtUp (withinMs: number): Promise<boolean> }) => ({
  async note (stream: string): Promise<void> {
    await pool.query({
      name: 'note-entry',
      text: 'INSERT INTO ledger.noted_entries (stream) VALUES ($1) ON CONFLICT DO NOTHING',
      values: [stream]
    })
  },
  async mayHaveEntry (streams: readonly string[]): Promise<string[]> {
    if (!await positions.isCaughtUp(0)) return [...streams]
    const noted = await Promise.all(streams.map((stream) => lookUp(pool, campaignOrEntry, [null, null, stream])))
    return streams.filter((_, index) => noted[index])
  }
})
