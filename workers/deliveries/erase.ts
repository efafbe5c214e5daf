// Takes what was sent of calls out of the delivery log: body and answers. That there was a webhook stays.
import type { PoolClient } from 'pg'

/**
 * What waits is not sent any more. An attempt that runs ends as it ends: its answer is not kept, as it finds that the
 * call was erased.
 */
export async function eraseDeliveries (tx: PoolClient, callIds: string[]): Promise<void> {
  if (callIds.length === 0) return
  const { rows } = await tx.query<{ id: string }>(`
    UPDATE ledger.webhook_deliveries d
    SET erased_at = coalesce(erased_at, clock_timestamp()), body = NULL, ${cancelling},
        queued_at = CASE WHEN started_at IS NOT NULL THEN queued_at END
    WHERE call_id = ANY($1::text[]) AND type = 'call.completed' RETURNING id`, [callIds])
  const ids = rows.map(({ id }) => id)
  await tx.query(`
    UPDATE ledger.webhook_attempts SET response_excerpt = NULL
    WHERE delivery_id = ANY($1::uuid[]) AND response_excerpt IS NOT NULL`, [ids])
  await tx.query(`
    DELETE FROM ledger.webhook_attempts_on_demand
    WHERE delivery_id = ANY($1::uuid[]) AND started_at IS NULL`, [ids])
}

const isPending = "status IN ('scheduled', 'held')"
const cancelling = `
        status = CASE WHEN ${isPending} THEN 'cancelled' ELSE status END,
        reason = CASE WHEN ${isPending} THEN 'erased' ELSE reason END,
        finished_at = CASE WHEN ${isPending} THEN clock_timestamp() ELSE finished_at END,
        held_at = NULL, next_attempt_at = NULL`
