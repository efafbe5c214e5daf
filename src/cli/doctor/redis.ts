// Redis, which holds the queue: nothing may be evicted from it.
import { Redis } from 'ioredis'
import { placeOf, problem, runIfReachable, warning, type Check, type Finding } from './check.js'

const connectWithinMs = 2_500
/** BullMQ works from this one on. */
const oldest = [6, 2] as const

export async function checkRedis (url: string): Promise<Finding[]> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: connectWithinMs, retryStrategy: () => null })
  let reason: Error | undefined
  redis.on('error', (error) => { reason = error })
  let info: Record<string, string> = {}
  try {
    return await runIfReachable('Redis', ['reachable', async () => {
      await redis.connect().catch((error: unknown) => { throw reason ?? error })
      info = fieldsOf(await redis.info())
      return placeOf(url)
    }], () => checksOf(info), 'Check that it runs, and that REDIS_URL and its password are right.')
  } finally {
    redis.disconnect()
  }
}

const fieldsOf = (text: string): Record<string, string> => Object.fromEntries(text.split('\r\n')
  .filter((line) => /^\w+:/.test(line)).map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))

function checksOf (info: Record<string, string>): Check[] {
  const { redis_version: version = '', maxmemory_policy: policy = '', role, loading, aof_enabled: aof } = info
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1])
  return [
    ['version', async () => isOld ? problem(version, `Run Redis ${oldest.join('.')} or later.`) : version],
    ['maxmemory-policy', async () => policy === 'noeviction'
      ? policy
      : problem(`${policy}: jobs vanish when memory is short`, 'Set maxmemory-policy to noeviction.')],
    ['role', async () => role === 'master'
      ? role
      : problem(`${role}: it takes no writes`, 'Set REDIS_URL to the primary.')],
    ['persistence', async () => {
      if (loading === '1') return problem('it still reads its data', 'Wait until it has.')
      if (info.rdb_last_bgsave_status === 'err' || info.aof_last_write_status === 'err') {
        return warning('its last write to disk failed, and it may refuse writes', 'See its log, and whether its disk is full.')
      }
      return aof === '1' ? 'append-only file' : 'none or snapshots; the delivery log refills the queue'
    }]
  ]
}
