// An outcome that cannot be written for a while is kept, and written later.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { startWorkers } from '../../../workers/start.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { assistantCreated, callCompleted } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { workerSite } from '../../support/workers/worker-site.js'

/** Longer than an attempt may last, and than until a silent worker counts as dead. */
const awayMs = 25_000

t.test('Postgres is away for longer than an attempt may last: a 2xx is recorded, and not sent again', async (t) => {
  const { deps, tell } = await workerSite(t, {
    reconcileEveryMs: 1_000,
    graceMs: 1_000,
    webhook: { schedule: [0, 100], timeoutMs: 1_500, allowHttp: true, allowCidrs: ['127.0.0.0/8'], retentionDays: 90 }
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

  const leases = async () => (await deps.pool.query('SELECT FROM ledger.leases WHERE expires_at > clock_timestamp()')).rowCount ?? 0
  const outcomes = async () => (await deps.pool.query('SELECT outcome FROM ledger.webhook_attempts')).rows
  const backAt = Date.now() + awayMs
  await eventually(async () => Date.now() > backAt && await leases() === 0, awayMs + 20_000)
  await proxy.accept()
  await eventually(async () => (await outcomes()).length === 1, 20_000)
  await eventually(async () => await leases() > 0, 20_000) // the queue answers again, though no job has come
  const reconciledAt = Date.now() + 2_500 // the time of two passes
  await eventually(() => Date.now() > reconciledAt, 10_000)
  t.same(await outcomes(), [{ outcome: 'delivered' }], 'no second attempt')
  t.equal(hook.received.length, 1)
})
