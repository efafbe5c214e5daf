// Records that attempts of the schedule start, before anything is sent: many in one statement.
import type { Pool, PoolClient } from 'pg'
import { ageMs, startedColumns, toAttempt, untilUnlocked, type Attempt, type AttemptRow, type Job } from './attempt.js'
import { mustMove } from '../moves/batch-sql.js'

/** The start of a job's attempt; `token` names this worker's try, `body` is its body where that is known. */
export interface Start { job: Job, token: string, body?: string | undefined }

/** The attempt, or nothing when the job is stale. */
export interface Started { attempt?: Attempt | undefined }

/**
 * Starts one attempt of each delivery. A start that is missing in the answer has no row, has a row that another
 * transaction locks, or shares its delivery with another start of the batch: it has to come alone.
 */
export async function startAttempts (db: Pool | PoolClient, starts: Start[]): Promise<Map<Start, Started>> {
  const byDelivery = new Map(starts.map((start) => [start.job.deliveryId, start]))
  const { rows } = await db.query<StartRow>({
    name: 'start-attempts',
    text: startSql,
    values: valuesOf([...byDelivery.values()])
  })
  return new Map(rows.flatMap((row): [Start, Started][] => {
    const start = byDelivery.get(row.id)
    return start ? [[start, row.is_started ? { attempt: attemptOf(row, start) } : {}]] : []
  }))
}

/** Starts one attempt; waits while another transaction locks its delivery. Of all workers with the job one gets it. */
export async function startAttempt (pool: Pool, start: Start): Promise<Attempt | undefined> {
  do {
    const started = (await startAttempts(pool, [start])).get(start)
    if (started) return started.attempt
  } while (await untilUnlocked(pool, start.job.deliveryId))
  return undefined
}

/** Without a body where the known one has the bytes of the row's. */
type StartRow = Omit<AttemptRow, 'body'> & { id: string, is_started: boolean, body: string | null }

const attemptOf = (row: StartRow, { job: { deliveryId, n }, token, body = '' }: Start) =>
  toAttempt({ ...row, body: row.body ?? body }, { deliveryId, trigger: 'schedule', n, token })

const valuesOf = (starts: Start[]) => [
  starts.map(({ job }) => job.deliveryId),
  starts.map(({ job }) => job.n),
  starts.map(({ job }) => job.jobNumber),
  starts.map(({ token }) => token),
  starts.map(({ body }) => body === undefined ? null : Buffer.byteLength(body))
]

// SKIP LOCKED: one locked row does not delay the others, and a statement that never waits is in no deadlock. The
// conditions apply to the locked rows, and the update finds them by primary key alone: a condition on the status would
// tempt the planner to scan everything that is scheduled. (SELECT $1) hides the length of the array from the planner,
// so that one plan serves every length: to make a plan takes longer than the rest.
const startSql = `
  WITH locked AS MATERIALIZED (
    SELECT id, status, attempt_count, job_number, started_at, next_attempt_at, assistant_id, endpoint_id
    FROM ledger.webhook_deliveries WHERE id = ANY((SELECT $1::uuid[])::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
  ), valid AS (
    SELECT id, n, token, known_bytes
    FROM locked JOIN unnest(
      (SELECT $1::uuid[]), (SELECT $2::integer[]), (SELECT $3::integer[]), (SELECT $4::uuid[]), (SELECT $5::integer[])
    ) AS job (id, n, job_number, token, known_bytes) USING (id)
    WHERE status = 'scheduled' AND attempt_count = n - 1 AND locked.job_number = job.job_number
      AND started_at IS NULL AND next_attempt_at <= clock_timestamp()
      AND NOT ${mustMove('locked.assistant_id', 'locked.endpoint_id')}
      AND NOT EXISTS (SELECT FROM ledger.webhook_endpoints off WHERE off.id = endpoint_id AND off.suspended_at IS NOT NULL)
  ), started AS (
    UPDATE ledger.webhook_deliveries d
    SET attempt_count = n, started_at = clock_timestamp(), worker_token = token,
        queued_at = coalesce(queued_at, clock_timestamp()) -- a job that was believed lost takes its slot again
    FROM valid WHERE d.id = valid.id AND d.id = ANY((SELECT $1::uuid[])::uuid[])
    RETURNING d.id, d.user_id, d.assistant_id, d.endpoint_id, d.failure_count, d.created_at, d.traceparent,
      CASE WHEN octet_length(d.body) IS DISTINCT FROM known_bytes THEN d.body END AS body
  )
  SELECT locked.id, started.id IS NOT NULL AS is_started,
         started.user_id, started.endpoint_id, started.body, started.failure_count, started.traceparent,
         ${ageMs('started')} AS age_ms, ${startedColumns('started')}
  FROM locked LEFT JOIN started ON started.id = locked.id
  LEFT JOIN ledger.webhook_endpoints e ON e.id = started.endpoint_id`
