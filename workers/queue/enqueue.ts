// Moves due deliveries from the ledger into the queue, as slots become free.
import type { Pool } from 'pg'
import type { JobQueue } from './queue.js'
import { acquireSlots, releaseSlots } from './slots.js'

export interface Enqueuer {
  /** Enqueues what is due of these users, soon; many calls become one. Never throws. */
  enqueueSoon (userIds: Iterable<string>): void
  /** Enqueues what is due of the user after `ms`. The reconciler serves waits of more than a minute. */
  enqueueIn (userId: string, ms: number): void
  /**
   * Enqueues what is due of these users now.
   * @returns how many jobs
   * @throws when the queue or Postgres cannot be reached; nothing is lost by that
   */
  enqueue (userIds: string[]): Promise<number>
  /** Enqueues no more, and waits for the batch that runs. */
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
// The ledger knows the time of every attempt. A timer in the process that wrote it makes short waits exact. A delayed
// job would use one of the endpoint's slots while it waits. Long waits can bear the reconciler's period.
const longestTimerMs = 75_000

export function openEnqueuer ({ pool, queue, maySend, log }: EnqueuerOptions): Enqueuer {
  const waiting = new Set<string>()
  const timers = new Set<NodeJS.Timeout>()
  let isRunning = false
  let isStopped = false
  let idle = Promise.resolve()

  return { enqueueSoon, enqueueIn, enqueue, stop }

  function enqueueSoon (userIds: Iterable<string>): void {
    for (const userId of userIds) waiting.add(userId)
    if (isRunning || isStopped || waiting.size === 0) return
    isRunning = true
    idle = enqueueWaiting()
  }

  async function enqueueWaiting (): Promise<void> {
    while (waiting.size > 0 && !isStopped) {
      const users = [...waiting].slice(0, usersAtOnce)
      for (const user of users) waiting.delete(user)
      await enqueue(users).catch((error: unknown) => {
        log.warn({ err: error }, 'due webhooks could not be queued; the reconciler will')
      })
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
      await releaseSlots(pool, jobs).catch(() => {}) // the reconciler finds that the queue does not have them
      throw error
    }
  }

  async function stop (): Promise<void> {
    isStopped = true
    for (const timer of timers) clearTimeout(timer)
    await idle
  }
}
