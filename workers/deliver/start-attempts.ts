// Records that attempts start, before anything is sent: as many as there are at a time in one statement.
import type { Pool, PoolClient } from 'pg'
import { untilFree, toAttempt, whereTo, type Job, type Attempt, type AttemptRow } from '../deliveries/deliveries.js'

/** The start of a job's attempt; `token` is this worker's own. */
export interface Start { job: Job, token: string }

/** What became of it: nothing is to be sent for a job that is stale. */
export interface Started { attempt?: Attempt | undefined }

/** What is not in the answer could not be started without waiting for somebody else's transaction, or is not there. */
export async function startAttempts (db: Pool | PoolClient, starts: Start[]): Promise<Map<Start, Started>> {
  const wanted = new Map(starts.map((start) => [start.job.deliveryId, start])) // one of each: a second one has to come alone
  const values = [...wanted.values()]
  const { rows } = await db.query<StartRow>({
    name: 'start-attempts',
    text: startSql,
    values: [values.map(({ job }) => job.deliveryId), values.map(({ job }) => job.n), values.map(({ job }) => job.jobNumber), values.map(({ token }) => token)]
  })
  return new Map(rows.flatMap((row) => {
    const start = wanted.get(row.id)
    if (!start) return []
    const { job: { deliveryId, n }, token } = start
    return [[start, row.began ? { attempt: toAttempt(row, { deliveryId, trigger: 'schedule', n, token }) } : {}]]
  }))
}

/**
 * The same for one, waiting if need be. Of all workers that get the same job one gets the attempt; a stale job
 * gets nothing.
 */
export async function startAttempt (pool: Pool, job: Job, token: string): Promise<Attempt | undefined> {
  const start = { job, token }
  do {
    const started = (await startAttempts(pool, [start])).get(start)
    if (started) return started.attempt
  } while (await untilFree(pool, job.deliveryId))
  return undefined
}

type StartRow = AttemptRow & { id: string, began: boolean }

// Rows that somebody else holds are passed over: one of them must not keep the others waiting, and who waits for nobody
// takes part in no deadlock. What is asked of a row is asked of the locked one, so that what is updated is found by
// primary key alone: a condition on its status would tempt the planner to look through all that is scheduled. SELECT
// hides how many there are: so one plan serves any number, and making it takes longer than the rest.
const startSql = `
  WITH mine AS MATERIALIZED (
    SELECT id, status, attempt_count, job_number, started_at, next_attempt_at
    FROM ledger.webhook_deliveries WHERE id = ANY((SELECT $1::uuid[])::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
  ), valid AS (
    SELECT id, n, token
    FROM mine JOIN unnest((SELECT $1::uuid[]), (SELECT $2::integer[]), (SELECT $3::integer[]), (SELECT $4::uuid[])) AS w (id, n, job_number, token) USING (id)
    WHERE status = 'scheduled' AND attempt_count = n - 1 AND mine.job_number = w.job_number AND started_at IS NULL AND next_attempt_at <= clock_timestamp()
  ), begun AS (
    UPDATE ledger.webhook_deliveries d
    SET attempt_count = n, started_at = clock_timestamp(), worker_token = token,
        queued_at = coalesce(queued_at, clock_timestamp()) -- a job that was believed lost takes its slot again
    FROM valid WHERE d.id = valid.id AND d.id = ANY((SELECT $1::uuid[])::uuid[])
    RETURNING d.id, d.user_id, d.endpoint_id, d.body, d.failure_count, d.started_at, d.attempt_count, d.worker_token
  ), noted AS (
    INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, worker_token, endpoint_id, started_at)
    SELECT id, 'schedule', attempt_count, worker_token, endpoint_id, started_at FROM begun
  )
  SELECT mine.id, begun.id IS NOT NULL AS began, begun.user_id, begun.endpoint_id, begun.body, begun.failure_count, ${whereTo('begun')}
  FROM mine LEFT JOIN begun ON begun.id = mine.id LEFT JOIN ledger.webhook_endpoints e ON e.id = begun.endpoint_id`
