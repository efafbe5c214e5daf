// Phone numbers of users; the catalogue folds them. What was released is also kept beside assistants, so that an
// assistant and whether its number is still there are of one position.
import type { Pool } from 'pg'
import type { AssistantAtRevision } from '../../src/features/assistants/evolve.js'
import type { PhoneNumberEvent } from '../../src/features/phone-numbers/events.js'
import { beginning, readPage, type Page, type Paged } from '../../src/postgres/page.js'
import type { LogPosition, Rows } from '../folding/projection.js'
import { table } from '../folding/table.js'
import type { OwnFilter } from './own-filter.js'

/** The row of a number that was released stays, so that an earlier event of it adds it no more. */
interface PhoneNumberRow {
  id: number
  user_id: string
  phone_number: string
  is_released: boolean
  revision: number
  updated_at: string
}

export const phoneNumberTable = table<PhoneNumberRow>({
  name: 'phone_numbers',
  key: 'id',
  columns: { id: 'bigint', user_id: 'text', phone_number: 'text', is_released: 'boolean', revision: 'bigint', updated_at: 'timestamptz' },
  indexes: [
    '(user_id, id DESC) WHERE is_released IS NOT TRUE',
    '(user_id, phone_number COLLATE "C") WHERE is_released IS NOT TRUE',
    '(user_id, updated_at) WHERE is_released IS NOT TRUE'
  ]
})

/** A claim that was ended before its number was added leaves no row. */
export function projectPhoneNumber (event: PhoneNumberEvent, { revision, created }: LogPosition, rows: Rows): void {
  const { phone_number_id: id, user_id } = event.data
  const row = rows.get(phoneNumberTable, id)
  if (row && revision <= BigInt(row.revision)) return
  const changed = { revision: Number(revision), updated_at: created.toISOString() }
  if (event.type === 'PhoneNumberReleased') {
    if (row) rows.put(phoneNumberTable, { ...row, ...changed, is_released: true })
    return
  }
  const { phone_number } = event.data
  if (!row) rows.put(phoneNumberTable, { id, user_id, phone_number, ...changed, is_released: false })
}

/** A page of the user's phone numbers, newest first. */
export async function findPhoneNumbers (
  db: Pool, { userId, searched, updatedFrom }: OwnFilter, page: Page
): Promise<Paged<{ id: number, phone_number: string }>> {
  return await readPage(db, {
    name: 'phone-numbers',
    columns: 'id, phone_number',
    from: 'read_model.phone_numbers',
    key: 'id',
    own: [['user_id = ?', userId], ['is_released IS NOT TRUE']],
    filters: [...beginning('phone_number', searched), ['updated_at >= ?', updatedFrom]],
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: 'row_to_json(page)'
  }, page)
}

/** Of the projection of assistants. */
export const releasedNumbers = table<{ id: number, released_at: string }>({
  name: 'released_numbers', key: 'id', columns: { id: 'bigint', released_at: 'timestamptz' }
})

/** The assistant without its phone number, where that was released. */
export async function withoutReleased (db: Pool, assistant: AssistantAtRevision): Promise<AssistantAtRevision> {
  const { settings } = assistant
  if (settings.phone_number_id === null) return assistant
  const { rows: [released] } = await db.query<{ released_at: Date }>({
    name: 'released-number',
    text: 'SELECT released_at FROM read_model.released_numbers WHERE id = $1',
    values: [settings.phone_number_id]
  })
  return released ? withoutNumber(assistant, released.released_at) : assistant
}

export const withoutNumber = ({ settings, ...assistant }: AssistantAtRevision, at: Date): AssistantAtRevision =>
  ({ ...assistant, settings: { ...settings, phone_number_id: null }, number_released_at: at.toISOString() })
