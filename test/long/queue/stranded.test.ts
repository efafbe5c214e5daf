// Connections that die without a word, as in a fail-over: nothing passes on those that there are, new ones are fine.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { startWorkers, type WorkerDeps } from '../../../workers/start.js'
import { tcpProxy, type TcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { onEachQueue, type ScratchRedis } from '../../support/back-ends/redis.js'
import { assistantCreated, callCompleted } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { keptGuard, workerSite } from '../../support/workers/worker-site.js'

const deliveredWithinMs = 30_000
const calls = 300
type BackEnd = 'Redis' | 'Postgres'

onEachQueue(t, {
  async 'all is delivered though connections die without a word' (t, redis) {
    const cases: BackEnd[][] = redis ? [['Postgres'], ['Redis'], ['Redis', 'Postgres']] : [['Postgres']]
    for (const stranded of cases) await t.test(`to ${stranded.join(' and ')}`, (t) => survives(t, redis, stranded))
  }
})

/** Of two workers the one that has the leases loses its connections in the middle of its work. */
async function survives (t: Test, redis: ScratchRedis | undefined, stranded: BackEnd[]): Promise<void> {
  const { deps, tell } = await workerSite(t, { reconcileEveryMs: 10_000, redisUrl: redis?.url })
  const proxies = new Map<BackEnd, TcpProxy>([['Postgres', await tcpProxy(t, portOf(deps.databaseUrl))]])
  if (redis) proxies.set('Redis', await tcpProxy(t, portOf(redis.url)))
  const cutOff = startWorkers(behind(t, deps, proxies))
  t.teardown(() => cutOff.stop())
  await cutOff.ready
  await eventually(async () => (await holders(deps)).join() === 'cut off')
  const healthy = startWorkers({ ...deps, holder: 'healthy' })
  t.teardown(() => healthy.stop())
  await healthy.ready

  const hook = await receiver(t)
  await tell(assistantCreated(1, { is_webhook_active: true, webhook_url: hook.url }))
  const ids = Array.from({ length: calls }, () => randomUUID())
  for (const id of ids) {
    await tell(callCompleted(id))
    if (id === ids[calls / 3]) for (const name of stranded) proxies.get(name)?.strand()
  }
  const delivered = async () => (await deps.pool.query("SELECT FROM ledger.webhook_deliveries WHERE status = 'delivered'")).rowCount
  await eventually(async () => await delivered() === calls, deliveredWithinMs)
  const ofCalls = new Set(hook.received.map(({ headers }) => headers['webhook-id']))
  t.equal(ofCalls.size, calls, `${hook.received.length} requests`)
}

const portOf = (url: string) => Number(new URL(url).port)

const holders = async ({ pool }: WorkerDeps) => (await pool.query<{ holder: string }>(
  'SELECT DISTINCT holder FROM ledger.leases WHERE expires_at > clock_timestamp()')).rows.map(({ holder }) => holder)

/** What a worker needs that reaches its back ends through proxies. */
function behind (t: Test, deps: WorkerDeps, proxies: Map<BackEnd, TcpProxy>): WorkerDeps {
  const portOf = (name: BackEnd) => String(proxies.get(name)?.port)
  const through = (name: BackEnd, url: string) => Object.assign(new URL(url), { port: portOf(name) }).href
  const databaseUrl = through('Postgres', deps.databaseUrl)
  const open = (answerWithinMs: number) => {
    const options = { applicationName: 'cut off', onError: () => {}, stalledAfterMs: 3_000, answerWithinMs }
    const pool = openPool(databaseUrl, options)
    t.teardown(() => pool.end())
    return pool
  }
  const [pool, consumerPool] = [open(5_000), open(10_000)]
  return {
    ...deps,
    databaseUrl,
    pool,
    consumerPool,
    redisUrl: deps.redisUrl && through('Redis', deps.redisUrl),
    logGuard: keptGuard(t, { ...deps, pool }),
    holder: 'cut off'
  }
}
