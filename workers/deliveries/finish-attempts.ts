// Records the outcomes of attempts of the schedule: many in one statement.
import type { Pool, PoolClient } from 'pg'
import { usesAttempt, type Verdict } from '../../src/domain/webhook/outcome.js'
import { untilUnlocked, type Attempt, type Finish } from './attempts.js'

export interface Finished {
  attempt: Pick<Attempt, 'deliveryId' | 'n' | 'token'>
  finish: Finish
  verdict: Verdict
}

/** A connection that is dead must not delay for longer what the next one can write. */
const answerWithinMs = 5_000

/**
 * Writes each outcome once, for the worker that started the attempt. The answer is false when the attempt was closed
 * as `unknown` meanwhile: then only a success still counts. An outcome that is missing in the answer has a row that
 * another transaction locks, or shares its delivery with another outcome of the batch: it has to come alone.
 */
export async function finishAttempts (db: Pool | PoolClient, finished: Finished[]): Promise<Map<Finished, boolean>> {
  const byDelivery = new Map(finished.map((each) => [each.attempt.deliveryId, each]))
  const query = {
    name: 'finish-attempts',
    text: finishSql,
    values: valuesOf([...byDelivery.values()]),
    query_timeout: answerWithinMs
  }
  const { rows } = await db.query<{ id: string, counted: boolean }>(query)
  return new Map(rows.flatMap(({ id, counted }): [Finished, boolean][] => {
    const each = byDelivery.get(id)
    return each ? [[each, counted]] : []
  }))
}

/** Writes one outcome; waits while another transaction locks its delivery. */
export async function finishAttempt (
  pool: Pool, attempt: Finished['attempt'], finish: Finish, verdict: Verdict
): Promise<boolean> {
  const finished = { attempt, finish, verdict }
  do {
    const counted = (await finishAttempts(pool, [finished])).get(finished)
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
  finished.map(({ finish }) => usesAttempt(finish))
]

// Locks the deliveries first, as every other statement does, and skips locked ones: one of them must not delay the
// others.
const finishSql = `
  WITH locked AS MATERIALIZED (
    SELECT id FROM ledger.webhook_deliveries WHERE id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
  ), closed AS (
    UPDATE ledger.webhook_attempts a
    SET finished_at = clock_timestamp(), outcome = f.outcome, status_code = f.status_code, duration_ms = f.duration_ms,
        error = f.error, response_excerpt = f.excerpt, response_truncated = f.truncated
    FROM locked JOIN unnest(
      $1::uuid[], $2::integer[], $3::uuid[], $4::text[], $5::integer[], $6::integer[],
      $7::text[], $8::text[], $9::boolean[], $10::text[], $11::text[], $12::float8[], $13::boolean[]
    ) AS f (id, n, token, outcome, status_code, duration_ms,
            error, excerpt, truncated, verdict, reason, in_ms, uses_attempt) USING (id)
    WHERE a.delivery_id = locked.id AND a.delivery_id = ANY($1::uuid[])
      AND a.trigger = 'schedule' AND a.n = f.n AND a.worker_token = f.token
      AND (a.outcome IS NULL OR (a.outcome = 'unknown' AND f.outcome = 'delivered'))
    RETURNING f.id, f.token, f.verdict, f.reason, f.in_ms, f.uses_attempt
  ), written AS (
    UPDATE ledger.webhook_deliveries d
    SET status = CASE
          WHEN c.verdict = 'delivered' THEN c.verdict
          WHEN c.verdict = 'retry' OR d.status NOT IN ('scheduled', 'held') THEN d.status
          ELSE c.verdict END,
        reason = CASE
          WHEN c.verdict = 'delivered' THEN NULL
          WHEN c.verdict = 'retry' OR d.status NOT IN ('scheduled', 'held') THEN d.reason
          ELSE c.reason END,
        held_at = CASE WHEN c.verdict = 'retry' THEN d.held_at END,
        finished_at = CASE
          WHEN c.verdict = 'retry' THEN d.finished_at
          ELSE coalesce(d.finished_at, clock_timestamp()) END,
        failure_count = d.failure_count + c.uses_attempt::integer,
        next_attempt_at = CASE
          WHEN c.verdict = 'retry' THEN clock_timestamp() + c.in_ms * interval '1 ms'
          WHEN c.verdict = 'delivered' OR d.status IN ('scheduled', 'held') THEN NULL
          ELSE d.next_attempt_at END,
        -- after a late success the slot stays in use until the attempt that is running now ends
        queued_at = CASE WHEN d.worker_token IS NULL OR d.worker_token = c.token THEN NULL ELSE d.queued_at END,
        started_at = CASE WHEN d.worker_token = c.token THEN NULL ELSE d.started_at END,
        worker_token = CASE WHEN d.worker_token = c.token THEN NULL ELSE d.worker_token END
    FROM closed c WHERE d.id = c.id AND d.id = ANY($1::uuid[])
    RETURNING d.id, d.user_id, d.assistant_id, d.status, d.reason, c.verdict
  ), noticed AS (
    INSERT INTO ledger.webhook_notices (user_id, type, assistant_id, delivery_id, reason)
    SELECT user_id, 'delivery_exhausted', assistant_id, id, reason FROM written
    WHERE verdict = 'exhausted' AND status = 'exhausted'
  )
  SELECT locked.id, closed.id IS NOT NULL AS counted FROM locked LEFT JOIN closed ON closed.id = locked.id`
