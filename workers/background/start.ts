// Works on requests in the background: the queue, the turns and the reconciler, started and stopped together.
import type { Pool } from 'pg'
import { endsWithin } from '../../src/postgres/ends-within.js'
import type { Notifications } from '../../src/postgres/notifications.js'
import { runPeriodic } from '../periodic.js'
import { openQueueOf, type QueueOptions } from '../queue/queue.js'
import { listenForRequests } from './channel.js'
import { enqueueRequests, requestJobs, type RequestQueue } from './jobs.js'
import type { BackgroundKinds } from './kind.js'
import { reconcileRequests } from './reconcile.js'
import { giveTurn, type TurnOptions } from './turns.js'

export interface BackgroundOptions extends Omit<QueueOptions, 'log' | 'pool'>, Pick<TurnOptions, 'log' | 'holder'> {
  /** For transactions that a frozen process cannot hold. */
  pool: Pool
  kinds: BackgroundKinds
  notifications: Notifications
  /** Nothing is worked on while this says no: the database is behind the log. */
  mayWork: () => boolean
  /** Requests that this process works on side by side. */
  concurrency?: number
  /** How long a turn lasts, in milliseconds. */
  turnMs?: number
  /** Between two passes of the reconciler, in milliseconds. */
  reconcileEveryMs?: number
  retryMs?: number
  orphanedAfterMs?: number
}

export interface Background {
  /** Begins no step; what is under way ends, or is done again by others. */
  stop (): Promise<void>
}

/** More would only share the same two cores; the others wait for their turn. */
const requestsAtOnce = 2
const usualTurnMs = 2_000
const usualReconcileMs = 10_000
const usualRetryMs = 5_000
const usualOrphanMs = 15 * 60_000
/** A step of a kind takes seconds; one that is cut off is repeated. */
const graceMs = 10_000
const passWithinMs = 11_000

export async function startBackground (options: BackgroundOptions): Promise<Background> {
  const { pool, kinds, holder, log, mayWork, reconcileEveryMs: everyMs = usualReconcileMs } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const queue = await openQueueOf(requestJobs, options)
  const { turnMs = usualTurnMs, retryMs = usualRetryMs, orphanedAfterMs = usualOrphanMs } = options
  const turns = { pool, kinds, holder, turnMs, retryMs, signal, log }
  queue.work(async ({ id }) => { if (mayWork()) await giveTurn(turns, id) }, options.concurrency ?? requestsAtOnce)
  const soon = enqueueSoon(queue, options, signal)
  const listener = listenForRequests(options.notifications, soon)
  const run = async () => {
    if (mayWork()) await reconcileRequests({ pool, queue, kinds, lostAfterMs: everyMs, orphanedAfterMs })
  }
  const passing = runPeriodic([{ name: 'background', everyMs, run }], { pool, name: 'background', holder, signal, log })
  return {
    async stop () {
      stopping.abort()
      listener.close()
      await Promise.all([queue.stopWork(graceMs, () => {}), endsWithin(passWithinMs, passing)])
      await queue.close()
    }
  }
}

/** Many calls become one or two. What fails is left to the reconciler. */
function enqueueSoon (
  queue: RequestQueue, { pool, mayWork, log }: BackgroundOptions, signal: AbortSignal
): () => void {
  let isAsked = false
  let isRunning = false
  return () => {
    isAsked = true
    if (!isRunning) void run()
  }

  async function run (): Promise<void> {
    isRunning = true
    while (isAsked && !signal.aborted && mayWork()) {
      isAsked = false
      await enqueueRequests(pool, queue).catch((err: unknown) =>
        log.warn({ err }, 'requests in the background could not be queued; the reconciler will'))
    }
    isRunning = false
  }
}
