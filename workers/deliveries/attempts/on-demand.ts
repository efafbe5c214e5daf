// Attempts on demand, redeliveries, tests and probes: the row comes first, then a job; the schedule does not change.
// Once the attempt has ended, the row is gone, and the attempt stands among all others.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../../src/postgres/transaction.js'
import {
  ageMs, startedColumns, toAttempt,
  type Attempt, type AttemptRow, type Finish, type Job, type OnDemandTrigger, type Sent, type Trigger
} from './attempt.js'
import { resumeEndpoints } from '../endpoints.js'

export interface NewOnDemandAttempt {
  deliveryId: string
  trigger: OnDemandTrigger
  userId: string
  assistantId: number
  endpointId: string
}

/** Inserts an attempt that is due at once. After the commit nothing can lose it. */
export async function insertOnDemandAttempt (
  tx: PoolClient, { deliveryId, trigger, userId, assistantId, endpointId }: NewOnDemandAttempt
): Promise<void> {
  await tx.query(`
    INSERT INTO ledger.webhook_attempts_on_demand (delivery_id, trigger, n, endpoint_id, user_id, assistant_id, due_at)
    VALUES ($1, $2, 1 + ${lastNumber('$1', '$2')}, $3, $4, $5, clock_timestamp())`,
  [deliveryId, trigger, endpointId, userId, assistantId])
}

/** The number of the last attempt of a delivery by this trigger, 0 when there is none. */
const lastNumber = (id: string, trigger: string) => `coalesce((
  SELECT max(n) FROM ledger.all_webhook_attempts a WHERE a.delivery_id = ${id} AND a.trigger = ${trigger}), 0)`

/** One worker gets the attempt, a stale job gets nothing. The status of the delivery does not count. */
export async function startOnDemandAttempt (
  pool: Pool, { deliveryId, n, jobNumber }: Job, trigger: OnDemandTrigger, token: string
): Promise<Attempt | undefined> {
  const { rows } = await pool.query<AttemptRow>({
    name: 'start-on-demand-attempt',
    text: `
    WITH started AS (
      UPDATE ledger.webhook_attempts_on_demand SET started_at = clock_timestamp(), worker_token = $5
      WHERE delivery_id = $1 AND trigger = $2 AND n = $3 AND job_number = $4 AND started_at IS NULL
      RETURNING delivery_id, user_id, assistant_id, endpoint_id
    )
    SELECT started.user_id, started.endpoint_id, d.body, d.traceparent, 0 AS failure_count, ${ageMs('d')} AS age_ms,
           ${startedColumns('started')}
    FROM started JOIN ledger.webhook_deliveries d ON d.id = started.delivery_id
    LEFT JOIN ledger.webhook_endpoints e ON e.id = started.endpoint_id`,
    values: [deliveryId, trigger, n, jobNumber, token]
  })
  return rows[0] && toAttempt(rows[0], { deliveryId, trigger, n, token })
}

/**
 * Writes the outcome, once. A success makes the delivery `delivered`; that of a test or probe resumes its endpoint.
 * A failure changes only a test delivery, which has no other attempt. An unknown outcome inserts the attempt once more.
 * @param againInMs when that attempt is due
 * @returns false when the attempt was closed as `unknown` meanwhile: then only a success still counts
 */
export async function finishOnDemandAttempt (
  pool: Pool, { deliveryId, trigger, n, token, endpointId }: Sent, finish: Finish, againInMs: number
): Promise<boolean> {
  const { outcome, statusCode, durationMs, error, excerpt, truncated } = finish
  return await inTransaction(pool, async (tx) => {
    if (outcome === 'delivered' && resuming.includes(trigger)) await resumeEndpoints(tx, [endpointId])
    const kept = await isErased(tx, deliveryId) ? null : excerpt
    const { rows } = await tx.query<{ counted: boolean }>(finishSql, [
      deliveryId, trigger, n, token, outcome, statusCode, durationMs, error, kept, truncated, againInMs
    ])
    return rows[0]?.counted === true
  })
}

/** Locks the delivery, so that it is not erased meanwhile. */
async function isErased (tx: PoolClient, deliveryId: string): Promise<boolean> {
  const { rows: [delivery] } = await tx.query<{ erased: boolean }>(`
    SELECT erased_at IS NOT NULL AS erased FROM ledger.webhook_deliveries WHERE id = $1 FOR NO KEY UPDATE`, [deliveryId])
  return delivery?.erased ?? false
}

const resuming: readonly Trigger[] = ['test', 'probe']

/** Inserts the attempts of `closed` again, due in so many milliseconds. */
export const insertOnceMore = (inMs: string) => `
  INSERT INTO ledger.webhook_attempts_on_demand (delivery_id, trigger, n, endpoint_id, user_id, assistant_id, due_at)
  SELECT delivery_id, trigger,
         ${lastNumber('closed.delivery_id', 'closed.trigger')}
           + row_number() OVER (PARTITION BY delivery_id, trigger ORDER BY n),
         endpoint_id, user_id, assistant_id, clock_timestamp() + ${inMs} * interval '1 ms'
  FROM closed`

const finishSql = `
  WITH ended AS (
    DELETE FROM ledger.webhook_attempts_on_demand
    WHERE delivery_id = $1 AND trigger = $2 AND n = $3 AND worker_token = $4
    RETURNING delivery_id, trigger, n, endpoint_id, user_id, assistant_id, worker_token, started_at
  ), written AS (
    INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, endpoint_id, worker_token, started_at, finished_at,
      outcome, status_code, duration_ms, error, response_excerpt, response_truncated)
    SELECT delivery_id, trigger, n, endpoint_id, worker_token, started_at, clock_timestamp(),
      $5, $6::integer, $7::integer, $8, $9, $10::boolean FROM ended
  ), late AS (
    UPDATE ledger.webhook_attempts
    SET finished_at = clock_timestamp(), outcome = $5, status_code = $6, duration_ms = $7, error = $8,
        response_excerpt = $9, response_truncated = $10
    WHERE delivery_id = $1 AND trigger = $2 AND n = $3 AND worker_token = $4 AND outcome = 'unknown' AND $5 = 'delivered'
    RETURNING delivery_id
  ), closed AS (
    SELECT ended.* FROM ended JOIN ledger.webhook_deliveries d ON d.id = delivery_id
    WHERE $5 = 'unknown' AND d.body IS NOT NULL -- not erased
  ), again AS (${insertOnceMore('$11')}
  ), concluded AS (
    UPDATE ledger.webhook_deliveries d
    SET status = CASE WHEN $5 = 'delivered' THEN 'delivered' ELSE 'exhausted' END,
        reason = CASE WHEN $5 = 'delivered' THEN NULL ELSE 'attempts_used_up' END,
        finished_at = clock_timestamp(), next_attempt_at = NULL, held_at = NULL, crash_count = 0,
        -- a running attempt of the schedule keeps its slot until it ends
        queued_at = CASE WHEN started_at IS NOT NULL THEN queued_at END
    FROM (SELECT delivery_id FROM ended UNION ALL SELECT delivery_id FROM late) counted
    WHERE d.id = counted.delivery_id AND CASE
      WHEN $5 = 'delivered' THEN d.status <> 'delivered'
      ELSE $5 <> 'unknown' AND d.call_id IS NULL AND d.status = 'scheduled' END
  )
  SELECT EXISTS (SELECT FROM ended) OR EXISTS (SELECT FROM late) AS counted`
