// What both kinds of queue have in common: where BullMQ connects, how long it waits there, and how it tells of trouble.
import { setTimeout as delay } from 'node:timers/promises'
import type { BackendFactory, IQueueBackend } from 'bullmq'
import type { Liveness } from './liveness.js'

/** `Connection` tells BullMQ where its jobs are. */
export interface BackEnd<Connection> {
  factory: BackendFactory<IQueueBackend, Connection>
  /** It is away, which the log says once for all queues. */
  isTold? (): boolean
  producer: Connection
  worker: Connection
  /** Called when a connection that waits for jobs has answered; the wait itself goes on. */
  onListening?: () => void
  disconnect (): void
}

/** How long the queue may be silent, in milliseconds. */
export interface Patience {
  /** A connection whose answer takes longer is dead: it is closed, and another one is opened. */
  answerWithinMs: number
  /** Interval between health checks. */
  askEveryMs: number
  /** A queue that has answered nothing for so long is dead. */
  deadAfterMs: number
}

export const usualPatience: Patience = { answerWithinMs: 5_000, askEveryMs: 2_500, deadAfterMs: 10_000 }

const quietMs = 10_000

/** Logs the first error, and then no other one for ten seconds: each try on a broken connection gives one. */
export function logRarely (
  log: { warn (details: object, message: string): void }, message: string
): (error: Error) => void {
  let quietUntil = 0
  return (error) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + quietMs
    log.warn({ err: error }, message)
  }
}

const pauseMs = 1_000
/** Longest wait of a worker that could not take a job. */
const triesAgainSeconds = 1

/** Watch the two requests of a worker: take the next job, and wait for one. */
export interface Watches { taking: Liveness, waiting: Liveness }

/**
 * If a server refuses the next job, for instance because it is full or read-only, BullMQ asks again at once, thousands
 * of times a second. This back end pauses first. After a wait for a job has failed, BullMQ waits as long as the back
 * end allows, which is an hour on Postgres. Here no wait takes longer than `lookEverySeconds`, so that a worker works
 * again soon after an outage, however long that was.
 */
export function watched<Connection> (
  factory: BackendFactory<IQueueBackend, Connection>, { taking, waiting }: Watches, lookEverySeconds: number
): BackendFactory<IQueueBackend, Connection> {
  const longestWait = () => taking.isFailing ? Math.min(triesAgainSeconds, lookEverySeconds) : lookEverySeconds
  return (...made) => {
    const backEnd = factory(...made)
    const moveToActive = backEnd.moveToActive.bind(backEnd)
    const waitForJob = backEnd.waitForJob.bind(backEnd)
    backEnd.waitForJob = (asked) => {
      const seconds = Math.min(asked, longestWait())
      return waiting.watch(() => waitForJob(seconds), seconds * 1_000)
    }
    backEnd.moveToActive = (...args) => taking.watch(() => moveToActive(...args)).catch(async (error: unknown) => {
      await delay(pauseMs)
      throw error
    })
    return backEnd
  }
}
