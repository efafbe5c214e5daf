// Records the outcomes of attempts of the schedule: many in one statement.
import type { Pool, PoolClient } from 'pg'
import { usesAttempt, type Verdict } from '../../../src/features/webhooks/outcome.js'
import { untilUnlocked, type Attempt, type Finish } from './attempt.js'

export interface Finished {
  attempt: Pick<Attempt, 'deliveryId' | 'n' | 'token' | 'endpointId'>
  finish: Finish
  verdict: Verdict
}

/** A connection that is dead must not delay for longer what the next one can write. */
const answerWithinMs = 5_000

/** Called with a user who still has due deliveries without a slot when an attempt has ended. */
type OnDue = (userId: string) => void

/**
 * Writes each outcome once, for the worker that started the attempt. The answer is false when the attempt was closed
 * as `unknown` meanwhile: then only a success still counts. An outcome that is missing in the answer has a row that
 * another transaction locks, or shares its delivery with another outcome of the batch: it has to come alone.
 */
export async function finishAttempts (
  db: Pool | PoolClient, finished: Finished[], onDue: OnDue = () => {}
): Promise<Map<Finished, boolean>> {
  const byDelivery = new Map(finished.map((each) => [each.attempt.deliveryId, each]))
  const query = {
    name: 'finish-attempts',
    text: finishSql,
    values: valuesOf([...byDelivery.values()]),
    query_timeout: answerWithinMs
  }
  const { rows } = await db.query<{ id: string, counted: boolean, due_user: string | null }>(query)
  const written = new Map<Finished, boolean>()
  for (const { id, counted, due_user } of rows) {
    if (due_user !== null) onDue(due_user)
    const each = byDelivery.get(id)
    if (each) written.set(each, counted || (each.verdict.status === 'delivered' && await countLateSuccess(db, each)))
  }
  return written
}

/** Writes one outcome; waits while another transaction locks its delivery. */
export async function finishAttempt (
  pool: Pool, attempt: Finished['attempt'], finish: Finish, verdict: Verdict, onDue?: OnDue
): Promise<boolean> {
  const finished = { attempt, finish, verdict }
  do {
    const counted = (await finishAttempts(pool, [finished], onDue)).get(finished)
    if (counted !== undefined) return counted
  } while (await untilUnlocked(pool, attempt.deliveryId))
  return false
}

const valuesOf = (finished: Finished[]) => [
  finished.map(({ attempt }) => attempt.deliveryId),
  finished.map(({ attempt }) => attempt.n),
  finished.map(({ attempt }) => attempt.token),
  finished.map(({ finish }) => finish.outcome),
  finished.map(({ finish }) => finish.statusCode),
  finished.map(({ finish }) => finish.durationMs),
  finished.map(({ finish }) => finish.error),
  finished.map(({ finish }) => finish.excerpt),
  finished.map(({ finish }) => finish.truncated),
  finished.map(({ verdict }) => verdict.status),
  finished.map(({ verdict }) => 'reason' in verdict ? verdict.reason : null),
  finished.map(({ verdict }) => verdict.status === 'retry' ? verdict.inMs : 0),
  finished.map(({ finish }) => usesAttempt(finish)),
  finished.map(({ attempt }) => attempt.endpointId)
]

// Locks the deliveries first, as every other statement does, and skips locked ones: one of them must not delay the
// others. The attempt's row is written here, once. What is due is looked for as it was before: nothing of it hangs on
// what is written here.
const finishSql = `
  WITH locked AS MATERIALIZED (
    SELECT id, user_id, worker_token, started_at, erased_at FROM ledger.webhook_deliveries
    WHERE id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
  ), ended AS MATERIALIZED (
    SELECT * FROM locked JOIN unnest(
      $1::uuid[], $2::integer[], $3::uuid[], $4::text[], $5::integer[], $6::integer[],
      $7::text[], $8::text[], $9::boolean[], $10::text[], $11::text[], $12::float8[], $13::boolean[], $14::bigint[]
    ) AS f (id, n, worker_token, outcome, status_code, duration_ms,
            error, excerpt, truncated, verdict, reason, in_ms, uses_attempt, endpoint_id) USING (id, worker_token)
  ), kept AS (
    INSERT INTO ledger.webhook_attempts (delivery_id, n, endpoint_id, worker_token, started_at, finished_at,
      outcome, status_code, duration_ms, error, response_excerpt, response_truncated)
    SELECT id, n, endpoint_id, worker_token, started_at, clock_timestamp(),
      outcome, status_code, duration_ms, error, CASE WHEN erased_at IS NULL THEN excerpt END, truncated FROM ended
  ), written AS (
    UPDATE ledger.webhook_deliveries d
    SET status = CASE
          WHEN e.verdict = 'delivered' THEN e.verdict
          WHEN e.verdict = 'retry' OR d.status NOT IN ('scheduled', 'held') THEN d.status
          ELSE e.verdict END,
        reason = CASE
          WHEN e.verdict = 'delivered' THEN NULL
          WHEN e.verdict = 'retry' OR d.status NOT IN ('scheduled', 'held') THEN d.reason
          ELSE e.reason END,
        held_at = CASE WHEN e.verdict = 'retry' THEN d.held_at END,
        finished_at = CASE
          WHEN e.verdict = 'retry' THEN d.finished_at
          ELSE coalesce(d.finished_at, clock_timestamp()) END,
        failure_count = d.failure_count + e.uses_attempt::integer,
        crash_count = CASE WHEN e.outcome = 'unknown' THEN d.crash_count ELSE 0 END,
        next_attempt_at = CASE
          WHEN e.verdict = 'retry' THEN clock_timestamp() + e.in_ms * interval '1 ms'
          WHEN e.verdict = 'delivered' OR d.status IN ('scheduled', 'held') THEN NULL
          ELSE d.next_attempt_at END,
        queued_at = NULL, started_at = NULL, worker_token = NULL
    FROM ended e WHERE d.id = e.id AND d.id = ANY($1::uuid[])
    RETURNING d.id, d.user_id, d.assistant_id, d.status, d.reason, e.verdict
  ), noticed AS (
    INSERT INTO ledger.webhook_notices (user_id, type, assistant_id, delivery_id, reason)
    SELECT user_id, 'delivery_exhausted', assistant_id, id, reason FROM written
    WHERE verdict = 'exhausted' AND status = 'exhausted'
  )
  SELECT locked.id, ended.id IS NOT NULL AS counted, due.user_id AS due_user
  FROM locked LEFT JOIN ended ON ended.id = locked.id
  LEFT JOIN ledger.due_users(ARRAY(SELECT DISTINCT user_id FROM locked)) AS due (user_id) ON due.user_id = locked.user_id`

/** A success of an attempt that was closed as `unknown`. @returns whether it counts: it does once */
async function countLateSuccess (db: Pool | PoolClient, { attempt, finish }: Finished): Promise<boolean> {
  const { deliveryId, n, token } = attempt
  const { statusCode, durationMs, excerpt, truncated } = finish
  const values = [deliveryId, n, token, statusCode, durationMs, excerpt, truncated]
  const query = { text: lateSql, values, query_timeout: answerWithinMs }
  const { rowCount } = await db.query(query)
  return rowCount === 1
}

const lateSql = `
  WITH locked AS MATERIALIZED (
    SELECT id, erased_at FROM ledger.webhook_deliveries WHERE id = $1 FOR NO KEY UPDATE
  ), closed AS (
    UPDATE ledger.webhook_attempts a
    SET finished_at = clock_timestamp(), outcome = 'delivered', status_code = $4, duration_ms = $5, error = NULL,
        response_excerpt = CASE WHEN locked.erased_at IS NULL THEN $6 END, response_truncated = $7
    FROM locked WHERE a.delivery_id = $1 AND a.n = $2 AND a.worker_token = $3 AND a.outcome = 'unknown'
    RETURNING a.delivery_id AS id
  )
  UPDATE ledger.webhook_deliveries d
  SET status = 'delivered', reason = NULL, held_at = NULL, finished_at = coalesce(d.finished_at, clock_timestamp()),
      next_attempt_at = NULL, crash_count = 0,
      -- an attempt that is running now keeps its slot until it ends
      queued_at = CASE WHEN d.started_at IS NOT NULL THEN d.queued_at END
  FROM closed WHERE d.id = closed.id RETURNING d.id`
