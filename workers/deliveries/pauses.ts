// An endpoint that asked for fewer requests gets none for a while.
import type { Pool, PoolClient } from 'pg'
import type { Pause } from '../../src/features/webhooks/outcome.js'

/** Nothing is sent to the endpoint for so long, or longer where it was paused for longer before. */
export async function pauseEndpoint (pool: Pool, endpointId: string, { inMs, reason }: Pause): Promise<void> {
  await pool.query(`
    UPDATE ledger.webhook_endpoints SET paused_until = now() + $2 * interval '1 ms', pause_reason = $3
    WHERE id = $1 AND (paused_until IS NULL OR paused_until < now() + $2 * interval '1 ms')`, [endpointId, inMs, reason])
}

const mostAtOnce = 1_000

/**
 * What pauses of these endpoints have put off is due, and what was due meanwhile anyway; the first of it where it is a
 * lot. The endpoints stay as they are.
 */
export async function endWaits (tx: PoolClient, endpoints: string[]): Promise<void> {
  await tx.query(`
    UPDATE ledger.webhook_deliveries SET next_attempt_at = clock_timestamp()
    WHERE id = ANY (ARRAY (
      SELECT d.id FROM ledger.webhook_endpoints e JOIN ledger.webhook_deliveries d ON d.endpoint_id = e.id
      WHERE e.id = ANY($1::bigint[]) AND e.suspended_at IS NULL AND d.user_id = e.user_id
        AND d.status = 'scheduled' AND d.queued_at IS NULL
        AND d.next_attempt_at > clock_timestamp() AND d.next_attempt_at <= e.paused_until + interval '1 second'
      LIMIT ${mostAtOnce} FOR NO KEY UPDATE OF d SKIP LOCKED))`, [endpoints])
}
