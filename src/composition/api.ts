// The api role: HTTP on top of commands, read model and ledger.
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { openReadModel } from '../../projections/read-model.js'
import { assistantHistory } from '../command-handling/assistant-history.js'
import { callOwners } from '../command-handling/call-owners.js'
import { keyBytes } from '../config.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import type { RestoreGuard } from '../recovery/restore-guard.js'
import { commandHandler } from '../command-handling/handle-command.js'
import type { App } from '../http/app-types.js'
import { commandRoutes } from '../http/command-route.js'
import { openIdempotency } from '../command-handling/idempotency.js'
import { openIds } from '../command-handling/ids.js'
import { holdToLeadDigestKey, phoneHash } from '../command-handling/phone-hash.js'
import { readPositions } from './read-positions.js'
import { secretKeys, type CompleteConfig } from './complete-config.js'
import type { Connections, Urls } from './connections.js'
import type { Status } from './status.js'

/** A request waits no longer for its count. */
const countWithinMs = 250

/** Between two removals of expired idempotency keys. */
const sweepEveryMs = 10 * 60_000

/** The HTTP side is loaded on demand, so that other commands begin sooner. */
export async function composeApi (config: CompleteConfig, { redisUrl }: Urls, connections: Connections, restoreGuard: RestoreGuard, status: Status, logger: Logger): Promise<App> {
  const { pool, streams, positions } = connections
  const [{ buildApp }, { webhookUrlProblem }, secrets, { findSuspension, resumeUrl }, deliveries, { redeliver, sendTest }] = await Promise.all([
    import('../app.js'), import('../../workers/deliver/guard.js'), import('../../workers/deliver/secrets.js'), import('../../workers/deliveries/endpoints.js'),
    import('../../workers/deliveries/find-deliveries.js'), import('../../workers/operate/redeliver.js')
  ])
  const keys = secretKeys(config)
  const hash = phoneHash(keyBytes(config.secrets.leadDigestKey))
  await holdToLeadDigestKey(streams, hash)
  const head = await streams.head()
  const isCaughtUp = async () => (await Promise.all(['assistants', 'leads'].map((name) => positions.reached(name, head, config.readModelWaitMs)))).every(Boolean)
  const readModel = openReadModel(pool)
  const idempotency = openIdempotency(pool, commandHandler(streams))
  const readYourWrite = { reached: positions.reached, waitMs: config.readModelWaitMs }
  const owners = callOwners({
    streams,
    findLeadOwner: readModel.findLeadOwner,
    waitForLeads: (position) => positions.reached('leads', position, config.readModelWaitMs)
  })
  const redis = redisUrl === undefined ? undefined : connectForCounts(redisUrl, logger)
  const app = await buildApp({
    logger,
    basePath: config.basePath,
    jwt: config.jwt,
    rateLimit: { perMinute: config.rateLimitPerMinute, redis },
    ...status,
    routes: {
      handle: commandRoutes({ idempotency, ids: openIds(pool, isCaughtUp, restoreGuard.assertMayGiveIds), readYourWrite }),
      readModel,
      readPositions: readPositions({ positions, streams, dispatched: () => readCheckpoint(pool, 'ledger.dispatcher_checkpoint'), waitMs: config.readModelWaitMs }),
      assistantHistory: assistantHistory(streams),
      suspensionOf: (userId, url) => findSuspension(pool, userId, url),
      deliveriesOf: (userId, callId) => deliveries.findDeliveries(pool, userId, callId),
      listDeliveries: (filter, page) => deliveries.listDeliveries(pool, filter, page),
      findDelivery: (userId, id) => deliveries.findDelivery(pool, userId, id),
      redeliver: (userId, id) => redeliver(pool, id, userId),
      testWebhook: (target) => sendTest(pool, target),
      resumeWebhook: (userId, url) => resumeUrl(pool, userId, url),
      phoneHash: hash,
      owners,
      webhookUrlProblem: (url) => webhookUrlProblem(url, config.webhook),
      webhookSecret: (userId) => secrets.userSecrets(pool, keys, userId),
      rotateSecret: (userId) => secrets.rotateSecret(pool, keys, userId)
    }
  })
  const sweeping = setInterval(() => {
    idempotency.removeExpired().catch((error: unknown) => logger.warn({ err: error }, 'expired idempotency keys were not removed'))
  }, sweepEveryMs)
  app.addHook('onClose', async () => {
    clearInterval(sweeping)
    redis?.disconnect()
  })
  return app
}

/** For counts that nobody waits for: whatever is not answered at once fails, also while Redis is down or frozen. */
function connectForCounts (redisUrl: string, log: Logger): Redis {
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: countWithinMs,
    socketTimeout: countWithinMs, // gives a frozen connection up, so that only the first request waits for it
    retryStrategy: (times) => Math.min(times * 200, 2_000)
  })
  redis.on('error', (error: Error) => log.debug({ err: error }, 'Redis, which counts requests, cannot be reached'))
  return redis
}
