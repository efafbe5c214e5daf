// Moves due deliveries from the ledger into the queue, as slots become free.
import type { Pool } from 'pg'
import { releaseSlots, acquireSlots } from './slots.js'
import type { JobQueue } from './queue.js'

export interface Enqueuer {
  /** Enqueues what is due of these users, soon; many calls become one. Never throws. */
  enqueueSoon (userIds: Iterable<string>): void
  /** The same after `ms`. Longer waits than a minute are left to the reconciler. */
  enqueueIn (userId: string, ms: number): void
  /**
   * Enqueues what is due of these users now.
   * @returns how many jobs
   * @throws when the queue or Postgres cannot be reached; nothing is lost by that
   */
  enqueue (userIds: string[]): Promise<number>
  /** Enqueues no more; waits for the one that runs. */
  stop (): Promise<void>
}

export interface EnqueuerOptions {
  pool: Pool
  queue: Pick<JobQueue, 'add'>
  /** Nothing is queued while this says no. */
  maySend: () => boolean
  log: { warn (details: object, message: string): void }
}

const usersAtOnce = 100
const timerMarginMs = 5
// The ledger knows the time of every attempt. A timer in the process that wrote it makes short waits prompt without a
// delayed job, which would hold one of the endpoint's slots while it waits; long waits can bear the reconciler's period.
const longestTimerMs = 75_000

export function openEnqueuer ({ pool, queue, maySend, log }: EnqueuerOptions): Enqueuer {
  const dirty = new Set<string>()
  const timers = new Set<NodeJS.Timeout>()
  let isRunning = false
  let isStopped = false
  let idle = Promise.resolve()

  return { enqueueSoon, enqueueIn, enqueue, stop }

  function enqueueSoon (userIds: Iterable<string>): void {
    for (const userId of userIds) dirty.add(userId)
    if (isRunning || isStopped || dirty.size === 0) return
    isRunning = true
    idle = drain()
  }

  async function drain (): Promise<void> {
    while (dirty.size > 0 && !isStopped) {
      const users = [...dirty].slice(0, usersAtOnce)
      for (const user of users) dirty.delete(user)
      await enqueue(users).catch((error: unknown) => log.warn({ err: error }, 'due webhooks could not be queued; the reconciler will'))
    }
    isRunning = false
  }

  function enqueueIn (userId: string, ms: number): void {
    if (ms > longestTimerMs || isStopped) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      enqueueSoon([userId])
    }, ms + timerMarginMs)
    timers.add(timer)
  }

  async function enqueue (userIds: string[]): Promise<number> {
    if (!maySend()) return 0
    const jobs = await acquireSlots(pool, userIds)
    if (jobs.length === 0) return 0
    try {
      await queue.add(jobs)
      return jobs.length
    } catch (error) {
      await releaseSlots(pool, jobs).catch(() => {}) // the reconciler finds them missing in the queue
      throw error
    }
  }

  async function stop (): Promise<void> {
    isStopped = true
    for (const timer of timers) clearTimeout(timer)
    await idle
  }
}
