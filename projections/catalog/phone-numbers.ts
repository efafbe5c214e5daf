// Phone numbers of users; the catalogue folds them. What was released is also kept beside assistants, so that an
// assistant and whether its number is still there are of one position.
import type { Pool } from 'pg'
import type { AssistantAtRevision } from '../../src/domain/assistant/evolve.js'
import type { PhoneNumberEvent } from '../../src/domain/phone-number/events.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'
import type { LogPosition, Rows } from '../folding/projection.js'
import { table } from '../folding/table.js'

/** The row of a number that was released stays, so that an earlier event of it adds it no more. */
interface PhoneNumberRow {
  id: number
  user_id: string
  phone_number: string
  is_released: boolean
  revision: number
}

export const phoneNumberTable = table<PhoneNumberRow>({
  name: 'phone_numbers',
  key: 'id',
  columns: { id: 'bigint', user_id: 'text', phone_number: 'text', is_released: 'boolean', revision: 'bigint' },
  indexes: ['(user_id, id DESC) WHERE is_released IS NOT TRUE']
})

/** A claim that was ended before its number was added leaves no row. */
export function projectPhoneNumber (event: PhoneNumberEvent, { revision }: LogPosition, rows: Rows): void {
  const { phone_number_id: id, user_id } = event.data
  const row = rows.get(phoneNumberTable, id)
  if (row && revision <= BigInt(row.revision)) return
  if (event.type === 'PhoneNumberReleased') {
    if (row) rows.put(phoneNumberTable, { ...row, is_released: true, revision: Number(revision) })
    return
  }
  const { phone_number } = event.data
  if (!row) rows.put(phoneNumberTable, { id, user_id, phone_number, is_released: false, revision: Number(revision) })
}

/** A page of the user's phone numbers, newest first. */
export async function findPhoneNumbers (
  db: Pool, userId: string, page: Page
): Promise<Paged<{ id: number, phone_number: string }>> {
  return await readPage(db, {
    columns: 'id, phone_number',
    from: 'read_model.phone_numbers',
    key: 'id',
    filters: [['user_id = ?', userId], ['is_released IS NOT TRUE']],
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: 'row_to_json(page)'
  }, page)
}

/** Of the projection of assistants. */
export const releasedNumbers = table<{ id: number }>({ name: 'released_numbers', key: 'id', columns: { id: 'bigint' } })

/** The assistant without its phone number, where that was released. */
export async function withoutReleased (db: Pool, assistant: AssistantAtRevision): Promise<AssistantAtRevision> {
  const { settings } = assistant
  if (settings.phone_number_id === null) return assistant
  const { rowCount: isReleased } = await db.query({
    name: 'released-number',
    text: 'SELECT FROM read_model.released_numbers WHERE id = $1',
    values: [settings.phone_number_id]
  })
  return isReleased ? { ...assistant, settings: { ...settings, phone_number_id: null } } : assistant
}
