// A back end that never answers keeps no role that is asked to stop, even while an attempt of a webhook hangs.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { dataDir, ringledger, type Environment, listeningUrl } from '../../support/ringledger.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { serveLog, scratchPostgres } from '../../support/back-ends/back-ends.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { caller, localWebhooks, token } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'

/** The promise is 5 s; the machine of the tests has other work, too. An attempt that hangs would have 15. */
const endsWithinMs = 8_000

const { url: postgresUrl } = await scratchPostgres(t, 'service')
const store = await serveLog({ databaseUrl: postgresUrl })
t.teardown(store.close)
const pool = openPool(postgresUrl, { applicationName: 'test', onError: () => {} })
t.teardown(() => pool.end())
const postgres = new URL(postgresUrl)
const proxy = await tcpProxy(t, Number(postgres.port))
const env = {
  ...secrets,
  ...localWebhooks,
  DATABASE_URL: Object.assign(postgres, { port: String(proxy.port) }).href,
  EVENTSTORE_URL: store.url,
  DATA_DIR: dataDir(t),
  PORT: '0',
  LOG_LEVEL: 'silent'
}

async function start (t: Test, role: string, more: Environment = {}) {
  const process = ringledger(t, [role], { ...env, ...more })
  const url = await process.says(listeningUrl)
  return { role, process, url }
}

/** A worker has begun an attempt by then, at a receiver that never answers. @returns the assistant */
async function underWay (t: Test, apiUrl: string): Promise<number> {
  const call = caller(apiUrl)
  const [user, engine] = [await token(secrets.JWT_SECRET, '1'), await token(secrets.JWT_SECRET, 'engine', 'engine')]
  const hook = await receiver(t, () => {})
  const body = newAssistant({ is_webhook_active: true, webhook_url: hook.url })
  const { body: created } = await call('POST', '/user/assistant', { token: user, body })
  const report = callReport(created.data?.id ?? 0)
  await call('POST', `/engine/calls/${randomUUID()}/completed`, { token: engine, body: report })
  await eventually(() => hook.received.length === 1)
  return created.data?.id ?? 0
}

async function endsInTime (t: Test, { role, process }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const askedAt = performance.now()
  process.signal('SIGTERM')
  const { code } = await process.ended
  const tookMs = performance.now() - askedAt
  t.equal(code, 0, `${role}: ${process.stderr()}`)
  t.ok(tookMs < endsWithinMs, `${role} took ${Math.round(tookMs)} ms`)
}

t.test('with a frozen Redis a worker is not ready, and hands over an attempt that hangs', { skip: noRedis() }, async (t) => {
  const redis = new URL((await scratchRedis(t)).url)
  const redisProxy = await tcpProxy(t, Number(redis.port))
  const REDIS_URL = Object.assign(redis, { port: String(redisProxy.port) }).href
  const roles = await Promise.all(['api', 'projector', 'worker'].map((role) => start(t, role, { REDIS_URL })))
  const [api, , worker] = roles.map(({ url }) => url)
  const assistant = await underWay(t, api ?? '')
  const readiness = async () => (await fetch(`${worker}/health/ready`)).status
  await eventually(async () => await readiness() === 200)
  redisProxy.freeze()
  await eventually(async () => await readiness() === 503, 5_000)
  await Promise.all(roles.map((role) => endsInTime(t, role)))
  const { rows } = await pool.query(`
    SELECT status, tried.outcome, error FROM ledger.webhook_attempts tried JOIN ledger.webhook_deliveries ON id = delivery_id
    WHERE assistant_id = $1`, [assistant])
  t.strictSame(rows, [{ status: 'scheduled', outcome: 'unknown', error: 'handed over while this worker stopped' }])
})

t.test('a role ends in time and with status 0 though no connection to Postgres answers', async (t) => {
  const roles = await Promise.all(['api', 'projector', 'worker'].map((role) => start(t, role)))
  await underWay(t, roles[0]?.url ?? '')
  proxy.freeze()
  await Promise.all(roles.map((role) => endsInTime(t, role)))
})
