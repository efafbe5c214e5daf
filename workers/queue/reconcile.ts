// Due and not queued -> queued; started and never finished -> unknown. What makes the queue disposable.
import type { Pool } from 'pg'
import { pause, wheneverLeased } from '../../src/subscriptions/lease.js'
import { closeUnknownOnDemand } from '../deliveries/on-demand-attempts.js'
import { closeUnknown } from '../deliveries/deliveries.js'
import type { Enqueuer } from './enqueue.js'
import { releaseSlots, unstartedJobs, usersWithDue } from './slots.js'
import { jobId, type JobQueue } from './queue.js'
import { tidy } from '../deliveries/retention.js'

export interface ReconcilerOptions {
  pool: Pool
  holder: string
  queue: Pick<JobQueue, 'ids'>
  enqueuer: Pick<Enqueuer, 'enqueue'>
  /** Between two passes, in milliseconds. */
  everyMs?: number | undefined
  /** When an attempt counts as abandoned: twice the deadline of a request, in milliseconds. */
  abandonedAfterMs: number
  /** How long payloads and attempts are kept. */
  retentionDays: number
  signal: AbortSignal
  log: { info (details: object, message: string): void, warn (details: object, message: string): void }
}

/** What a pass found: attempts without an end, jobs that vanished from the queue, and deliveries it queued. */
export interface Reconciled { unknown: number, lost: number, queued: number }

const defaultPeriodMs = 10_000
const usersAtOnce = 100

/** Reconciles until `signal` is aborted, in one process of many. */
export async function runReconciler (options: ReconcilerOptions): Promise<void> {
  const { pool, holder, signal, log } = options
  while (!signal.aborted) {
    try {
      await wheneverLeased({ pool, name: 'reconciler', holder, signal }, (lease) => passUntil(lease.signal, options))
    } catch (error) {
      if (signal.aborted) return
      log.warn({ err: error }, 'the reconciler stopped, it starts again')
      await pause(1_000, signal)
    }
  }
}

async function passUntil (signal: AbortSignal, options: ReconcilerOptions): Promise<void> {
  const { pool, everyMs = defaultPeriodMs, retentionDays: days, log } = options
  while (!signal.aborted) {
    await reconcile(options).then(
      (found) => { if (found.unknown + found.lost > 0) log.info({ ...found }, 'reconciled') },
      (error: unknown) => log.warn({ err: error }, 'reconciling failed, it is tried again'))
    await tidy({ pool, days }).then(
      (removed) => { if (removed.cancelled + removed.payloads > 0) log.info({ ...removed }, 'removed what is no longer kept') },
      (error: unknown) => log.warn({ err: error }, 'what is no longer kept was not removed, it is tried again'))
    await pause(everyMs, signal)
  }
}

/** One pass. Queue trouble is thrown only after what needs no queue was done. */
export async function reconcile ({ pool, queue, enqueuer, everyMs = defaultPeriodMs, abandonedAfterMs }: Omit<ReconcilerOptions, 'holder' | 'retentionDays' | 'signal' | 'log'>): Promise<Reconciled> {
  const unknown = await closeUnknown(pool, abandonedAfterMs) + await closeUnknownOnDemand(pool, abandonedAfterMs)
  const lost = await findLost(pool, queue, everyMs)
  let queued = 0
  const users = await usersWithDue(pool)
  for (let from = 0; from < users.length; from += usersAtOnce) {
    queued += await enqueuer.enqueue(users.slice(from, from + usersAtOnce))
  }
  return { unknown, lost, queued }
}

/**
 * Jobs that the ledger knows and the queue does not. One that is being handed to a worker just now may look lost
 * too: then a second job is sent and the first one is stale, or the attempt has started and nothing happens.
 */
async function findLost (pool: Pool, queue: Pick<JobQueue, 'ids'>, everyMs: number): Promise<number> {
  const unstarted = await unstartedJobs(pool, everyMs)
  if (unstarted.length === 0) return 0
  const ids = await queue.ids()
  return releaseSlots(pool, unstarted.filter((job) => !ids.has(jobId(job))))
}
