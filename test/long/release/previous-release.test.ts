// The release before this one goes on beside it, on a database that this one has migrated: a rolling deployment.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { secrets } from '../../support/auth/secrets.js'
import { listeningUrl } from '../../support/processes/role-log.js'
import { callOf, receiver } from '../../support/receivers/receiver.js'
import { buildOf, hasCommit } from '../../support/release/previous-build.js'
import { ringledger } from '../../support/ringledger.js'
import { caller, localWebhooks } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

/** What this code is rolled out over. A later one of the history takes its place at a release. */
const before = '17142bc'

if (!await hasCommit(before)) t.pass(`without the history of the repository ${before} is not tried beside this code`)
else {
  const folder = await buildOf(t, before)
  const service = await testService(t, ['api', 'projector'], localWebhooks)
  const { urls: { databaseUrl, eventStoreUrl }, parts: { pool } } = service
  const backEnds = { DATABASE_URL: databaseUrl, EVENTSTORE_URL: eventStoreUrl }
  const env = { ...secrets, ...localWebhooks, ...backEnds, PORT: '0', LOG_LEVEL: 'warn' }
  const former = ringledger(t, [], env, [join(folder, 'bin/ringledger.js'), 'start'])
  const formerUrl = await former.says(listeningUrl)
  const dispatchers = async () => (await pool.query<{ holder: string }>(
    "SELECT holder FROM ledger.leases WHERE name = 'dispatcher' AND expires_at > now()")).rows.map(({ holder }) => holder)
  const [holder] = await eventually(async () => {
    const found = await dispatchers()
    return found.length === 1 && found
  })
  await service.start(['worker'])

  const hook = await receiver(t)
  const calls = { 'the former one': caller(formerUrl), 'this one': caller(service.url) }
  const others = { 'the former one': calls['this one'], 'this one': calls['the former one'] }
  const token = await service.token('1')
  const engine = await service.token('engine', 'engine')
  const assistants: number[] = []
  const arrived = async (callId: string) => {
    await eventually(async () => hook.received.some((received) => callOf(received) === callId))
    return hook.received.filter((received) => callOf(received) === callId).length
  }

  for (const [name, call] of Object.entries(calls) as [keyof typeof calls, typeof calls['this one']][]) {
    t.test(`what ${name} writes, the other one reads and changes`, async (t) => {
      const body = newAssistant({ is_webhook_active: true, webhook_url: hook.url })
      const created = await call('POST', '/user/assistant', { token, body })
      t.equal(created.status, 201, JSON.stringify(created.body))
      t.equal(created.headers.get('x-read-model'), null, 'and the read model had it')
      const { id } = created.body.data
      assistants.push(id)
      const changed = await others[name]('PUT', `/user/assistant/${id}`, { token, body: { assistant_name: `by not ${name}` } })
      t.equal(changed.status, 200, JSON.stringify(changed.body))
      const headers = { 'x-read-position': changed.headers.get('x-read-position') ?? '' }
      const read = await call('GET', `/user/assistant/${id}`, { token, headers })
      t.equal(read.body.data.settings.assistant_name, `by not ${name}`)
      const lead = await call('POST', '/user/lead', { token, body: newLead({ phone_number: `+1555987${id + 1000}` }) })
      t.equal(lead.status, 200, JSON.stringify(lead.body))
      const position = { 'x-read-position': lead.headers.get('x-read-position') ?? '' }
      const listed = await others[name]('GET', '/user/leads', { token, headers: position })
      t.ok(listed.body.data.some((each: { id: number }) => each.id === lead.body.data.id))
    })

    t.test(`a call that is reported to ${name} has one webhook`, async (t) => {
      const callId = randomUUID()
      const report = callReport(assistants.at(-1) ?? 0)
      const answer = await call('POST', `/engine/calls/${callId}/completed`, { token: engine, body: report })
      t.equal(answer.status, 202, JSON.stringify(answer.body))
      t.equal(await arrived(callId), 1)
    })
  }

  t.test('the former one dispatched these calls; when it ends, this one goes on', async (t) => {
    t.same(await dispatchers(), [holder])
    former.signal('SIGTERM')
    t.equal((await former.ended).code, 0, former.stderr())
    const callId = randomUUID()
    const [id = 0] = assistants
    await calls['this one']('POST', `/engine/calls/${callId}/completed`, { token: engine, body: callReport(id) })
    t.equal(await arrived(callId), 1)
    const { rows } = await pool.query('SELECT consumer, stream, error FROM ledger.parked_events')
    t.same(rows, [], 'neither has parked anything')
  })
}
