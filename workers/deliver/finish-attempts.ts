// Writes the outcomes of attempts: as many as there are at a time in one statement.
import type { Pool, PoolClient } from 'pg'
import { untilFree, type Attempt, type Finish } from '../deliveries/deliveries.js'
import type { Verdict } from './outcome.js'

export interface Finished {
  attempt: Pick<Attempt, 'deliveryId' | 'n' | 'token'>
  finish: Finish
  verdict: Verdict
}

/**
 * Writes each outcome once, by the worker that started the attempt. False when the attempt had been given up meanwhile:
 * then only a success still counts. What is not in the answer could not be written without waiting for somebody else's
 * transaction.
 */
export async function finishAttempts (db: Pool | PoolClient, finished: Finished[]): Promise<Map<Finished, boolean>> {
  const wanted = new Map(finished.map((each) => [each.attempt.deliveryId, each])) // one of each delivery: a second one has to come alone
  const each = [...wanted.values()]
  const finishes = each.map(({ finish }) => finish)
  const { rows } = await db.query<{ id: string, counted: boolean }>({
    name: 'finish-attempts',
    text: finishSql,
    values: [
      each.map(({ attempt }) => attempt.deliveryId), each.map(({ attempt }) => attempt.n), each.map(({ attempt }) => attempt.token),
      finishes.map(({ outcome }) => outcome), finishes.map(({ statusCode }) => statusCode), finishes.map(({ durationMs }) => durationMs),
      finishes.map(({ error }) => error), finishes.map(({ excerpt }) => excerpt), finishes.map(({ truncated }) => truncated),
      each.map(({ verdict }) => verdict.status), each.map(({ verdict }) => 'reason' in verdict ? verdict.reason : null),
      each.map(({ verdict }) => verdict.status === 'retry' ? verdict.inMs : 0)
    ]
  })
  return new Map(rows.flatMap(({ id, counted }) => {
    const found = wanted.get(id)
    return found ? [[found, counted]] : []
  }))
}

/** The same for one, waiting if need be. */
export async function finishAttempt (pool: Pool, attempt: Finished['attempt'], finish: Finish, verdict: Verdict): Promise<boolean> {
  const finished = { attempt, finish, verdict }
  do {
    const counted = (await finishAttempts(pool, [finished])).get(finished)
    if (counted !== undefined) return counted
  } while (await untilFree(pool, attempt.deliveryId))
  return false
}

// The rows of the deliveries first, as everybody else locks them, and those that somebody else holds are passed over:
// one of them must not keep the others waiting.
const finishSql = `
  WITH mine AS MATERIALIZED (
    SELECT id FROM ledger.webhook_deliveries WHERE id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
  ), closed AS (
    UPDATE ledger.webhook_attempts a
    SET finished_at = clock_timestamp(), outcome = f.outcome, status_code = f.status_code, duration_ms = f.duration_ms,
        error = f.error, response_excerpt = f.excerpt, response_truncated = f.truncated
    FROM mine JOIN unnest($1::uuid[], $2::integer[], $3::uuid[], $4::text[], $5::integer[], $6::integer[], $7::text[], $8::text[],
                          $9::boolean[], $10::text[], $11::text[], $12::float8[])
      AS f (id, n, token, outcome, status_code, duration_ms, error, excerpt, truncated, verdict, reason, in_ms) USING (id)
    WHERE a.delivery_id = mine.id AND a.delivery_id = ANY($1::uuid[]) AND a.trigger = 'schedule' AND a.n = f.n AND a.worker_token = f.token
      AND (a.outcome IS NULL OR (a.outcome = 'unknown' AND f.outcome = 'delivered'))
    RETURNING f.id, f.token, f.outcome, f.verdict, f.reason, f.in_ms
  ), written AS (
    UPDATE ledger.webhook_deliveries d
    SET status = CASE WHEN c.verdict = 'delivered' THEN c.verdict WHEN c.verdict = 'retry' OR d.status NOT IN ('scheduled', 'held') THEN d.status ELSE c.verdict END,
        reason = CASE WHEN c.verdict = 'delivered' THEN NULL WHEN c.verdict = 'retry' OR d.status NOT IN ('scheduled', 'held') THEN d.reason ELSE c.reason END,
        held_at = CASE WHEN c.verdict = 'retry' THEN d.held_at END,
        finished_at = CASE WHEN c.verdict = 'retry' THEN d.finished_at ELSE coalesce(d.finished_at, clock_timestamp()) END,
        failure_count = d.failure_count + CASE WHEN c.outcome IN ('delivered', 'unknown') THEN 0 ELSE 1 END,
        next_attempt_at = CASE
          WHEN c.verdict = 'retry' THEN clock_timestamp() + c.in_ms * interval '1 ms'
          WHEN c.verdict = 'delivered' OR d.status IN ('scheduled', 'held') THEN NULL ELSE d.next_attempt_at END,
        -- the slot of an attempt that is running beside a late success stays taken until it ends
        queued_at = CASE WHEN d.worker_token IS NULL OR d.worker_token = c.token THEN NULL ELSE d.queued_at END,
        started_at = CASE WHEN d.worker_token = c.token THEN NULL ELSE d.started_at END,
        worker_token = CASE WHEN d.worker_token = c.token THEN NULL ELSE d.worker_token END
    FROM closed c WHERE d.id = c.id AND d.id = ANY($1::uuid[])
  )
  SELECT mine.id, closed.id IS NOT NULL AS counted FROM mine LEFT JOIN closed ON closed.id = mine.id`
