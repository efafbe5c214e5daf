// Two workers, each a process of its own, which tests kill and start again.
import type { ScratchRedis } from '../back-ends/redis.js'
import { secrets } from '../auth/secrets.js'
import { roleProcess } from '../processes/role-process.js'
import { dataDir } from '../ringledger.js'
import type { TestService } from '../service.js'
import type { Teardown } from '../teardown.js'

export interface KilledWorkers {
  /** Resolves when both are up. */
  start (): Promise<void>
  /** kill -9 of both. */
  kill (): Promise<void>
}

/** On the back ends of the service, with the queue in Redis where there is one. They are to be started. */
export function twoWorkers (t: Teardown, { urls }: Pick<TestService, 'urls'>, redis?: ScratchRedis): KilledWorkers {
  const env = {
    ...secrets,
    DATABASE_URL: urls.databaseUrl,
    EVENTSTORE_URL: urls.eventStoreUrl,
    DATA_DIR: dataDir(t),
    PORT: '0',
    ...(redis && { REDIS_URL: redis.url })
  }
  const workers = [roleProcess(t, 'worker', env), roleProcess(t, 'worker', env)]
  const kill = async () => { await Promise.all(workers.map((worker) => worker.kill())) }
  t.teardown(kill)
  return {
    async start () {
      for (const worker of workers) worker.start()
      await Promise.all(workers.map(({ up }) => up()))
    },
    kill
  }
}
