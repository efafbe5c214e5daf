// Connects to the Redis that counts requests for the rate limit.
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { redisTeller } from '../../../workers/queue/back-ends/redis-trouble.js'

/** A request waits no longer for its count, in milliseconds. */
const countWithinMs = 250

/** No request waits for a Redis that is down or frozen: a count that is not answered at once fails. */
export function connectForCounts (redisUrl: string, log: Logger): Redis {
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: countWithinMs,
    socketTimeout: countWithinMs, // closes a frozen connection, so that only the first request waits for it
    retryStrategy: (times) => Math.min(times * 200, 2_000)
  })
  const teller = redisTeller(redisUrl, log)
  redis.on('error', teller.away)
  redis.on('ready', () => teller.there())
  return redis
}
