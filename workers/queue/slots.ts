// Slots: how many attempts of an endpoint and of a user are queued or running, so that nobody uses the slots of others.
import type { Pool } from 'pg'
import type { Job, OnDemandTrigger } from '../deliveries/attempts/attempt.js'

const slotsPerEndpoint = 10
const slotsPerUser = 50
/** The other slots of a user are for endpoints that have one at most, or that have just answered. */
const sharedSlots = 30

const lockSpace = 0x77_68 // any number that nothing else uses for advisory locks with two keys

/**
 * Gives free slots to what is due, one to each endpoint before any gets a second one, and numbers the next job of
 * each. A delivery keeps its slot until its outcome is written. Acquiring is serial for each user.
 * @param answering endpoints whose attempt has just succeeded
 * @returns the jobs to enqueue, and their users, without deliveries that became due only now
 */
export async function acquireSlots (pool: Pool, userIds: string[], answering: string[] = []): Promise<Given> {
  const { rows } = await pool.query<GivenRow>({
    name: 'acquire-slots',
    text: `
      SELECT job.*, d.user_id FROM ${acquireSql('$1', 2, '$2::bigint[]')} AS job
      LEFT JOIN ledger.webhook_deliveries d ON d.id = job.id -- which may have come while slots were given`,
    values: [userIds, answering, ...acquireValues]
  })
  return toGiven(rows)
}

/** @param users SQL @param after how many parameters of the statement come before `acquireValues` */
export const acquireSql = (users: string, after: number, answering = "'{}'::bigint[]") =>
  `ledger.acquire_slots(${users}, ${acquireValues.map((_, nth) => `$${after + nth + 1}::integer`).join(', ')}, ${answering})`

export const acquireValues = [lockSpace, slotsPerEndpoint, slotsPerUser, sharedSlots]

/** Jobs that have their slots, and the users whose they are. */
export interface Given { jobs: Job[], served: Set<string> }

export type GivenRow = JobRow & { user_id: string | null }

export const toGiven = (rows: GivenRow[]): Given =>
  ({ jobs: rows.map(toJob), served: new Set(rows.flatMap(({ user_id }) => user_id ?? [])) })

interface JobRow { id: string, n: number, job_number: number, trigger?: OnDemandTrigger | null }

const toJob = ({ id, n, job_number: jobNumber, trigger }: JobRow): Job =>
  ({ deliveryId: id, n, jobNumber, ...(trigger && { trigger }) })

/** Releases the slots of jobs that could not be queued, or are gone from the queue. @returns how many */
export async function releaseSlots (pool: Pool, jobs: Job[]): Promise<number> {
  if (jobs.length === 0) return 0
  const { rows: [released] } = await pool.query<{ count: number }>(releaseSql, [
    jobs.map(({ deliveryId }) => deliveryId),
    jobs.map(({ trigger }) => trigger ?? null),
    jobs.map(({ n }) => n),
    jobs.map(({ jobNumber }) => jobNumber)
  ])
  return released?.count ?? 0
}

const releaseSql = `
  WITH job AS (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::integer[], $4::integer[]) AS job (id, trigger, n, job_number)
  ), scheduled AS (
    UPDATE ledger.webhook_deliveries d SET queued_at = NULL FROM job
    WHERE job.trigger IS NULL AND d.id = job.id AND d.job_number = job.job_number
      AND d.started_at IS NULL AND d.queued_at IS NOT NULL
    RETURNING d.id
  ), on_demand AS (
    UPDATE ledger.webhook_attempts_on_demand a SET queued_at = NULL FROM job
    WHERE (a.delivery_id, a.trigger, a.n, a.job_number) = (job.id, job.trigger, job.n, job.job_number)
      AND a.started_at IS NULL AND a.queued_at IS NOT NULL
    RETURNING a.delivery_id
  )
  SELECT (SELECT count(*) FROM scheduled)::integer + (SELECT count(*) FROM on_demand)::integer AS count`

/** Jobs that were queued more than `olderThanMs` ago and whose attempt has not started. */
export async function unstartedJobs (pool: Pool, olderThanMs: number): Promise<Job[]> {
  const { rows } = await pool.query<JobRow>(`
    SELECT id, attempt_count + 1 AS n, job_number, NULL AS trigger FROM ledger.webhook_deliveries
    WHERE queued_at < clock_timestamp() - $1 * interval '1 ms' AND started_at IS NULL
    UNION ALL
    SELECT delivery_id, n, job_number, trigger FROM ledger.webhook_attempts_on_demand
    WHERE started_at IS NULL AND queued_at < clock_timestamp() - $1 * interval '1 ms'`, [olderThanMs])
  return rows.map(toJob)
}
