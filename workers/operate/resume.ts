// Lets the dispatcher of a restored database go on: what a lost database may have sent is not sent again.
import type { Pool } from 'pg'
import { dispatcherCheckpoint, readDatabaseState } from '../../src/recovery/database-state.js'
import type { MarkedLog } from '../../src/recovery/last-marker.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { touchCheckpoint } from '../../src/subscriptions/checkpoint.js'

export interface Resumed {
  /** Calls up to this position get deliveries that are not sent. */
  position: bigint
  /** Deliveries that were due or held in the restored delivery log. */
  cancelled: number
}

const restored = 'the database was restored'

/**
 * Calls up to the last marker are recorded as `skipped`, pending deliveries are `cancelled`, both for the reason
 * `restored`; later calls are sent as ever. Running workers notice within seconds.
 * @returns nothing when webhooks may be sent already
 */
export async function resumeWebhooks (pool: Pool, streams: MarkedLog): Promise<Resumed | undefined> {
  const { last, maySend } = await readDatabaseState(pool, streams)
  if (!last || maySend) return undefined
  const { id, revision, position } = last
  return await inTransaction(pool, async (tx) => {
    await touchCheckpoint(tx, dispatcherCheckpoint)
    await tx.query('UPDATE ledger.this_database SET skip_until = greatest(skip_until, $1::bigint)', [position])
    await tx.query(`
      WITH asked AS (DELETE FROM ledger.webhook_attempts_on_demand RETURNING *)
      INSERT INTO ledger.webhook_attempts
        (delivery_id, trigger, n, endpoint_id, worker_token, started_at, finished_at, outcome, error)
      SELECT delivery_id, trigger, n, endpoint_id, worker_token, started_at, clock_timestamp(), 'unknown', '${restored}'
      FROM asked WHERE started_at IS NOT NULL`)
    await tx.query(`
      INSERT INTO ledger.webhook_attempts
        (delivery_id, n, endpoint_id, worker_token, started_at, finished_at, outcome, error)
      SELECT id, attempt_count, endpoint_id, worker_token, started_at, clock_timestamp(), 'unknown', '${restored}'
      FROM ledger.webhook_deliveries WHERE started_at IS NOT NULL AND queued_at IS NOT NULL`)
    const { rowCount } = await tx.query(`
      UPDATE ledger.webhook_deliveries
      SET status = 'cancelled', reason = 'restored', finished_at = clock_timestamp(), next_attempt_at = NULL,
          held_at = NULL, queued_at = NULL, started_at = NULL, worker_token = NULL
      WHERE status IN ('scheduled', 'held')`)
    await tx.query(`
      INSERT INTO ledger.markers (id, revision, position, calls_known) VALUES ($1, $2, $3, true)
      ON CONFLICT (id) DO UPDATE SET revision = $2, position = $3, calls_known = true`, [id, revision, position])
    return { position, cancelled: rowCount ?? 0 }
  })
}
