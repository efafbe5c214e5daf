// A process that is asked to stop ends in time though a back end is silent.
import t, { type Test } from 'tap'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { eventually } from '../../support/eventually.js'
import { listeningUrl, dataDir, ringledger, type Environment } from '../../support/ringledger.js'
import { caller } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'
import { testService } from '../../support/service.js'

/** The promise is 5 s; the machine of the tests has other work, too. */
const endsWithinMs = 6_000

const service = await testService(t, ['projector'])

async function ends (t: Test, process: ReturnType<typeof ringledger>, withinMs: number): Promise<void> {
  const askedAt = performance.now()
  process.signal('SIGTERM')
  const { code } = await process.ended
  const ms = Math.round(performance.now() - askedAt)
  t.equal(code, 0, process.stderr())
  t.ok(ms < withinMs, `it took ${ms} ms`)
}

for (const [how, silence] of [['frozen', 'freeze'], ['gone', 'close']] as const) {
  t.test(`with Redis ${how} a worker is not ready, and ends within five seconds`, { skip: noRedis() }, async (t) => {
    const url = new URL((await scratchRedis(t)).url)
    const proxy = await tcpProxy(t, Number(url.port))
    const env = { ...common(), REDIS_URL: Object.assign(url, { port: String(proxy.port) }).href }
    const worker = await started(t, 'worker', env)
    const call = caller(listeningUrl(worker.stdout()) ?? '')
    await eventually(async () => (await call('GET', '/health/ready')).status === 200)
    await proxy[silence]()
    await eventually(async () => (await call('GET', '/health/ready')).status === 503, 5_000)
    await ends(t, worker, endsWithinMs)
  })
}

function common (): Environment {
  return {
    ...secrets,
    DATABASE_URL: service.urls.databaseUrl,
    EVENTSTORE_URL: service.urls.eventStoreUrl,
    DATA_DIR: dataDir(t),
    PORT: '0',
    LOG_LEVEL: 'silent'
  }
}

async function started (t: Test, role: string, env: Environment) {
  const process = ringledger(t, [role], env)
  await process.says(listeningUrl)
  return process
}
