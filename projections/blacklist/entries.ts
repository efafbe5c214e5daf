// What users do not want called. The projection of leads folds it, so that a lead and whether its number is listed are
// of one position.
import type { BlacklistEvent } from '../../src/features/blacklist/events.js'
import type { LogPosition, Rows } from '../folding/projection.js'
import { table } from '../folding/table.js'

/**
 * The row of an entry that was deleted stays with its number: leads with it changed then. So does that of one whose
 * number was erased, without it.
 */
interface EntryRow {
  /** Stream and id: an id that a mistake gave out twice hides no entry. */
  key: string
  id: number
  user_id: string
  phone_number: string | null
  reason: string | null
  stream: string
  is_deleted: boolean
  revision: number
  created_at: string
  updated_at: string
}

export const blacklistTable = table<EntryRow>({
  name: 'blacklist',
  key: 'key',
  columns: {
    key: 'text',
    id: 'bigint',
    user_id: 'text',
    phone_number: 'text',
    reason: 'text',
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
