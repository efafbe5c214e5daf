// `ringledger <role>` under a supervisor: killed when a test says so, and started again until it listens.
import { ringledger, type Ended, type Environment, type Ringledger, dataDir } from '../ringledger.js'
import type { Teardown } from '../teardown.js'
import { listeningUrl } from '../processes/role-log.js'
import type { ScratchRedis } from '../back-ends/redis.js'
import { secrets } from '../auth/secrets.js'
import type { TestService } from '../service.js'

export interface RoleProcess {
  role: string
  /** Where it listens, or listened last. */
  url (): string
  /** Starts it, again and again while a back end is away. Nothing waits for it, so that it can be killed meanwhile. */
  start (): void
  /** Resolves when it listens; rejects when it has not come that far within two minutes. */
  up (): Promise<void>
  /** kill -9 of its whole process group, also while it starts. */
  kill (): Promise<void>
  /** The last output each time that it ended by itself after it had listened. */
  deaths: string[]
  /** The last of its output. */
  words (): string
}

const startWithinMs = 120_000

export function roleProcess (t: Teardown, role: string, env: Environment): RoleProcess {
  const deaths: string[] = []
  let run = 0
  let process: Ringledger | undefined
  let url = ''
  let listening = Promise.resolve()
  return {
    role,
    deaths,
    url: () => url,
    up: () => listening,
    words: () => process?.stdout().slice(-1_500) ?? '',
    start () {
      listening = listens(++run)
      listening.catch(() => {}) // told by `up`
    },
    async kill () {
      run++
      process?.signal('SIGKILL')
      await process?.ended
    }
  }

  async function listens (mine: number): Promise<void> {
    const deadline = Date.now() + startWithinMs
    while (mine === run) {
      const started = process = ringledger(t, [role], env)
      try {
        url = await started.says(listeningUrl)
        void started.ended.then((end) => { if (mine === run) deaths.push(`${role} ${lastOf(started, end)}`) })
        return
      } catch (error) {
        started.signal('SIGKILL')
        if (mine === run && Date.now() > deadline) throw error
      }
    }
  }
}

const lastOf = (started: Ringledger, { signal, code }: Ended) =>
  `ended with ${signal ?? code}: ${started.stdout().slice(-500)}${started.stderr().slice(-500)}`

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
