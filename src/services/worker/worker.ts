// The worker role: dispatcher, deliveries and reconciler, and what is done in the background.
import { parseSchedule } from '../../features/webhooks/outcome.js'
import { packageVersion } from '../../package-root.js'
import { startBackgroundOf } from './background.js'
import { alertHook, secretKeys } from '../complete-config.js'
import type { Services } from '../services.js'
import { observeAttempts } from '../status/metrics.js'
import type { Status } from '../status/status.js'

export interface StartedWorker {
  /** Asks the queue. @throws when it does not answer, or has not for long */
  assertAnswers (): Promise<void>
  /** Attempts that are under way are cut off, and made again by another worker, or later. */
  handOver (): void
  stop (): Promise<void>
}

/** Loads the workers when it is called: a process that only replays projections has no code that could send. */
export async function startWorker (
  context: Services, { metrics }: Pick<Status, 'metrics'>
): Promise<StartedWorker> {
  const { config, urls, connections, restoreGuard, logGuard, holder, log } = context
  const { startWorkers } = await import('../../../workers/start.js')
  const { webhook } = config
  const { current, previous } = secretKeys(config)
  const workers = startWorkers({
    pool: connections.pool,
    consumerPool: connections.consumerPool,
    streams: connections.streams,
    notifications: connections.notifications,
    restoreGuard,
    sameLog: logGuard,
    databaseUrl: urls.databaseUrl,
    redisUrl: urls.redisUrl,
    holder,
    log,
    webhook: { ...webhook, schedule: parseSchedule(webhook.schedule) },
    secretKey: current,
    previousSecretKeys: previous,
    onAttempt: observeAttempts(metrics),
    alert: alertHook(config),
    version: packageVersion
  })
  await workers.ready
  const background = await startBackgroundOf(context, metrics).catch(async (error: unknown) => {
    await workers.stop()
    throw error
  })
  return { ...workers, stop: async () => { await Promise.all([workers.stop(), background.stop()]) } }
}
