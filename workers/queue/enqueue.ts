// Moves due deliveries from the delivery log into the queue, as slots become free.
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
/** Longer than the end of an attempt takes to be written, mostly; else the reconciler finds it. */
const lookAgainMs = 250
const timerMarginMs = 5
// The delivery log has the time of every attempt. A timer in the process that wrote it makes short waits exact. A
// delayed job would use one of the endpoint's slots while it waits. Long waits can bear the reconciler's period.
const longestTimerMs = 75_000

export function openEnqueuer (options: EnqueuerOptions): Enqueuer {
  return new SlotEnqueuer(options)
}

class SlotEnqueuer implements Enqueuer {
  readonly #waiting = new Set<string>()
  /** Users who are looked at for the second time. */
  readonly #again = new Set<string>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #isRunning = false
  #isStopped = false
  #idle = Promise.resolve()

  constructor (private readonly options: EnqueuerOptions) {}

  enqueueSoon (userIds: Iterable<string>): void {
    for (const userId of userIds) this.#waiting.add(userId)
    this.#begin()
  }

  enqueueIn (userId: string, ms: number): void {
    if (ms <= longestTimerMs) this.#after(ms + timerMarginMs, () => this.enqueueSoon([userId]))
  }

  async enqueue (userIds: string[]): Promise<number> {
    return (await this.#enqueue(userIds)).jobs.length
  }

  #after (ms: number, work: () => void): void {
    if (this.#isStopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      work()
    }, ms)
    this.#timers.add(timer)
  }

  async #enqueue (userIds: string[]): ReturnType<typeof acquireSlots> {
    const { pool, queue, maySend } = this.options
    if (!maySend()) return { jobs: [], served: new Set() }
    const { jobs, served } = await acquireSlots(pool, userIds)
    try {
      if (jobs.length > 0) await queue.add(jobs)
      return { jobs, served }
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
    if (this.#isRunning || this.#isStopped || this.#waiting.size + this.#again.size === 0) return
    this.#isRunning = true
    this.#idle = this.#enqueueWaiting()
  }

  async #enqueueWaiting (): Promise<void> {
    while (this.#waiting.size + this.#again.size > 0 && !this.#isStopped) {
      await this.#enqueueSome().catch((error: unknown) => {
        this.options.log.warn({ err: error }, 'due webhooks could not be queued; the reconciler will')
      })
    }
    this.#isRunning = false
  }

  /**
   * An attempt that ends at this moment may have looked before something came to be due, and still hold the slot: who
   * has got none is looked at once more. Whoever has got one is looked at when that attempt ends.
   */
  async #enqueueSome (): Promise<void> {
    const users = takeSome(this.#waiting)
    const again = takeSome(this.#again).filter((user) => !users.includes(user))
    const { served } = await this.#enqueue([...users, ...again])
    const unserved = users.filter((user) => !served.has(user))
    if (unserved.length > 0) this.#after(lookAgainMs, () => this.#lookAgain(unserved))
  }

  #lookAgain (users: string[]): void {
    for (const user of users) this.#again.add(user)
    this.#begin()
  }
}

function takeSome (users: Set<string>): string[] {
  const some = [...users].slice(0, usersAtOnce)
  for (const user of some) users.delete(user)
  return some
}
