// Redis, which holds the queue: nothing may be evicted from it.
import { Redis } from 'ioredis'
import { troubleIn, whyAway, type Trouble } from '../../../workers/queue/back-ends/redis-trouble.js'
import { problem, runIfReachable, warning, type Check, type Finding } from './check.js'
import { placeOf } from '../../log/client-url.js'

const connectWithinMs = 2_500

export async function checkRedis (url: string): Promise<Finding[]> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: connectWithinMs, retryStrategy: () => null })
  let reason: Error | undefined
  redis.on('error', (error) => { reason = error })
  let info = ''
  try {
    return await runIfReachable('Redis', ['reachable', async () => {
      const trouble = await redis.connect().then(async () => { await redis.select(redis.options.db ?? 0) })
        .catch((error: unknown) => whyAway(url, reason ?? error))
      if (trouble) return problem(trouble.found, trouble.mend)
      info = await redis.info()
      return placeOf(url)
    }], () => checksOf(info), 'Check that it runs, and that REDIS_URL and its password are right.')
  } finally {
    redis.disconnect()
  }
}

const fieldsOf = (text: string): Record<string, string> => Object.fromEntries(text.split('\r\n')
  .filter((line) => /^\w+:/.test(line)).map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))

function checksOf (info: string): Check[] {
  const { redis_version: version, role, loading, aof_enabled: aof, ...others } = fieldsOf(info)
  const trouble = troubleIn(info)
  const found = (what: Trouble | undefined, well = '') => async () => what ? problem(what.found, what.mend) : well
  return [
    ['version', found(trouble.version, version)],
    ['maxmemory-policy', found(trouble.policy, 'noeviction')],
    ['role', async () => role === 'master'
      ? role
      : problem(`${role}: it takes no writes`, 'Set REDIS_URL to the primary.')],
    ['persistence', async () => {
      if (loading === '1') return problem('it still reads its data', 'Wait until it has.')
      if (others.rdb_last_bgsave_status === 'err' || others.aof_last_write_status === 'err') {
        return warning('its last write to disk failed, and it may refuse writes', 'See its log, and whether its disk is full.')
      }
      return aof === '1' ? 'append-only file' : 'none or snapshots; the delivery log refills the queue'
    }]
  ]
}
