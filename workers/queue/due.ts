// Of whom something is due. The looks step through the index of what waits without a slot, from endpoint to endpoint: a
// million deliveries of one endpoint cost no more than one. Nothing is locked.
import type { Pool } from 'pg'

/** Room for what was written before a pass and is committed after it. */
const justNow = "statement_timestamp() - interval '10 seconds'"

const passSql = `
  WITH RECURSIVE waiting (user_id, endpoint_id, first_due) AS (
    (SELECT user_id, endpoint_id, next_attempt_at FROM ledger.webhook_deliveries
     WHERE status = 'scheduled' AND queued_at IS NULL
     ORDER BY user_id, endpoint_id, next_attempt_at LIMIT 1)
    UNION ALL
    SELECT next.user_id, next.endpoint_id, next.next_attempt_at
    FROM waiting w
    CROSS JOIN LATERAL (
      SELECT user_id, endpoint_id, next_attempt_at FROM ledger.webhook_deliveries
      WHERE (user_id, endpoint_id) > (w.user_id, w.endpoint_id) AND status = 'scheduled' AND queued_at IS NULL
      ORDER BY user_id, endpoint_id, next_attempt_at LIMIT 1) next
  ), for_long AS (
    SELECT user_id, min(first_due) AS since FROM waiting GROUP BY user_id HAVING min(first_due) < ${justNow}
  ), no_longer AS (
    DELETE FROM ledger.users_due_since u WHERE NOT EXISTS (SELECT FROM for_long l WHERE l.user_id = u.user_id)
  ), noted AS (
    INSERT INTO ledger.users_due_since AS u (user_id, next_attempt_at) SELECT user_id, since FROM for_long
    ON CONFLICT (user_id) DO UPDATE SET next_attempt_at = excluded.next_attempt_at
    WHERE u.next_attempt_at <> excluded.next_attempt_at
  ), passed AS (
    INSERT INTO ledger.due_since (next_attempt_at, queued_at, noted_at)
    SELECT ${justNow}, least(${justNow}, min(queued_at)), statement_timestamp()
    FROM ledger.webhook_deliveries WHERE queued_at IS NOT NULL
    ON CONFLICT (only_row) DO UPDATE
    SET next_attempt_at = excluded.next_attempt_at, queued_at = excluded.queued_at, noted_at = excluded.noted_at
  )
  SELECT user_id FROM waiting WHERE first_due <= clock_timestamp()
  UNION
  SELECT user_id FROM ledger.webhook_attempts_on_demand
  WHERE queued_at IS NULL AND due_at <= clock_timestamp()`

/**
 * One pass over all that waits.
 * It notes before when nothing is left, which is where other looks begin until the next pass.
 * @returns users with something due that has no slot yet
 */
export async function passOverDue (pool: Pick<Pool, 'query'>): Promise<string[]> {
  const { rows } = await pool.query<{ user_id: string }>(passSql)
  return rows.map(({ user_id }) => user_id)
}
