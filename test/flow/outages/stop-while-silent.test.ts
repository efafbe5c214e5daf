// A Postgres that never answers keeps no role that is asked to stop, even while an attempt of a webhook hangs.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { dataDir, exampleCatalog, ringledger, run } from '../../support/ringledger.js'
import { scratchPostgres } from '../../support/back-ends/scratch-postgres.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { caller, localWebhooks, token } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'
import { listeningUrl } from '../../support/processes/role-log.js'

/** In-flight work has 20 s, and what is closed then five more; the machine of the tests has other work, too. */
const endsWithinMs = 30_000

const postgres = new URL((await scratchPostgres(t)).url)
const proxy = await tcpProxy(t, Number(postgres.port))
const eventStore = ringledger(t, ['event-store', '--port', '0'], { DATA_DIR: dataDir(t) })
const port = await eventStore.says((stdout) => /^LISTENING (\d+)$/m.exec(stdout)?.[1])
const env = {
  ...secrets,
  ...localWebhooks,
  DATABASE_URL: Object.assign(postgres, { port: String(proxy.port) }).href,
  EVENTSTORE_URL: `esdb://127.0.0.1:${port}?tls=false`,
  DATA_DIR: dataDir(t),
  PORT: '0',
  LOG_LEVEL: 'silent'
}

async function start (t: Test, role: string) {
  const process = ringledger(t, [role], env)
  const url = await process.says(listeningUrl)
  return { role, process, url }
}

t.test('a role ends in time and with status 0 though no connection to Postgres answers', async (t) => {
  t.equal((await run(t, ['catalog', 'import', exampleCatalog], env)).code, 0)
  const roles = await Promise.all(['api', 'projector', 'worker'].map((role) => start(t, role)))
  const call = caller(roles[0]?.url ?? '')
  const [user, engine] = [await token(secrets.JWT_SECRET, '1'), await token(secrets.JWT_SECRET, 'engine', 'engine')]
  const hook = await receiver(t, () => {})
  const body = newAssistant({ is_webhook_active: true, webhook_url: hook.url })
  const { body: created } = await call('POST', '/user/assistant', { token: user, body })
  const report = callReport(created.data?.id ?? 0)
  await call('POST', `/engine/calls/${randomUUID()}/completed`, { token: engine, body: report })
  await eventually(() => hook.received.length === 1)
  proxy.freeze()
  const askedAt = performance.now()
  await Promise.all(roles.map(async ({ role, process }) => {
    process.signal('SIGTERM')
    const { code } = await process.ended
    const tookMs = performance.now() - askedAt
    t.equal(code, 0, `${role}: ${process.stderr()}`)
    t.ok(tookMs < endsWithinMs, `${role} took ${Math.round(tookMs)} ms`)
  }))
})
