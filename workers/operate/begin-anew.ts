// The schedule of a delivery from its beginning.
import type { PoolClient } from 'pg'

/**
 * Schedules deliveries that are not delivered for now, each to its endpoint, with all attempts before them. Those of a
 * suspended endpoint are held. @returns those that were changed
 */
export async function beginAnew (
  tx: PoolClient, ids: string[], endpoints: string[]
): Promise<{ user_id: string, status: string }[]> {
  const { rows } = await tx.query<{ user_id: string, status: string }>(`
    UPDATE ledger.webhook_deliveries d
    SET endpoint_id = e.id, failure_count = 0, crash_count = 0, next_attempt_at = clock_timestamp(), finished_at = NULL,
        queued_at = NULL,
        status = CASE WHEN e.suspended_at IS NULL THEN 'scheduled' ELSE 'held' END,
        reason = CASE WHEN e.suspended_at IS NOT NULL THEN 'endpoint_suspended' END,
        held_at = CASE WHEN e.suspended_at IS NOT NULL THEN coalesce(d.held_at, now()) END
    FROM unnest($1::uuid[], $2::bigint[]) AS wanted (id, endpoint_id)
    JOIN ledger.webhook_endpoints e ON e.id = wanted.endpoint_id
    WHERE d.id = wanted.id AND d.status IN ('scheduled', 'held', 'exhausted', 'cancelled')
      AND d.started_at IS NULL AND d.body IS NOT NULL
    RETURNING d.user_id, d.status`, [ids, endpoints])
  return rows
}
