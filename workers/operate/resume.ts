// Lets deliveries go on that wait for an operator: those of a restored database, those of endpoints that are suspended.
import type { Pool } from 'pg'
import { dispatcherCheckpoint } from '../../src/recovery/same-log.js'
import { type MarkedLog, readDatabaseState } from '../../src/recovery/markers.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { touchCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { notifyDue } from '../deliveries/due-channel.js'
import { resumeEndpoints } from '../deliveries/endpoints.js'

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

export interface InterruptedEndpoint {
  id: string
  user_id: string
  /** Without its query, which may hold a secret. */
  url: string
  state: 'suspended' | 'paused'
  reason: string
  /** ISO 8601; null of a pause. */
  since: string | null
  /** ISO 8601; null of a suspension, which ends when somebody ends it. */
  until: string | null
}

interface Row { id: string, user_id: string, url: string, reason: string, since: Date | null, until: Date | null }

/** Suspended ones first, the longest suspended first. */
export async function interruptedEndpoints (pool: Pool, most: number): Promise<InterruptedEndpoint[]> {
  const { rows } = await pool.query<Row>(`
    SELECT id, user_id, split_part(url, '?', 1) AS url, coalesce(suspended_reason, pause_reason) AS reason,
           suspended_at AS since, CASE WHEN suspended_at IS NULL THEN paused_until END AS until
    FROM ledger.webhook_endpoints
    WHERE suspended_at IS NOT NULL OR paused_until > clock_timestamp()
    ORDER BY suspended_at NULLS LAST, id LIMIT $1`, [most])
  return rows.map(({ since, until, ...row }) => ({
    ...row,
    state: since ? 'suspended' : 'paused',
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null
  }))
}

/** Ends the suspension or pause of one. @returns how many deliveries were held; nothing when it is not interrupted */
export async function resumeEndpoint (pool: Pool, id: string): Promise<number | undefined> {
  return await inTransaction(pool, async (tx) => {
    const { rows: [found] } = await tx.query<{ user_id: string }>(`
      SELECT user_id FROM ledger.webhook_endpoints
      WHERE id = $1 AND (suspended_at IS NOT NULL OR paused_until > clock_timestamp())`, [id])
    if (!found) return undefined
    const held = await resumeEndpoints(tx, [id])
    await notifyDue(tx, found.user_id)
    return held
  })
}
