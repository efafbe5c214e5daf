// Moves requests that wait into the queue, of each user one of a kind, so that users take turns; and mends what a crash
// or an emptied queue leaves behind.
import type { Pool } from 'pg'
import type { JobQueue, QueueKind } from '../queue/job-queue.js'
import type { BackgroundKinds } from './kind.js'
import { acceptRequest, dropPrepared } from './requests.js'

/** Gives a request its next turn. */
export interface RequestJob { id: string, jobNumber: number }

export type RequestQueue = JobQueue<RequestJob>

const jobId = ({ id, jobNumber }: RequestJob) => `${id}-${jobNumber}`

/** A turn keeps its place in the concurrency, however long it takes. */
export const requestJobs: QueueKind<RequestJob> = {
  name: 'background',
  idOf: jobId,
  longJobs: { afterMs: 60_000, limit: 0 },
  together: 1,
  lookEverySeconds: 10,
  isWatched: false,
  connections: { producer: 1, worker: 3 }
}

/** The lease under which a request is worked on. */
export const leaseOf = (id: string) => `background ${id}`

const mostAtOnce = 100

/**
 * Queues what waits. The next of a user goes on while the one before waits for others, or is tried again because it
 * failed by itself; an outage stops all alike.
 * @returns how many
 * @throws when the queue or Postgres cannot be reached; nothing is lost by that
 */
export async function enqueueRequests (pool: Pool, queue: Pick<RequestQueue, 'add'>): Promise<number> {
  const { rows } = await pool.query<{ id: string, job_number: string }>(`
    UPDATE ledger.background_requests r SET queued_at = clock_timestamp(), job_number = job_number + 1
    FROM (
      SELECT DISTINCT ON (kind, user_id) id, due_at, queued_at FROM ledger.background_requests
      WHERE state = 'accepted' AND (
        queued_at IS NOT NULL OR due_at <= clock_timestamp() OR (failures = 0 AND NOT progress ? 'waits_for'))
      ORDER BY kind, user_id, queued_at, created_at, id) oldest
    WHERE r.id = oldest.id AND oldest.queued_at IS NULL AND oldest.due_at <= clock_timestamp()
      AND r.state = 'accepted' AND r.queued_at IS NULL
    RETURNING r.id, r.job_number`)
  const jobs = rows.map(({ id, job_number }) => ({ id, jobNumber: Number(job_number) }))
  for (let at = 0; at < jobs.length; at += mostAtOnce) {
    await queue.add(jobs.slice(at, at + mostAtOnce)).catch(async (error: unknown) => {
      await release(pool, jobs.slice(at)).catch(() => {}) // the reconciler finds that the queue does not have them
      throw error
    })
  }
  return jobs.length
}

/**
 * Releases requests whose job the queue does not have any more, and that nobody works on.
 * @param olderThanMs since they were queued @returns how many
 */
export async function releaseLost (
  pool: Pool, queue: Pick<RequestQueue, 'ids'>, olderThanMs: number
): Promise<number> {
  const { rows } = await pool.query<{ id: string, job_number: string }>(`
    SELECT r.id, r.job_number FROM ledger.background_requests r
    LEFT JOIN ledger.leases l ON l.name = 'background ' || r.id AND l.expires_at > clock_timestamp()
    WHERE r.state = 'accepted' AND r.queued_at < clock_timestamp() - $1 * interval '1 ms' AND l.name IS NULL`, [olderThanMs])
  if (rows.length === 0) return 0
  const known = await queue.ids()
  const jobs = rows.map(({ id, job_number }) => ({ id, jobNumber: Number(job_number) }))
  return await release(pool, jobs.filter((job) => !known.has(jobId(job))))
}

async function release (pool: Pool, jobs: RequestJob[]): Promise<number> {
  const { rowCount } = await pool.query(`
    UPDATE ledger.background_requests r SET queued_at = NULL
    FROM unnest($1::uuid[], $2::bigint[]) AS job (id, job_number)
    WHERE r.id = job.id AND r.job_number = job.job_number AND r.queued_at IS NOT NULL`,
  [jobs.map(({ id }) => id), jobs.map(({ jobNumber }) => jobNumber)])
  return rowCount ?? 0
}

export interface ReconcileOptions {
  pool: Pool
  queue: Pick<RequestQueue, 'add' | 'ids'>
  kinds: BackgroundKinds
  /** The age from which a job is looked for in the queue, in milliseconds. */
  lostAfterMs: number
  /** The age from which a request that was prepared has nobody who accepts it, in milliseconds. */
  orphanedAfterMs: number
}

const atOnce = 100

/** One pass. It throws errors of the queue only after everything that needs no queue. */
export async function reconcileRequests (options: ReconcileOptions): Promise<void> {
  const { pool, queue, lostAfterMs } = options
  await settleOrphans(options)
  await removeExpired(options)
  for (const kind of Object.values(options.kinds)) await kind.tidy?.()
  await releaseLost(pool, queue, lostAfterMs)
  await enqueueRequests(pool, queue)
}

/** The log says whether they were accepted. */
async function settleOrphans ({ pool, kinds, orphanedAfterMs }: ReconcileOptions): Promise<void> {
  const { rows } = await pool.query<{ id: string, kind: string }>(`
    SELECT id, kind FROM ledger.background_requests
    WHERE state = 'prepared' AND created_at < now() - $1 * interval '1 ms' AND kind = ANY($2)
    ORDER BY created_at LIMIT ${atOnce}`, [orphanedAfterMs, Object.keys(kinds)])
  for (const { id, kind } of rows) {
    if (await kinds[kind]?.wasAccepted(id)) await acceptRequest(pool, id)
    else await dropPrepared(pool, id)
  }
}

/** With what refers to them. */
async function removeExpired ({ pool, kinds }: ReconcileOptions): Promise<void> {
  for (const [kind, { keepDays }] of Object.entries(kinds)) {
    await pool.query(`
      DELETE FROM ledger.background_requests WHERE id IN (
        SELECT id FROM ledger.background_requests
        WHERE kind = $1 AND finished_at < now() - $2 * interval '1 day' ORDER BY finished_at LIMIT 1)`, [kind, keepDays])
  }
}
