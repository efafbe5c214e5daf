// The worker role: dispatcher, deliveries and reconciler, started and stopped together.
import type { Pool } from 'pg'
import type { RestoreGuard } from '../src/recovery/restore-guard.js'
import { runSubscription, type RunOptions } from '../src/subscriptions/run.js'
import { deliverer } from './deliver/deliver.js'
import { dispatcher } from './dispatch/dispatch.js'
import { listenForDue } from './queue/due-channel.js'
import { openEnqueuer } from './queue/enqueue.js'
import { withMarkers } from './dispatch/marker.js'
import { openPoster } from './deliver/post.js'
import { openQueue, type JobQueue } from './queue/queue.js'
import { runReconciler } from './queue/reconcile.js'
import { refuseLostKeys } from './deliver/secrets.js'

export interface WorkerDeps {
  pool: Pool
  streams: RunOptions['streams']
  /** Closed while this database is behind the log: then nothing is sent. */
  restoreGuard: RestoreGuard
  /** For the queue, when there is no Redis. */
  databaseUrl: string
  redisUrl?: string | undefined
  /** Who this process is, for operators. */
  holder: string
  log: RunOptions['log']
  webhook: {
    /** Waits before each attempt, in milliseconds. */
    schedule: number[]
    /** Whole time of a request, in milliseconds. */
    timeoutMs: number
    allowHttp: boolean
    allowCidrs: string[]
    /** How long payloads and attempts are kept; 90 when absent. */
    retentionDays?: number
  }
  /** 32 bytes; the previous ones still decrypt. */
  secretKey: Buffer
  previousSecretKeys: Buffer[]
  version: string
  /** Attempts that run at the same time in this process, without those that take long. */
  concurrency?: number
  /** Between two passes of the reconciler, in milliseconds. */
  reconcileEveryMs?: number
  /** Between two markers, in milliseconds. */
  markEveryMs?: number
}

export interface Workers {
  /** Resolved when deliveries are made; rejected when this process must not start, for instance with a lost key. */
  ready: Promise<void>
  /** Takes no new work; running attempts end, or are handed over, within 20 s. */
  stop (): Promise<void>
}

// Those that take long do not count.
export const attemptsAtOnce = 250
const graceMs = 15_500

/** Starts the worker role. The clients stay the caller's; the queue's connections are made and closed here. */
export function startWorkers (deps: WorkerDeps): Workers {
  const stopping = new AbortController()
  const hurrying = new AbortController()
  const running = run(deps, stopping.signal, hurrying)
  running.catch(() => {}) // told by `ready`
  let stopped: Promise<void> | undefined
  return {
    ready: running.then(() => {}),
    stop: () => stopped ??= stop()
  }

  async function stop (): Promise<void> {
    stopping.abort()
    const started = await running.catch(() => undefined)
    await started?.stop()
  }
}

async function run (deps: WorkerDeps, signal: AbortSignal, hurrying: AbortController): Promise<{ stop (): Promise<void> }> {
  const { pool, streams, restoreGuard, log, webhook, holder } = deps
  const keys = { current: deps.secretKey, previous: deps.previousSecretKeys }
  await refuseLostKeys(pool, keys)
  const queue: JobQueue = await openQueue(deps)
  const enqueuer = openEnqueuer({ pool, queue, maySend: restoreGuard.maySend, log })
  const poster = openPoster(webhook)
  const deliver = deliverer({ pool, poster, enqueuer, keys, schedule: webhook.schedule, timeoutMs: webhook.timeoutMs, rules: webhook, version: deps.version, signal: hurrying.signal, log })
  queue.work(async (job) => { if (restoreGuard.maySend()) await deliver(job) }, deps.concurrency ?? attemptsAtOnce)
  const listener = listenForDue({ databaseUrl: deps.databaseUrl, onDue: (user) => enqueuer.enqueueSoon([user]), onError: (err) => log.warn({ err }, 'cannot hear what is due, the reconciler looks') })
  const dispatch = dispatcher({ firstDelayMs: webhook.schedule[0] ?? 0, onDispatched: (users) => enqueuer.enqueueSoon(users), log })
  const marking = withMarkers(dispatch, { restoreGuard, pool, streams, everyMs: deps.markEveryMs, log })
  const loops = [
    restoreGuard.keepChecking(signal),
    restoreGuard.untilMaySend(signal).then(() => runSubscription(marking.consumer, { streams, pool, holder, signal, log })),
    runReconciler({ pool, holder, queue, enqueuer, everyMs: deps.reconcileEveryMs, abandonedAfterMs: 2 * webhook.timeoutMs, retentionDays: webhook.retentionDays ?? 90, signal, log })
  ]
  return {
    async stop () {
      await Promise.all([queue.stopWork(graceMs, () => hurrying.abort(new Error('the worker stops'))), ...loops])
      await marking.stop()
      await listener.close()
      await enqueuer.stop()
      await queue.close()
      await poster.close()
    }
  }
}
