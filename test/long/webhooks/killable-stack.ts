// Every role and every back end as a process of its own, any of which can be killed and comes back.
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { eventStoreProcess } from '@ringledger/embedded-event-store/testing'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import type { ScratchRedis } from '../../support/back-ends/redis.js'
import { dataDir, exampleCatalog, run, type Environment } from '../../support/ringledger.js'
import { roleProcess, type RoleProcess } from '../killed-workers.js'
import { localWebhooks } from '../../support/running-service.js'
import { connect } from '../../support/back-ends/scratch-event-store.js'
import { secrets } from '../../support/auth/secrets.js'

/** With the example catalogue; all processes are up. The queue is in Redis where that is given. */
export async function killableStack (t: Test, settings: Environment, redis?: ScratchRedis) {
  const backEnds = await openBackEnds(t, redis)
  const { postgres, eventStore } = backEnds
  const env = {
    ...secrets,
    ...localWebhooks,
    DATABASE_URL: postgres.url,
    EVENTSTORE_URL: `esdb://127.0.0.1:${eventStore.port}?tls=false`,
    ...(redis && { REDIS_URL: redis.url }),
    DATA_DIR: dataDir(t),
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
    ...settings
  }
  const imported = await run(t, ['catalog', 'import', exampleCatalog], env)
  if (imported.code !== 0) throw new Error(imported.stderr)
  const open = (role: string) => roleProcess(t, role, env)
  const roles = { api: open('api'), projector: open('projector'), worker: open('worker'), other: open('worker') }
  const all = Object.values(roles)
  const pool = openPool(postgres.url, { applicationName: 'test', max: 4, onError: () => {} })
  t.teardown(() => pool.end())
  const isUp = async () => { await Promise.all(all.map(({ up }) => up())) }
  startAll(all)
  await isUp()
  const client = connect(t, env.EVENTSTORE_URL)
  return {
    api: roles.api,
    roles: all,
    /** The variables of the command line. */
    env,
    pool,
    client,
    /** Resolves when all roles listen. */
    isUp,
    ways: waysToKill(roles, backEnds, pool)
  }
}

type BackEnds = Awaited<ReturnType<typeof openBackEnds>>
type Roles = Record<'api' | 'projector' | 'worker' | 'other', RoleProcess>

async function openBackEnds (t: Test, redis: ScratchRedis | undefined) {
  const [postgres, storage] = await Promise.all([postgresCluster(t), postgresCluster(t)])
  return { postgres, storage, eventStore: await eventStoreProcess(t, storage.url), redis }
}

/** By their names: each resolves when back ends are there again and roles are on their way. */
function waysToKill (roles: Roles, backEnds: BackEnds, pool: Pool): Record<string, () => Promise<void>> {
  const { api, projector, worker, other } = roles
  const { postgres, storage, eventStore, redis } = backEnds
  return {
    'a worker': () => again(worker),
    'both workers': () => again(worker, other),
    'the projector': () => again(projector),
    'the API': () => again(api),
    async 'Postgres' () {
      await postgres.kill()
      await postgres.start()
    },
    'Postgres, restarted': () => postgres.restart(),
    async 'the event store' () {
      await eventStore.kill()
      await eventStore.start()
    },
    async 'the queue, emptied' () { await (redis ? redis.flush() : pool.query('TRUNCATE queue.job CASCADE')) },
    ...(redis && {
      async 'Redis' () {
        await redis.kill()
        await redis.start()
      }
    }),
    async 'everything' () {
      const all = Object.values(roles)
      await Promise.all([killAll(all), postgres.kill(), storage.kill(), eventStore.kill(), redis?.kill()])
      await Promise.all([postgres.start(), storage.start().then(() => eventStore.start()), redis?.start()])
      startAll(all)
    }
  }
}

async function killAll (roles: RoleProcess[]): Promise<void> {
  await Promise.all(roles.map(({ kill }) => kill()))
}

function startAll (roles: RoleProcess[]): void {
  for (const { start } of roles) start()
}

async function again (...roles: RoleProcess[]): Promise<void> {
  await killAll(roles)
  startAll(roles)
}
