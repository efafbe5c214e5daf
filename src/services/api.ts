// The api role: HTTP on top of commands, read models and the delivery log.
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { forgetRevoked } from '../../projections/keys.js'
import { redisTeller } from '../../workers/queue/redis-trouble.js'
import { buildApp } from '../app.js'
import { assistantOwners, pastAssistants } from '../commands/assistants.js'
import { Idempotency } from '../commands/idempotency.js'
import { PhoneClaims } from '../commands/phone-numbers.js'
import type { App } from '../http/app-types.js'
import { commandRoutes, ledgerRoutes } from '../http/command-route.js'
import { opsServices } from '../ops/services.js'
import { openCommands } from './commands.js'
import { openActions } from './actions.js'
import type { ApiServices, Services } from './services.js'
import type { Status } from './status.js'

/** Interval of removing expired idempotency keys. */
const sweepEveryMs = 10 * 60_000

export async function startApi (services: Services, status: Status): Promise<App> {
  const { config, credentials, pool, keys, phoneHash, streams, positions, urls: { redisUrl }, log } = services
  const { handle: commands, ids, blacklists } = await openCommands(services, config.streamCacheBytes)
  const idempotency = new Idempotency(pool, keys)
  const routes: ApiServices = {
    ...services,
    blacklists,
    handle: commandRoutes({ idempotency, commands, ids, positions }),
    handleLedger: ledgerRoutes(idempotency),
    assistantAt: pastAssistants(streams),
    ownerOf: assistantOwners(streams),
    phoneClaims: new PhoneClaims(commands, phoneHash)
  }
  const actions = openActions(services)
  const redis = redisUrl === undefined ? undefined : connectForCounts(redisUrl, log)
  const app = await buildApp({
    ...status,
    healthChecks: { ...status.healthChecks, ids: () => positions.assertCaughtUp() },
    logger: log,
    leaving: services.leaving,
    basePath: config.basePath,
    publicUrl: config.publicUrl,
    jwt: config.jwt,
    credentials,
    corsOrigins: config.corsOrigins,
    rateLimit: { perMinute: config.rateLimitPerMinute, redis },
    ops: opsServices(services, actions.start, async () => {
      const { findIn } = await import('../cli/doctor/doctor.js') // only this route needs it
      return await findIn(config, services.urls)
    }),
    routes
  })
  const sweep = () => Promise.all([idempotency.removeExpired(), forgetRevoked(pool)]).catch((error: unknown) => {
    log.warn({ err: error }, 'expired idempotency keys were not removed')
  })
  const sweeping = setInterval(() => void sweep(), sweepEveryMs)
  app.addHook('onClose', async () => {
    clearInterval(sweeping)
    redis?.disconnect()
    await actions.stop()
  })
  return app
}

/** How long a request waits for its count, in milliseconds. */
const countWithinMs = 250

/** Connects to Redis for the rate limit. Fails a count at once while Redis is down or frozen, so no request waits. */
function connectForCounts (redisUrl: string, log: Logger): Redis {
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: countWithinMs,
    socketTimeout: countWithinMs, // a frozen connection is closed, so that only the first request waits
    retryStrategy: (times) => Math.min(times * 200, 2_000)
  })
  const teller = redisTeller(redisUrl, log)
  redis.on('error', teller.away)
  redis.on('ready', () => teller.there())
  return redis
}
