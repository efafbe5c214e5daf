// The ledger: how an attempt changes its delivery, each change one statement, so that a crash leaves nothing in between.
import type { Pool } from 'pg'
import { suspendAfter } from './endpoints.js'
import type { Outcome, Verdict } from './outcome.js'

/** Why an attempt is made: by the schedule, or because somebody asked for it. Each numbers its own attempts. */
export type Trigger = 'schedule' | AskedTrigger
export type AskedTrigger = 'manual' | 'test'

/** One wake-up: it starts attempt `n` of a delivery only while no newer wake-up was sent. */
export interface Alarm {
  deliveryId: string
  n: number
  wakeup: number
  /** Only of an attempt that was asked for. */
  trigger?: AskedTrigger
}

/** An attempt that this worker, and nobody else, may send. */
export interface Attempt {
  deliveryId: string
  trigger: Trigger
  n: number
  token: string
  userId: string
  endpointId: string
  /** How its endpoint did so far; `overdue` fails for so long that one more failure suspends it. */
  health: Health
  url: string
  body: string
  failures: number
  /** Encrypted, the current one first. */
  secrets: SealedRow[]
}

export type Health = 'fine' | 'failing' | 'overdue'

export interface SealedRow { key_id: string, sealed: string }

/** What is kept of a finished attempt. */
export interface Finish {
  outcome: Outcome
  statusCode: number | null
  durationMs: number
  error: string | null
  excerpt: string | null
  truncated: boolean
}

/**
 * Records that an attempt starts, before anything is sent. Of all workers that hear the same wake-up one gets the
 * attempt; a stale wake-up gets nothing.
 */
export async function startAttempt (pool: Pool, { deliveryId, n, wakeup }: Alarm, token: string): Promise<Attempt | undefined> {
  const { rows } = await pool.query<AttemptRow>({
    name: 'start-attempt',
    text: `
    WITH begun AS (
      UPDATE ledger.webhook_deliveries
      SET attempt_count = $2, started_at = clock_timestamp(), worker_token = $4
      WHERE id = $1 AND status = 'scheduled' AND attempt_count = $2 - 1 AND wakeup = $3
        AND started_at IS NULL AND next_attempt_at <= clock_timestamp()
      RETURNING id, user_id, endpoint_id, body, failure_count, started_at
    ), noted AS (
      INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, worker_token, endpoint_id, started_at)
      SELECT id, 'schedule', $2, $4, endpoint_id, started_at FROM begun
    )
    SELECT begun.user_id, begun.endpoint_id, begun.body, begun.failure_count, ${whereTo('begun')}
    FROM begun LEFT JOIN ledger.webhook_endpoints e ON e.id = begun.endpoint_id`,
    values: [deliveryId, n, wakeup, token]
  })
  return rows[0] && toAttempt(rows[0], { deliveryId, trigger: 'schedule', n, token })
}

/** Columns of an attempt that has `begun`: its address `e` as it is now, and the secrets that sign now. */
export const whereTo = (begun: string) => `
  coalesce(e.url, '') AS url,
  CASE WHEN e.failing_since <= now() - interval '${suspendAfter}' THEN 'overdue' WHEN e.failing_since IS NULL THEN 'fine' ELSE 'failing' END AS health,
  (SELECT json_agg(json_build_object('key_id', s.key_id, 'sealed', encode(s.sealed, 'base64')) ORDER BY s.id DESC)
   FROM ledger.webhook_secrets s
   WHERE s.user_id = ${begun}.user_id AND (s.expires_at IS NULL OR s.expires_at > now())) AS secrets`

export interface AttemptRow {
  user_id: string
  endpoint_id: string
  body: string
  failure_count: number
  url: string
  health: Health
  secrets: SealedRow[] | null
}

export function toAttempt (row: AttemptRow, begun: Pick<Attempt, 'deliveryId' | 'trigger' | 'n' | 'token'>): Attempt {
  return {
    ...begun,
    userId: row.user_id,
    endpointId: row.endpoint_id,
    health: row.health,
    url: row.url,
    body: row.body,
    failures: row.failure_count,
    secrets: row.secrets ?? []
  }
}

/**
 * Writes the outcome of an attempt, once, by the worker that started it.
 * @returns false when the attempt had been given up meanwhile: then only a success still counts
 */
export async function finishAttempt (pool: Pool, attempt: Pick<Attempt, 'deliveryId' | 'n' | 'token'>, finish: Finish, verdict: Verdict): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'finish-attempt',
    text: `
    WITH closed AS (
      UPDATE ledger.webhook_attempts
      SET finished_at = clock_timestamp(), outcome = $4, status_code = $5, duration_ms = $6, error = $7, response_excerpt = $8, response_truncated = $9
      WHERE delivery_id = $1 AND trigger = 'schedule' AND n = $2 AND worker_token = $3
        AND (outcome IS NULL OR (outcome = 'unknown' AND $4 = 'delivered'))
      RETURNING delivery_id
    )
    UPDATE ledger.webhook_deliveries d
    SET status = CASE WHEN $10 = 'delivered' THEN $10 WHEN $10 = 'retry' OR status NOT IN ('scheduled', 'held') THEN status ELSE $10 END,
        reason = CASE WHEN $10 = 'delivered' THEN NULL WHEN $10 = 'retry' OR status NOT IN ('scheduled', 'held') THEN reason ELSE $11 END,
        held_at = CASE WHEN $10 = 'retry' THEN held_at END,
        finished_at = CASE WHEN $10 = 'retry' THEN finished_at ELSE coalesce(finished_at, clock_timestamp()) END,
        failure_count = failure_count + CASE WHEN $4 IN ('delivered', 'unknown') THEN 0 ELSE 1 END,
        next_attempt_at = CASE WHEN $10 = 'retry' THEN clock_timestamp() + $12 * interval '1 ms' WHEN $10 = 'delivered' OR status IN ('scheduled', 'held') THEN NULL ELSE next_attempt_at END,
        -- the places of an attempt that is running beside a late success stay taken until it ends
        queued_at = CASE WHEN worker_token IS NULL OR worker_token = $3 THEN NULL ELSE queued_at END,
        started_at = CASE WHEN worker_token = $3 THEN NULL ELSE started_at END,
        worker_token = CASE WHEN worker_token = $3 THEN NULL ELSE worker_token END
    FROM closed WHERE d.id = closed.delivery_id`,
    values: [
      attempt.deliveryId, attempt.n, attempt.token, finish.outcome, finish.statusCode, finish.durationMs, finish.error, finish.excerpt, finish.truncated,
      verdict.status, 'reason' in verdict ? verdict.reason : null, verdict.status === 'retry' ? verdict.inMs : 0
    ]
  })
  return rowCount === 1
}

/**
 * Closes attempts that started more than `olderThanMs` ago and whose outcome nobody will tell, as `unknown`: no
 * failure, and the next one is due at once.
 * @returns how many
 */
export async function closeUnknown (pool: Pool, olderThanMs: number): Promise<number> {
  const { rowCount } = await pool.query(`
    WITH stuck AS (
      SELECT id, worker_token FROM ledger.webhook_deliveries
      WHERE started_at < clock_timestamp() - $1 * interval '1 ms'
      FOR UPDATE SKIP LOCKED
    ), closed AS (
      UPDATE ledger.webhook_attempts a
      SET finished_at = clock_timestamp(), outcome = 'unknown', error = 'the worker did not tell the outcome'
      FROM stuck WHERE a.delivery_id = stuck.id AND a.worker_token = stuck.worker_token AND a.outcome IS NULL
    )
    UPDATE ledger.webhook_deliveries d
    SET started_at = NULL, worker_token = NULL, queued_at = NULL,
        next_attempt_at = CASE WHEN d.status IN ('scheduled', 'held') THEN clock_timestamp() ELSE d.next_attempt_at END
    FROM stuck WHERE d.id = stuck.id`, [olderThanMs])
  return rowCount ?? 0
}
