// An outcome that cannot be written for a while is kept, and written later.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { startWorkers, type WorkerDeps } from '../../../workers/start.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { assistantCreated, callCompleted } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { workerSite } from '../../support/workers/worker-site.js'

const timeoutMs = 1_500
/** Longer than an attempt may last, and than until a silent worker counts as dead. */
const awayMs = 25_000

t.test('Postgres is away for longer than an attempt may last: a 2xx is recorded, and not sent again', async (t) => {
  const site = await cutOffAfterSending(t)
  const backAt = Date.now() + awayMs
  await eventually(async () => Date.now() > backAt && (await site.leases()) === 0, awayMs + 20_000)
  await site.proxy.accept()
  await eventually(async () => (await site.outcomes()).join() === 'delivered', 20_000)
  await eventually(async () => await site.leases() > 0, 20_000) // the queue answers again, though no job has come
  await site.reconciled()
  t.same(await site.outcomes(), ['delivered'], 'no second attempt')
  t.equal(site.hook.received.length, 1)
})

t.test('a stop gives up what it cannot write', async (t) => {
  const site = await cutOffAfterSending(t)
  await site.cutOff.stop()
  t.same(await site.outcomes(), [])
  t.equal((await site.deps.pool.query('SELECT FROM ledger.webhook_due WHERE worker IS NOT NULL')).rowCount, 1,
    'another worker closes it')
})

/** A worker without Postgres, whose receiver has just answered 200. */
async function cutOffAfterSending (t: Test) {
  const { deps, tell } = await workerSite(t, {
    reconcileEveryMs: 1_000,
    graceMs: 1_000,
    webhook: { schedule: [0, 100], timeoutMs, allowHttp: true, allowCidrs: ['127.0.0.0/8'], retentionDays: 90 }
  })
  const proxy = await tcpProxy(t, Number(new URL(deps.databaseUrl).port))
  const databaseUrl = Object.assign(new URL(deps.databaseUrl), { port: String(proxy.port) }).href
  const pool = openPool(databaseUrl, { applicationName: 'cut off', onError: () => {} })
  t.teardown(() => pool.end())
  const cutOff = await startWorkers({ ...deps, databaseUrl, pool, holder: 'cut off' })
  t.teardown(() => cutOff.stop())
  const arrived: ServerResponse[] = []
  const hook = await receiver(t, (response, _, count) => count === 1 ? arrived.push(response) : response.end())
  await tell(assistantCreated(1, { is_webhook_active: true, webhook_url: hook.url }))
  await tell(callCompleted('c-1'))
  const [response] = await eventually(() => arrived.length > 0 && arrived)
  await proxy.close()
  response?.end()
  if (response) await once(response, 'finish')
  return { deps, cutOff, hook, proxy, ...looksAt(deps) }
}

function looksAt ({ pool }: WorkerDeps) {
  const count = async (sql: string) => (await pool.query<{ count: number }>(sql)).rows[0]?.count ?? 0
  return {
    outcomes: async () => (await pool.query<{ outcome: string }>(
      'SELECT outcome FROM ledger.webhook_attempts ORDER BY n')).rows.map(({ outcome }) => outcome),
    leases: () => count(
      'SELECT count(*)::integer AS count FROM ledger.leases WHERE expires_at > clock_timestamp()'),
    /** Resolves when the reconciler has had the time of two passes. */
    reconciled: async () => {
      const until = Date.now() + 2_500
      await eventually(() => Date.now() > until, 10_000)
    }
  }
}
