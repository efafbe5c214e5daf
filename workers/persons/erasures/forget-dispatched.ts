// What the dispatcher remembers of a number.
import type { Pool } from 'pg'
import { dispatcherCheckpoint } from '../../../src/recovery/database-state.js'
import { touchCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import type { Person } from './request.js'

/** It may hold a listed number in memory: it reads anew what stands beside its checkpoint. */
export async function forgetDispatched (pool: Pool, { userId, phoneNumber }: Person): Promise<void> {
  const values = [userId, phoneNumber]
  const those = 'WHERE user_id = $1 AND phone_number = $2'
  const { rows: [found] } = await pool.query<{ is_there: boolean }>(`
    SELECT EXISTS (SELECT FROM ledger.dispatch_blacklist ${those})
        OR EXISTS (SELECT FROM ledger.dispatch_leads ${those}) AS is_there`, values)
  if (!found?.is_there) return
  await inTransaction(pool, async (tx) => {
    await touchCheckpoint(tx, dispatcherCheckpoint)
    await tx.query(`DELETE FROM ledger.dispatch_blacklist ${those}`, values)
    await tx.query(`
      UPDATE ledger.dispatch_leads SET phone_number = '', variables = '{"customer_name":"","email":""}' ${those}`, values)
  })
}
