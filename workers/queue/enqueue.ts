// Moves due deliveries from the delivery log into the queue, as slots become free.
import type { Pool } from 'pg'
import type { JobQueue } from './queue.js'
import { acquireSlots, releaseSlots, type Given } from './slots.js'

export interface Enqueuer {
  /** Enqueues what is due of these users soon, many calls as one; never throws. @param answered an endpoint that did */
  enqueueSoon (userIds: Iterable<string>, answered?: string): void
  /** Enqueues what is due of the user after `ms`. The reconciler serves waits of more than a minute. */
  enqueueIn (userId: string, ms: number): void
  /**
   * Enqueues what is due of these users now.
   * @returns how many jobs
   * @throws when the queue or Postgres cannot be reached; nothing is lost by that
   */
  enqueue (userIds: string[]): Promise<number>
  /** Nothing waits to be enqueued here: then the statement that writes what is due may give it slots, too. */
  readonly isIdle: boolean
  /** Queues what was given slots as something of these users came to be due. Never throws. */
  queueSoon (given: Given, userIds: Iterable<string>): void
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
// A timer in the process that wrote it makes short waits exact; a delayed job would use one of the endpoint's slots
// while it waits. Long waits can bear the reconciler's period.
const longestTimerMs = 75_000

export const openEnqueuer = (options: EnqueuerOptions): Enqueuer => new SlotEnqueuer(options)

class SlotEnqueuer implements Enqueuer {
  readonly #waiting = new Map<string, Set<string>>() // users, and the endpoints of each that have just answered
  readonly #again = new Set<string>() // users who are looked at for the second time
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #queueing = new Set<Promise<void>>()
  #isRunning = false
  #isStopped = false
  #idle = Promise.resolve()

  constructor (private readonly options: EnqueuerOptions) {}

  enqueueSoon (userIds: Iterable<string>, answered?: string): void {
    for (const userId of userIds) {
      const endpoints = this.#waiting.get(userId) ?? new Set()
      this.#waiting.set(userId, answered === undefined ? endpoints : endpoints.add(answered))
    }
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

  get isIdle (): boolean {
    return !this.#isRunning && this.#queueing.size === 0 && !this.#isStopped && this.options.maySend()
  }

  queueSoon (given: Given, userIds: Iterable<string>): void {
    this.#lookAgainSoon([...userIds], given)
    const queueing = this.#queue(given).catch(this.#logFailure).finally(() => this.#queueing.delete(queueing))
    this.#queueing.add(queueing)
  }

  async #enqueue (userIds: string[], answering: string[] = []): Promise<Given> {
    if (!this.options.maySend()) return { jobs: [], served: new Set() }
    const given = await acquireSlots(this.options.pool, userIds, answering)
    await this.#queue(given)
    return given
  }

  async #queue ({ jobs }: Given): Promise<void> {
    const { pool, queue } = this.options
    try {
      if (jobs.length > 0) await queue.add(jobs)
    } catch (error) {
      await releaseSlots(pool, jobs).catch(() => {}) // the reconciler finds that the queue does not have them
      throw error
    }
  }

  async stop (): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    await Promise.all([this.#idle, ...this.#queueing])
  }

  #begin (): void {
    if (this.#isRunning || this.#isStopped || this.#waiting.size + this.#again.size === 0) return
    this.#isRunning = true
    this.#idle = this.#enqueueWaiting()
  }

  async #enqueueWaiting (): Promise<void> {
    while (this.#waiting.size + this.#again.size > 0 && !this.#isStopped) {
      await this.#enqueueSome().catch(this.#logFailure)
    }
    this.#isRunning = false
  }

  readonly #logFailure = (err: unknown): void =>
    this.options.log.warn({ err }, 'due webhooks could not be queued; the reconciler will')

  async #enqueueSome (): Promise<void> {
    const [waiting, again] = [takeSome(this.#waiting), takeSome(this.#again)]
    const users = new Set([...waiting.keys(), ...again.keys()])
    const answering = [...waiting.values()].flatMap((endpoints) => [...endpoints])
    this.#lookAgainSoon([...waiting.keys()], await this.#enqueue([...users], answering))
  }

  /**
   * An attempt that ends at this moment may have looked before something came to be due, and still hold the slot. So a
   * user who got no slot is looked at once more. A user who got one is looked at when that attempt ends.
   */
  #lookAgainSoon (users: string[], { served }: Given): void {
    const unserved = users.filter((user) => !served.has(user))
    if (unserved.length === 0) return
    this.#after(lookAgainMs, () => {
      for (const user of unserved) this.#again.add(user)
      this.#begin()
    })
  }
}

const takeSome = <V>(users: Pick<Map<string, V>, 'entries' | 'delete'>): Map<string, V> =>
  new Map([...users.entries()].slice(0, usersAtOnce).filter(([user]) => users.delete(user)))
