// The roles apart, each a process of its own, on back ends that are set: one journey, and holders that are killed.
import { Webhook } from 'standardwebhooks'
import pg from 'pg'
import pino from 'pino'
import t from 'tap'
import { startRoles } from '../../src/services/roles.js'
import { callReport, newAssistant, newLead } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { receiver } from '../support/receivers/receiver.js'
import { dataDir, ringledger, type Ringledger, listeningUrl } from '../support/ringledger.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'
import { caller, localWebhooks, token } from '../support/running-service.js'
import { secrets } from '../support/auth/secrets.js'
import { configOf } from '../support/service.js'

const { url: databaseUrl } = await scratchPostgres(t, 'service')
const back = { DATA_DIR: dataDir(t), DATABASE_URL: databaseUrl }
const eventStore = ringledger(t, ['event-store', '--port', '0'], back)
const port = await eventStore.says((stdout) => /^LISTENING (\d+)$/m.exec(stdout)?.[1])
const env = {
  ...secrets,
  ...localWebhooks,
  ...back,
  EVENTSTORE_URL: `esdb://127.0.0.1:${port}?tls=false`,
  PORT: '0',
  LOG_LEVEL: 'warn',
  READ_MODEL_WAIT_MS: '500'
}

async function start (role: string): Promise<{ url: string, process: Ringledger }> {
  const process = ringledger(t, [role], env)
  return {
    process, url: await process.says(listeningUrl)
  }
}

const [api, projector, worker] = await Promise.all([start('api'), start('projector'), start('worker')])
const call = caller(api.url)
const user = await token(secrets.JWT_SECRET, '1')
const engine = await token(secrets.JWT_SECRET, 'engine', 'engine')
const hook = await receiver(t)
const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
t.teardown(() => pool.end())
let assistant = 0

t.test('a call goes through every role, from its report to its webhook', async (t) => {
  const created = await eventually(async () => {
    const answer = await call('POST', '/user/assistant', {
      token: user, body: newAssistant({ is_webhook_active: true, webhook_url: hook.url })
    })
    return answer.headers.get('x-read-model') === null && answer
  })
  assistant = created.body.data?.id ?? 0
  const lead = await call('POST', '/user/lead', { token: user, body: newLead() })
  t.equal(lead.status, 200)
  t.equal((await call('POST', '/engine/calls/c1/completed', {
    token: engine, body: callReport(assistant, { lead_id: lead.body.data?.id })
  })).status, 202)
  await eventually(() => hook.received.length > 0)
  const { body } = await call('GET', '/user/webhook-secret', { token: user })
  const [delivery] = hook.received
  t.match(
    new Webhook(String(body.data?.secret)).verify(String(delivery?.body), delivery?.headers as Record<string, string>),
    { data: { call_id: 'c1', lead: { status: 'completed' } } }
  )
})

t.test('holders that are killed keep nobody from writing, and standbys take over', async (t) => {
  const update = async (speed: number) => await call('PUT', `/user/assistant/${assistant}`, {
    token: user, body: { speech_speed: speed }
  })
  const isOf = async (lease: string, pid = process.pid) => (await pool.query(`
    SELECT FROM ledger.leases WHERE name = $1 AND expires_at > clock_timestamp() AND holder LIKE '% ' || $2 || ' %'`, [lease, pid])).rowCount
  await eventually(async () =>
    await isOf('projection assistants g1', projector.process.pid) && await isOf('dispatcher', worker.process.pid))
  const standbys = await startRoles(['projector', 'worker'], configOf({ ...localWebhooks, ...env }), {
    databaseUrl, eventStoreUrl: env.EVENTSTORE_URL
  }, pino({ level: 'silent' }))
  t.teardown(() => standbys.stop())
  for (const owner of [projector, worker]) owner.process.signal('SIGKILL')
  const pending = await update(0.8)
  t.equal(pending.status, 200)
  t.equal(pending.headers.get('x-read-model'), 'pending')
  let speed = 0.8
  await eventually(async () =>
    (await update(speed === 0.8 ? speed = 0.9 : speed = 0.8)).headers.get('x-read-model') === null)
  await eventually(() => isOf('dispatcher'))
  t.equal((await call('POST', '/engine/calls/c2/completed', { token: engine, body: callReport(assistant) })).status, 202)
  await eventually(() => hook.received.length > 1)
  t.match(hook.received.map(({ body }) => body), [/"call_id":"c1"/, /"call_id":"c2"/], 'each is delivered once')
})

t.test('SIGTERM ends the event store with exit status 0', async (t) => {
  api.process.signal('SIGTERM')
  t.equal((await api.process.ended).code, 0)
  eventStore.signal('SIGTERM')
  t.equal((await eventStore.ended).code, 0)
  t.same(eventStore.processes(), [])
})
