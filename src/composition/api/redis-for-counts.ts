// Connects to the Redis that counts requests for the rate limit.
import { Redis } from 'ioredis'
import type { Logger } from 'pino'

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
  redis.on('error', (error: Error) => log.debug({ err: error }, 'Redis, which counts requests, cannot be reached'))
  return redis
}
