// Rows of imports that wait: those that name an erased person are refused, in their place, when their turn comes. Also
// those of a body that is still being sent, or whose process died: no request names them.
import type { Pool } from 'pg'
import { inTransaction } from '../../../src/postgres/transaction.js'
import type { Person } from './request.js'

interface WaitingLead { body: object, refused?: object, row: number }
interface WaitingPart { upload_id: string, first_row: number, leads: WaitingLead[], is_begun: boolean }

const partsAtOnce = 100

/** @returns false while a part with the number is being done: its leads are to be looked for once it is */
export async function erasePendingRows (pool: Pool, person: Person): Promise<boolean> {
  for (;;) {
    const found = await refuseSome(pool, person)
    if (found.some(({ is_begun }) => is_begun)) return false
    if (found.length < partsAtOnce) return true
  }
}

/** Those that are begun come last, and stay as they are. */
async function refuseSome (pool: Pool, { userId, phoneNumber }: Person): Promise<WaitingPart[]> {
  return await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<WaitingPart>(`
      SELECT upload_id, first_row, leads, ids IS NOT NULL AS is_begun FROM ledger.lead_import_parts
      WHERE (user_id = $1 OR user_id IS NULL AND upload_id IN (
        SELECT (input ->> 'upload_id')::uuid FROM ledger.background_requests
        WHERE kind = 'lead-import' AND user_id = $1 AND state IN ('prepared', 'accepted')))
        AND strpos(leads::text, $2) > 0
      ORDER BY ids IS NOT NULL, upload_id, first_row LIMIT ${partsAtOnce} FOR UPDATE`, [userId, `"${phoneNumber}"`])
    for (const { upload_id, first_row, leads } of rows.filter(({ is_begun }) => !is_begun)) {
      const left = leads.map((lead) => names(lead, phoneNumber) ? { ...refused, row: lead.row } : lead)
      await tx.query('UPDATE ledger.lead_import_parts SET leads = $3 WHERE upload_id = $1 AND first_row = $2',
        [upload_id, first_row, JSON.stringify(left)])
    }
    return rows
  })
}

const names = (lead: WaitingLead, phoneNumber: string) => JSON.stringify(lead).includes(JSON.stringify(phoneNumber))
const refused: Omit<WaitingLead, 'row'> = { body: {}, refused: { phone_number: ['was erased before its turn came'] } }
