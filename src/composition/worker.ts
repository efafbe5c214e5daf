// The worker role: dispatcher, deliveries and reconciler.
import type { Logger } from 'pino'
import type { RestoreGuard } from '../recovery/restore-guard.js'
import { packageVersion } from '../package-root.js'
import { secretKeys, type CompleteConfig } from './complete-config.js'
import type { Connections, Urls } from './connections.js'

/** Loaded on demand: a process that only replays projections has no code that could send. */
export async function startWorker (config: CompleteConfig, urls: Urls, { consumerPool, streams }: Connections, restoreGuard: RestoreGuard, holder: string, log: Logger): Promise<() => Promise<void>> {
  const [{ startWorkers }, { parseSchedule }] = await Promise.all([import('../../workers/start.js'), import('../../workers/deliver/schedule.js')])
  const { webhook } = config
  const { current, previous } = secretKeys(config)
  const workers = startWorkers({
    pool: consumerPool,
    streams,
    restoreGuard,
    databaseUrl: urls.databaseUrl,
    redisUrl: urls.redisUrl,
    holder,
    log,
    webhook: { ...webhook, schedule: parseSchedule(webhook.schedule) },
    secretKey: current,
    previousSecretKeys: previous,
    version: packageVersion
  })
  await workers.ready
  return () => workers.stop()
}
