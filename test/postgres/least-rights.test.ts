// The service needs no more of Postgres than a database that its role owns, or may connect to and make schemas in.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { openPool } from '../../src/postgres/pool.js'
import { serveLog, scratchPostgres } from '../support/back-ends/back-ends.js'
import { callReport, newAssistant } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { answers, receiver } from '../support/receivers/receiver.js'
import { exampleCatalog, runWarm } from '../support/ringledger.js'
import { localWebhooks, startService } from '../support/running-service.js'
import { secrets } from '../support/auth/secrets.js'

t.test('a role with CONNECT, CREATE and TEMPORARY alone migrates an empty database, and runs everything on it', async (t) => {
  const env = { ...secrets, ...localWebhooks, ...await backEnds(t) }
  t.match(await runWarm(['migrate'], env), { code: 0 })
  const service = await startService(t, { env })
  t.match(await runWarm(['catalog', 'import', exampleCatalog], env), { code: 0 })
  const hook = await receiver(t, answers(204))
  const body = newAssistant({ is_webhook_active: true, webhook_url: hook.url })
  const created = await service.call('POST', '/user/assistant', { token: await service.token('1'), body })
  t.equal(created.status, 201)
  const token = await service.token('pbx', 'engine')
  const report = callReport(created.body.data.id)
  t.equal((await service.call('POST', '/engine/calls/one/completed', { token, body: report })).status, 202)
  await eventually(() => hook.received.length === 1)
  t.match(await runWarm(['projections', 'replay', 'calls'], env), { code: 0 })
})

/** A log, and an empty database that a new role may use. */
async function backEnds (t: Test): Promise<{ DATABASE_URL: string, EVENTSTORE_URL: string }> {
  const [log, { url }] = [await scratchPostgres(t), await scratchPostgres(t)]
  const store = await serveLog({ databaseUrl: log.url })
  t.teardown(store.close)
  const role = `owner_${randomUUID().slice(0, 8)}`
  const admin = openPool(url, { applicationName: 'test', onError: () => {} })
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'owner'`)
  const database = `"${new URL(url).pathname.slice(1)}"`
  await admin.query(`
    REVOKE ALL ON DATABASE ${database} FROM PUBLIC; GRANT CONNECT, CREATE, TEMPORARY ON DATABASE ${database} TO ${role}`)
  await admin.end()
  const { href } = Object.assign(new URL(url), { username: role, password: 'owner' })
  return { DATABASE_URL: href, EVENTSTORE_URL: store.url }
}
