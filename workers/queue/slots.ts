// Which due deliveries are queued: at most so many of an endpoint and of a user at once, so that nobody takes others' slots.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Job, OnDemandTrigger } from '../deliveries/deliveries.js'

export const slotsPerEndpoint = 10
export const slotsPerUser = 50

const lockSpace = 0x77_68 // any number that nobody else uses for advisory locks with two keys

/**
 * Gives free slots to what is due, the longest waiting first, and numbers the next job of each. A delivery keeps its slot
 * until its outcome is written. Counting and taking is serial per user.
 * @returns the jobs to be queued
 */
export async function acquireSlots (pool: Pool, userIds: string[]): Promise<Job[]> {
  return inTransaction(pool, async (tx) => {
    const { rows: [locked] } = await tx.query<{ is_on_demand: boolean }>({
      name: 'lock-slots',
      text: `
      SELECT pg_advisory_xact_lock($1, key), EXISTS (
        SELECT FROM ledger.webhook_attempts WHERE trigger <> 'schedule' AND outcome IS NULL AND queued_at IS NULL AND user_id = ANY($2)) AS is_on_demand
      FROM (SELECT DISTINCT hashtext(user_id) AS key FROM unnest($2::text[]) AS u (user_id) ORDER BY 1) AS keys`,
      values: [lockSpace, userIds]
    })
    const values = [userIds, slotsPerEndpoint, slotsPerUser]
    const onDemand = locked?.is_on_demand === true ? await tx.query<JobRow>({ name: 'acquire-slots-on-demand', text: acquireOnDemandSql, values }) : undefined
    const due = await tx.query<JobRow>({ name: 'acquire-slots', text: acquireSql, values })
    return [...onDemand?.rows ?? [], ...due.rows].map(toJob)
  })
}

interface JobRow { id: string, n: number, job_number: number, trigger?: OnDemandTrigger | null }

const toJob = ({ id, n, job_number, trigger }: JobRow): Job => ({ deliveryId: id, n, jobNumber: job_number, ...(trigger && { trigger }) })

/** Slots of an endpoint, or of a user that are in use by attempts of either kind; `where` names both their columns. */
const takenBy = (where: (table: string) => string) => `
  (SELECT count(*) FROM ledger.webhook_deliveries q WHERE ${where('q')} AND q.queued_at IS NOT NULL)
  + (SELECT count(*) FROM ledger.webhook_attempts p WHERE ${where('p')} AND p.queued_at IS NOT NULL AND p.trigger <> 'schedule' AND p.outcome IS NULL)`

// Attempts on demand go first: they are few, and somebody waits for them.
const acquireOnDemandSql = `
  WITH waiting AS (
    SELECT delivery_id, trigger, n, user_id, endpoint_id, due_at,
           row_number() OVER (PARTITION BY user_id, endpoint_id ORDER BY due_at, delivery_id, trigger, n) AS nth
    FROM ledger.webhook_attempts
    WHERE user_id = ANY($1) AND trigger <> 'schedule' AND outcome IS NULL AND queued_at IS NULL AND due_at <= clock_timestamp()
  ), fitting AS (
    SELECT w.*, row_number() OVER (PARTITION BY user_id ORDER BY due_at, delivery_id, trigger, n) AS nth_of_user
    FROM waiting w WHERE nth <= $2 - (${takenBy((table) => `${table}.user_id = w.user_id AND ${table}.endpoint_id = w.endpoint_id`)})
  ), chosen AS (
    SELECT * FROM fitting f WHERE nth_of_user <= $3 - (${takenBy((table) => `${table}.user_id = f.user_id`)})
  )
  UPDATE ledger.webhook_attempts a
  SET queued_at = clock_timestamp(), job_number = job_number + 1
  FROM chosen c WHERE (a.delivery_id, a.trigger, a.n) = (c.delivery_id, c.trigger, c.n)
  RETURNING a.delivery_id AS id, a.n, a.job_number, a.trigger`

// `waiting` hops from endpoint to endpoint in the index, so its cost is the number of endpoints that wait and not the
// number of their deliveries; beyond the one hop only those are looked at whose first is among the longest waiting.
const acquireSql = `
  WITH RECURSIVE waiting (user_id, endpoint_id, first_due) AS (
    SELECT u.user_id, first.endpoint_id, first.next_attempt_at
    FROM unnest($1::text[]) AS u (user_id)
    CROSS JOIN LATERAL (
      SELECT endpoint_id, next_attempt_at FROM ledger.webhook_deliveries
      WHERE user_id = u.user_id AND status = 'scheduled' AND queued_at IS NULL
      ORDER BY endpoint_id, next_attempt_at LIMIT 1) first
    UNION
    SELECT w.user_id, next.endpoint_id, next.next_attempt_at
    FROM waiting w
    CROSS JOIN LATERAL (
      SELECT endpoint_id, next_attempt_at FROM ledger.webhook_deliveries
      WHERE user_id = w.user_id AND endpoint_id > w.endpoint_id AND status = 'scheduled' AND queued_at IS NULL
      ORDER BY endpoint_id, next_attempt_at LIMIT 1) next
  ), busy AS (
    SELECT user_id, endpoint_id, count(*) AS taken
    FROM (SELECT user_id, endpoint_id FROM ledger.webhook_deliveries WHERE user_id = ANY($1) AND queued_at IS NOT NULL
          UNION ALL
          SELECT user_id, endpoint_id FROM ledger.webhook_attempts
          WHERE user_id = ANY($1) AND queued_at IS NOT NULL AND trigger <> 'schedule' AND outcome IS NULL) queued
    GROUP BY user_id, endpoint_id
  ), free AS (
    SELECT w.user_id, w.endpoint_id, $2 - coalesce(b.taken, 0) AS slots, row_number() OVER (PARTITION BY w.user_id ORDER BY w.first_due) AS nth
    FROM waiting w LEFT JOIN busy b USING (user_id, endpoint_id)
    WHERE w.first_due <= clock_timestamp() AND coalesce(b.taken, 0) < $2
  ), due AS (
    SELECT f.user_id, d.id, row_number() OVER (PARTITION BY f.user_id ORDER BY d.next_attempt_at, d.id) AS nth
    FROM free f
    CROSS JOIN LATERAL (
      SELECT id, next_attempt_at FROM ledger.webhook_deliveries
      WHERE user_id = f.user_id AND endpoint_id = f.endpoint_id AND status = 'scheduled' AND queued_at IS NULL
        AND next_attempt_at <= clock_timestamp()
      ORDER BY next_attempt_at LIMIT f.slots) d
    WHERE f.nth <= $3
  ), users AS (
    SELECT user_id, sum(taken) AS taken FROM busy GROUP BY user_id
  )
  UPDATE ledger.webhook_deliveries d
  SET queued_at = clock_timestamp(), job_number = job_number + 1
  -- by primary key: an equality on status would tempt the planner to search all that is due, row by row
  WHERE d.id = ANY (ARRAY (SELECT due.id FROM due LEFT JOIN users USING (user_id) WHERE due.nth <= $3 - coalesce(users.taken, 0)))
    AND d.status NOT IN ('delivered', 'held', 'exhausted', 'cancelled', 'skipped')
  RETURNING d.id, d.attempt_count + 1 AS n, d.job_number`

/** Releases the slots of jobs that could not be queued or have vanished from the queue. */
export async function releaseSlots (pool: Pool, jobs: Job[]): Promise<number> {
  if (jobs.length === 0) return 0
  const { rows: [given] } = await pool.query<{ count: number }>(`
    WITH job AS (SELECT * FROM unnest($1::uuid[], $2::text[], $3::integer[], $4::integer[]) AS job (id, trigger, n, job_number)),
    due AS (
      UPDATE ledger.webhook_deliveries d SET queued_at = NULL FROM job
      WHERE job.trigger IS NULL AND d.id = job.id AND d.job_number = job.job_number AND d.started_at IS NULL AND d.queued_at IS NOT NULL
      RETURNING d.id
    ), on_demand AS (
      UPDATE ledger.webhook_attempts a SET queued_at = NULL FROM job
      WHERE (a.delivery_id, a.trigger, a.n, a.job_number) = (job.id, job.trigger, job.n, job.job_number)
        AND a.started_at IS NULL AND a.queued_at IS NOT NULL
      RETURNING a.delivery_id
    )
    SELECT (SELECT count(*) FROM due)::integer + (SELECT count(*) FROM on_demand)::integer AS count`,
  [jobs.map(({ deliveryId }) => deliveryId), jobs.map(({ trigger }) => trigger ?? null), jobs.map(({ n }) => n), jobs.map(({ jobNumber }) => jobNumber)])
  return given?.count ?? 0
}

/** Jobs that were sent more than `olderThanMs` ago and that no attempt followed. */
export async function unstartedJobs (pool: Pool, olderThanMs: number): Promise<Job[]> {
  const { rows } = await pool.query<JobRow>(`
    SELECT id, attempt_count + 1 AS n, job_number, NULL AS trigger FROM ledger.webhook_deliveries
    WHERE queued_at < clock_timestamp() - $1 * interval '1 ms' AND started_at IS NULL
    UNION ALL
    SELECT delivery_id, n, job_number, trigger FROM ledger.webhook_attempts
    WHERE trigger <> 'schedule' AND outcome IS NULL AND started_at IS NULL AND queued_at < clock_timestamp() - $1 * interval '1 ms'`, [olderThanMs])
  return rows.map(toJob)
}

/** Users with something due that has no slot yet. */
export async function usersWithDue (pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ user_id: string }>(`
    SELECT user_id FROM ledger.webhook_deliveries
    WHERE status = 'scheduled' AND queued_at IS NULL AND next_attempt_at <= clock_timestamp()
    UNION
    SELECT user_id FROM ledger.webhook_attempts
    WHERE trigger <> 'schedule' AND outcome IS NULL AND queued_at IS NULL AND due_at <= clock_timestamp()`)
  return rows.map(({ user_id }) => user_id)
}
