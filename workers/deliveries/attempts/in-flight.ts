// Attempts of erased calls that had started before: their receivers may get them still.
import type { Pool } from 'pg'

/**
 * Whether any of the user's is under way.
 * @param abandonedAfterMs from then on an attempt without an outcome has no worker any more
 */
export async function areErasedInFlight (pool: Pool, userId: string, abandonedAfterMs: number): Promise<boolean> {
  const isRunning = "started_at > clock_timestamp() - $2 * interval '1 ms'"
  const { rows: [found] } = await pool.query<{ is_there: boolean }>(`
    SELECT EXISTS (
      SELECT FROM ledger.webhook_deliveries
      WHERE user_id = $1 AND queued_at IS NOT NULL AND erased_at IS NOT NULL AND ${isRunning}
    ) OR EXISTS (
      SELECT FROM ledger.webhook_attempts_on_demand a JOIN ledger.webhook_deliveries d ON d.id = a.delivery_id
      WHERE a.user_id = $1 AND d.erased_at IS NOT NULL AND a.${isRunning}
    ) AS is_there`, [userId, abandonedAfterMs])
  return found?.is_there ?? false
}
