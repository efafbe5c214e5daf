// The api role: HTTP on top of commands, read model and delivery log.
import { openReadModel } from '../../../projections/read-model.js'
import { callOwners } from '../../command-handling/call-owners.js'
import { commandHandler, type CommandHandler } from '../../command-handling/handle-command.js'
import { openIdempotency, type Idempotency } from '../../command-handling/idempotency/idempotency.js'
import { openIds, type Ids } from '../../command-handling/ids.js'
import { pastAssistants } from '../../command-handling/past-assistants.js'
import { holdToLeadDigestKey, phoneHash } from '../../command-handling/phone-hash.js'
import { waitIfMissing } from '../../command-handling/wait-if-missing.js'
import { openFacts } from '../../commands/facts.js'
import type { App } from '../../http/app-types.js'
import { commandRoutes } from '../../http/command-route.js'
import type { LogGuard } from '../../recovery/log-guard.js'
import { keyBytes } from '../complete-config.js'
import type { ProcessContext } from '../process-context.js'
import { readPositions } from './read-positions.js'
import { connectForCounts } from './redis-for-counts.js'
import type { Status } from '../status/status.js'
import { webhookDeps, type Routes, type WebhookDeps } from './webhook-deps.js'

/** Between two removals of expired idempotency keys. */
const sweepEveryMs = 10 * 60_000

/** Loads the HTTP side when it is called, so that other commands start sooner. */
export async function composeApi (context: ProcessContext, status: Status): Promise<App> {
  const { config, urls: { redisUrl }, connections: { pool, streams }, log } = context
  const { buildApp } = await import('../../app.js')
  const commands = commandHandler(streams, config.streamCacheBytes)
  const idempotency = openIdempotency(pool, commands)
  const routes = {
    ...await commandDeps(context, commands, idempotency),
    ...await webhookDeps(context)
  }
  const redis = redisUrl === undefined ? undefined : connectForCounts(redisUrl, log)
  const app = await buildApp({
    ...status,
    logger: log,
    basePath: config.basePath,
    jwt: config.jwt,
    corsOrigins: config.corsOrigins,
    rateLimit: { perMinute: config.rateLimitPerMinute, redis },
    routes
  })
  const sweep = () => idempotency.removeExpired().catch((error: unknown) => {
    log.warn({ err: error }, 'expired idempotency keys were not removed')
  })
  const sweeping = setInterval(() => void sweep(), sweepEveryMs)
  app.addHook('onClose', async () => {
    clearInterval(sweeping)
    redis?.disconnect()
  })
  return app
}

/** What the routes of assistants, leads, calls and the catalogue work with. */
async function commandDeps (
  context: ProcessContext, commands: CommandHandler, idempotency: Idempotency
): Promise<Omit<Routes, keyof WebhookDeps>> {
  const { config, connections: { pool, streams, positions }, restoreGuard, logGuard } = context
  const waitMs = config.readModelWaitMs
  const hash = phoneHash(keyBytes(config.secrets.leadDigestKey))
  await holdToLeadDigestKey(streams, hash)
  const ids = sameLogOnly(logGuard, openIds(pool, await catchUp(context), restoreGuard.assertMayGiveIds))
  const readModel = openReadModel(pool)
  const reads = readPositions({ positions, waitMs })
  const assistantAt = pastAssistants(commands)
  const head = () => streams.head()
  const { passed, reached } = reads
  const facts = openFacts(readModel, waitIfMissing({ head, passed, reached, waitMs }), assistantAt)
  return {
    handle: commandRoutes({ idempotency, ids, readPositions: reads }),
    rateLimitPerMinute: config.rateLimitPerMinute,
    readModel,
    facts,
    assistantAt,
    readPositions: reads,
    phoneHash: hash,
    owners: callOwners({ streams, leadOwner: facts.leadOwner })
  }
}

/** Nothing is created in a log that has gone back: what is answered there is lost with it. */
function sameLogOnly ({ problem }: LogGuard, ids: Ids): Ids {
  return {
    async take (kind, count) {
      const otherLog = problem()
      if (otherLog) throw otherLog
      return await ids.take(kind, count)
    }
  }
}

/** Answers whether the projections that raise the sequences of ids have passed what the log held at the start. */
async function catchUp (
  { config, connections: { streams, positions } }: ProcessContext
): Promise<() => Promise<boolean>> {
  const head = await streams.head()
  return async () => {
    const reached = await Promise.all(['assistants', 'leads'].map((name) =>
      positions.reached(name, head, config.readModelWaitMs)))
    return reached.every(Boolean)
  }
}
