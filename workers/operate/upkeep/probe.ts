// Finds out whether endpoints that were suspended for failing work again.
import type { Pool } from 'pg'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { insertOnDemandAttempt } from '../../deliveries/attempts/on-demand.js'
import { notifyDue } from '../../deliveries/due-channel.js'
import { mustMove } from '../../deliveries/moves/batch-sql.js'

const probeEvery = '1 day'
const atOnce = 100

interface Chosen { endpoint_id: string, user_id: string, id: string, assistant_id: string }

/**
 * Attempts one held delivery of each endpoint that was suspended for failing, once a day. A success resumes the
 * endpoint, a failure changes nothing. @returns how many
 */
export async function probeSuspended (pool: Pool): Promise<number> {
  return await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<Chosen>(`
      WITH due AS (
        SELECT id, user_id FROM ledger.webhook_endpoints
        WHERE suspended_reason = 'failing'
          AND greatest(suspended_at, probed_at) < now() - interval '${probeEvery}'
        ORDER BY greatest(suspended_at, probed_at) LIMIT ${atOnce} FOR UPDATE SKIP LOCKED
      ), probed AS (
        UPDATE ledger.webhook_endpoints e SET probed_at = now() FROM due WHERE e.id = due.id
      )
      SELECT due.id AS endpoint_id, due.user_id, held.id, held.assistant_id FROM due CROSS JOIN LATERAL (
        SELECT id, assistant_id FROM ledger.webhook_deliveries d
        WHERE endpoint_id = due.id AND status = 'held' AND reason = 'endpoint_suspended' AND body IS NOT NULL
          AND assistant_id IS NOT NULL AND NOT ${mustMove('d.assistant_id', 'd.endpoint_id')}
        ORDER BY held_at LIMIT 1) held`)
    for (const { endpoint_id: endpointId, user_id: userId, id: deliveryId, assistant_id: assistantId } of rows) {
      const attempt = { deliveryId, trigger: 'probe' as const, userId, assistantId: Number(assistantId), endpointId }
      await insertOnDemandAttempt(tx, attempt)
      await notifyDue(tx, userId)
    }
    return rows.length
  })
}
