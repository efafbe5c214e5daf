// Moves due deliveries from the delivery log into the queue, as slots become free.
import type { Pool } from 'pg'
import type { JobQueue } from './queue.js'
import { dueOf } from './due.js'
import { acquireSlots, releaseSlots } from './slots.js'

export interface Enqueuer {
  /** Enqueues what is due of these users, soon; many calls become one. Never throws. */
  enqueueSoon (userIds: Iterable<string>): void
  /** The same after the end of an attempt: mostly nothing else of its user waits, which is cheap to see. */
  slotFreed (userId: string): void
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
// The delivery log has the time of every attempt. A timer in the process that wrote it makes short waits exact. A
// delayed job would use one of the endpoint's slots while it waits. Long waits can bear the reconciler's period.
const longestTimerMs = 75_000

export function openEnqueuer (options: EnqueuerOptions): Enqueuer {
  return new SlotEnqueuer(options)
}

class SlotEnqueuer implements Enqueuer {
  readonly #waiting = new Set<string>()
  /** Users of whom nothing may be due. */
  readonly #freed = new Set<string>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #isRunning = false
  #isStopped = false
  #idle = Promise.resolve()

  constructor (private readonly options: EnqueuerOptions) {}

  enqueueSoon (userIds: Iterable<string>): void {
    for (const userId of userIds) this.#waiting.add(userId)
    this.#begin()
  }

  slotFreed (userId: string): void {
    this.#freed.add(userId)
    this.#begin()
  }

  enqueueIn (userId: string, ms: number): void {
    if (ms > longestTimerMs || this.#isStopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.enqueueSoon([userId])
    }, ms + timerMarginMs)
    this.#timers.add(timer)
  }

  async enqueue (userIds: string[]): Promise<number> {
    const { pool, queue, maySend } = this.options
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

  async stop (): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    await this.#idle
  }

  #begin (): void {
    if (this.#isRunning || this.#isStopped || this.#waiting.size + this.#freed.size === 0) return
    this.#isRunning = true
    this.#idle = this.#enqueueWaiting()
  }

  async #enqueueWaiting (): Promise<void> {
    while (this.#waiting.size + this.#freed.size > 0 && !this.#isStopped) {
      await this.#enqueueSome().catch((error: unknown) => {
        this.options.log.warn({ err: error }, 'due webhooks could not be queued; the reconciler will')
      })
    }
    this.#isRunning = false
  }

  async #enqueueSome (): Promise<void> {
    const users = new Set(takeSome(this.#waiting))
    const freed = takeSome(this.#freed).filter((user) => !users.has(user))
    if (freed.length > 0) for (const user of await dueOf(this.options.pool, freed)) users.add(user)
    if (users.size > 0) await this.enqueue([...users])
  }
}

function takeSome (users: Set<string>): string[] {
  const some = [...users].slice(0, usersAtOnce)
  for (const user of some) users.delete(user)
  return some
}
