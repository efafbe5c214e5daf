// Lists the notices of webhooks, for users and operators. The statement that records an outcome writes them.
import type { Pool } from 'pg'
import type { Notice } from '../../src/features/webhooks/model.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'

const iso = 'to_char(page.at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\')'

/** What a notice is made of, as JSON, from a row `page`. */
export const noticeOf = (row: string) => `
  'id', ${row}.id, 'type', ${row}.type, 'assistant_id', ${row}.assistant_id, 'delivery_id', ${row}.delivery_id,
  'reason', ${row}.reason, 'at', ${iso.replace('page', row)}`

/** A page of the user's notices, newest first. */
export async function listNotices (pool: Pool, userId: string, page: Page): Promise<Paged<Notice>> {
  return await readPage(pool, {
    name: 'notices',
    columns: 'id, type, assistant_id, delivery_id, reason, at',
    from: 'ledger.webhook_notices',
    key: 'id',
    own: [['user_id = ?', userId]],
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: `json_build_object(${noticeOf('page')})`
  }, page)
}
