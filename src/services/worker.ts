// The worker role: dispatcher, deliveries and reconciler, and what is done in the background: imports of leads, and
// erasures.
import { findCampaign } from '../../projections/catalog.js'
import { countUnfinished } from '../../workers/background/counts.js'
import type { BackgroundKind, BackgroundKinds } from '../../workers/background/kind.js'
import { startBackground, type Background } from '../../workers/background/start.js'
import { leadImports } from '../../workers/imports/lead-imports.js'
import { erasures } from '../../workers/persons/erasures/erasures.js'
import { lateCalls } from '../../workers/persons/erasures/late-calls.js'
import { startPersons } from '../../workers/persons/run.js'
import { startWorkers } from '../../workers/start.js'
import { leadImportStream } from '../features/imports/events.js'
import { endDecider } from '../features/imports/model.js'
import { importLead, listedOf } from '../features/leads/import.js'
import { parseSchedule } from '../features/webhooks/outcome.js'
import type { Metrics } from '../http/metrics.js'
import { uuidV5 } from '../log/stored.js'
import { packageVersion } from '../package-root.js'
import { openCommands, type CommandServices } from './commands.js'
import { alertHook } from './complete-config.js'
import type { Services } from './services.js'
import { measureBackground, observeAttempts, observeImports } from './metrics.js'

export interface StartedWorker {
  /** Asks the queue. @throws when it does not answer, or has not for long */
  assertAnswers (): Promise<void>
  /** Attempts that are under way are cut off, and made again by another worker, or later. */
  handOver (): void
  stop (): Promise<void>
}

export async function startWorker (services: Services, metrics: Metrics): Promise<StartedWorker> {
  const { config, urls: { databaseUrl, redisUrl }, logGuard, keys: { current, previous } } = services
  const { webhook } = config
  const workers = startWorkers({
    ...services,
    sameLog: logGuard,
    databaseUrl,
    redisUrl,
    webhook: { ...webhook, schedule: parseSchedule(webhook.schedule) },
    secretKey: current,
    previousSecretKeys: previous,
    onAttempt: observeAttempts(metrics),
    alert: alertHook(config),
    version: packageVersion
  })
  await workers.ready
  const background = await startBackgroundOf(services, metrics).catch(async (error: unknown) => {
    await workers.stop()
    throw error
  })
  const endPersons = startPersons(services)
  return { ...workers, stop: async () => { await Promise.all([workers.stop(), background.stop(), endPersons()]) } }
}

async function startBackgroundOf (services: Services, metrics: Metrics): Promise<Background> {
  const { urls: { databaseUrl, redisUrl }, consumerPool, restoreGuard: { maySend: mayWork } } = services
  const kinds: BackgroundKinds = {
    'lead-import': await leadImportsOf(services, observeImports(metrics)),
    'person-erasure': erasures(services),
    'late-call-erasure': lateCalls(services)
  }
  measureBackground(metrics, Object.keys(kinds), () => countUnfinished(services.pool))
  return await startBackground({ ...services, pool: consumerPool, databaseUrl, redisUrl, kinds, mayWork })
}

/** Nobody comes back to the stream of a row soon. */
const cacheBytes = 2 ** 20
/** An import goes on without readers after so long: the projector may be away. */
const readersWithinMs = 2_000

/** Rows are commands, as those of the API are. `onRows` is told what became of the rows of a part. */
export async function leadImportsOf (
  services: CommandServices & Pick<Services, 'consumerPool'>, onRows: (outcomes: readonly string[]) => void
): Promise<BackgroundKind> {
  const { pool, consumerPool, streams, positions, phoneHash } = services
  const { handle, ids, blacklists } = await openCommands(services, cacheBytes)
  return leadImports({
    pool: consumerPool,
    listed: (userId, rows) => listedOf(blacklists, userId, rows),
    importLead: ({ number, lead, ids, isRetry }, { importId, userId }, listed) => importLead({ handle, phoneHash }, {
      commandId: uuidV5(importId, `row ${number}`), importId, userId, submitted: lead, listed, ids, isRetry
    }),
    takeIds: (count) => ids.take('lead', count),
    async campaignProblem (userId, campaignId) {
      const campaign = await positions.orNotKnown('catalog', () => findCampaign(pool, userId, campaignId))
      return campaign && !campaign.isDeleted ? undefined : 'The campaign was deleted.'
    },
    awaitReaders: async (position) => { await positions.reached('leads', position, readersWithinMs) },
    async end ({ importId, userId }, counts, reason, now) {
      await handle({
        aggregate: endDecider,
        stream: leadImportStream(importId),
        decide: (state) => endDecider.decide({ type: 'end', ...counts, reason, now }, state),
        origin: { commandId: uuidV5(importId, 'end'), correlationId: importId, userId }
      })
    },
    onRows,
    isRequested: async (importId) => await streams.last(leadImportStream(importId)) !== undefined
  })
}
