// Due but not queued -> queued; started but never finished -> unknown. The reconciler makes the queue disposable.
import type { Pool } from 'pg'
import { closeUnknown, closeUnknownOnDemand, type Closed } from '../deliveries/attempts/abandoned.js'
import { removeExpired } from '../deliveries/retention.js'
import { passOverDue } from './due.js'
import type { Enqueuer } from './enqueue.js'
import type { Periodic } from '../periodic.js'
import { jobId, type JobQueue } from './job-queue.js'
import { releaseSlots, unstartedJobs } from './slots.js'

export interface PassOptions {
  pool: Pool
  queue: Pick<JobQueue, 'ids'>
  enqueuer: Pick<Enqueuer, 'enqueue'>
  /** Between two passes, in milliseconds. */
  everyMs?: number | undefined
  /** When an attempt counts as abandoned: twice the deadline of a request, in milliseconds. */
  abandonedAfterMs: number
  /** Whether it closes what is abandoned; true when absent. */
  closes?: boolean
  /** Ends the pass between two batches. */
  signal?: AbortSignal
}

export interface ReconcilerOptions extends PassOptions {
  /** How long payloads and attempts are kept. */
  retentionDays: number
  log: { info (details: object, message: string): void, warn (details: object, message: string): void }
}

/**
 * What a pass found: attempts without an outcome, deliveries that it gave up as they ended their workers, jobs that are
 * gone from the queue, and jobs that it queued.
 */
export interface Reconciled { unknown: number, crashed: string[], lost: number, queued: number }

const defaultPeriodMs = 10_000
const usersAtOnce = 100

/**
 * The first pass of a lease closes nothing: after an outage of Postgres the lease is acquired anew, and all workers are
 * about to write the outcomes that they kept.
 */
export function reconciling (options: ReconcilerOptions): Periodic[] {
  const { pool, retentionDays, log, everyMs = defaultPeriodMs } = options
  return [{
    name: 'reconciler',
    everyMs,
    async run ({ isFirst, signal }) {
      const found = await reconcile({ ...options, closes: !isFirst, signal })
      for (const delivery of found.crashed) log.warn({ delivery }, 'a delivery ended its worker again and again: it is held')
      if (found.unknown + found.lost > 0) log.info({ ...found }, 'reconciled')
    }
  }, {
    name: 'retention',
    everyMs,
    async run () {
      const removed = await removeExpired(pool, retentionDays)
      if (removed.cancelled + removed.payloads > 0) log.info({ ...removed }, 'removed what is no longer kept')
    }
  }]
}

/**
 * One pass. It throws errors of the queue only after everything that needs no queue, and what keeps attempts from being
 * closed only at the end: it keeps nothing from being queued.
 */
export async function reconcile (options: PassOptions): Promise<Reconciled> {
  const { closes = true } = options
  const [closing] = await Promise.allSettled([closes ? closeAbandoned(options) : { attempts: 0, crashed: [] }])
  const lost = await releaseLost(options)
  const queued = await enqueueDue(options)
  if (closing.status === 'rejected') throw closing.reason
  return { unknown: closing.value.attempts, crashed: closing.value.crashed, lost, queued }
}

async function enqueueDue ({ pool, enqueuer, signal }: PassOptions): Promise<number> {
  let queued = 0
  const users = await passOverDue(pool)
  for (let from = 0; from < users.length && !signal?.aborted; from += usersAtOnce) {
    queued += await enqueuer.enqueue(users.slice(from, from + usersAtOnce))
  }
  return queued
}

async function closeAbandoned ({ pool, abandonedAfterMs }: PassOptions): Promise<Closed> {
  const { rows: [clock] } = await pool.query<{ now: Date }>('SELECT clock_timestamp() AS now')
  const now = clock?.now ?? new Date()
  const scheduled = await closeUnknown(pool, abandonedAfterMs, now)
  const onDemand = await closeUnknownOnDemand(pool, abandonedAfterMs, now)
  return { attempts: scheduled.attempts + onDemand.attempts, crashed: [...scheduled.crashed, ...onDemand.crashed] }
}

/**
 * Releases the slots of jobs that the delivery log has and the queue has not. A job that a worker takes at this moment
 * may seem lost too: then a second job follows and the first one is stale, or the attempt has started and nothing
 * happens.
 */
async function releaseLost ({ pool, queue, everyMs = defaultPeriodMs }: PassOptions): Promise<number> {
  const unstarted = await unstartedJobs(pool, everyMs)
  if (unstarted.length === 0) return 0
  const ids = await queue.ids()
  return await releaseSlots(pool, unstarted.filter((job) => !ids.has(jobId(job))))
}
