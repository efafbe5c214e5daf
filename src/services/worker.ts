// The worker role: dispatcher, deliveries and reconciler, and background work: imports of leads, exports and erasures
// of persons, recoveries.
import { unfinishedByKind } from '../../workers/work/requests.js'
import type { BackgroundKinds } from '../../workers/work/kind.js'
import { startWork, tidying } from '../../workers/work/run.js'
import { leadImports } from '../../workers/imports/lead-imports.js'
import { erasures, lateCalls } from '../../workers/persons/erasures.js'
import { exportKind } from '../../workers/persons/erasure-rows.js'
import { personExports } from '../../workers/persons/exports.js'
import { recoveries, recoveryKind } from '../../workers/operate/recoveries.js'
import { startWorkers } from '../../workers/start.js'
import { parseSchedule } from '../features/webhooks/outcome.js'
import type { Metrics } from '../http/metrics.js'
import { packageVersion } from '../package-root.js'
import { openCommands } from './commands.js'
import { alertHook } from './complete-config.js'
import type { Services } from './services.js'
import { measureBackground, observeAttempts, observeImports } from './metrics.js'

export type StartedWorker = Awaited<ReturnType<typeof startWorker>>

export async function startWorker (services: Services, metrics: Metrics) {
  const { config, urls } = services
  const { webhook } = config
  const kinds = await kindsOf(services, metrics)
  measureBackground(metrics, Object.keys(kinds), () => unfinishedByKind(services.pool))
  const { pool, consumerPool, logGuard: { maySend: mayWork } } = services
  const workers = await startWorkers({
    ...services,
    ...urls,
    webhook: { ...webhook, schedule: parseSchedule(webhook.schedule) },
    ...observeAttempts(metrics),
    alert: alertHook(config),
    version: packageVersion,
    tasks: [tidying({ pool, kinds })]
  })
  const work = startWork({ ...services, pool: consumerPool, kinds, mayWork })
  return { ...workers, stop: async () => { await Promise.all([workers.stop(), work.stop()]) } }
}

/** An import rarely reads a stream twice, so a small cache is enough. */
const importCacheBytes = 2 ** 20

async function kindsOf (services: Services, metrics: Metrics): Promise<BackgroundKinds> {
  const commands = await openCommands(services, importCacheBytes)
  return {
    'lead-import': leadImports({ ...services, ...commands, onRows: observeImports(metrics) }),
    [exportKind]: personExports(services),
    'person-erasure': erasures(services),
    'late-call-erasure': lateCalls(services),
    [recoveryKind]: recoveries(services)
  }
}
