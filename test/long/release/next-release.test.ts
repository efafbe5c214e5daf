// The next release is rolled out beside this one, on a database that it migrates: a rolling deployment.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { secrets } from '../../support/auth/secrets.js'
import { checkout, inCheckout } from '../checkout.js'
import { listeningUrl, ringledger } from '../../support/ringledger.js'
import { callOf, receiver } from '../../support/receivers/receiver.js'
import { caller, localWebhooks } from '../../support/running-service.js'
import { testService } from '../../support/service.js'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Teardown } from '../../support/teardown.js'

// The release after this one: these sources with a small patch, built with the libraries that are here.
const parts = /^(bin|src|projections|workers|migrations|examples|packages|package\.json|package-lock\.json)/

/** A version of an event, a version of a projection with a column more, and a column more of the ledger. */
const patch: Array<[file: string, text: string | RegExp, instead: string]> = [
  ['src/features/assistants/events.ts', 'deactivated_at: Instant() }))', `deactivated_at: Instant() })).next(
    Type.Object({ ...ids, deactivated_at: Instant(), by: Type.String() }), (data) => ({ ...data, by: 'nobody' }))`],
  ['src/features/assistants/model.ts', 'deactivated_at: now }', 'deactivated_at: now, by: user_id }'],
  ['projections/assistants.ts', /version: \d+/, 'version: 1000'],
  ['projections/assistants.ts', "mode: 'text',", "mode: 'text', deactivated_by: 'text',"],
  ['projections/assistants.ts', 'toRow(assistant, Number(revision))',
    "{ ...toRow(assistant, Number(revision)), deactivated_by: 'by' in event.data ? event.data.by : null }"]
]
const migration = 'ALTER TABLE ledger.api_key_uses ADD COLUMN used_from text;\n'

/** @returns the program, in a folder that is removed in `t.teardown` */
async function nextRelease (t: Teardown): Promise<string> {
  const folder = checkout(t, (file) => parts.test(file) && !file.includes('/test/'))
  for (const [file, text, instead] of patch) {
    const source = readFileSync(join(folder, file), 'utf8')
    const patched = source.replace(text, () => instead)
    if (patched === source) throw new Error(`${file} has no ${text}: make the patch of the next release anew`)
    writeFileSync(join(folder, file), patched)
  }
  writeFileSync(join(folder, 'migrations/900_next_release.sql'), migration)
  await inCheckout(folder, 'node bin/build.js')
  return join(folder, 'bin/ringledger.js')
}

const service = await testService(t, ['api'], localWebhooks)
const consumers = await service.start(['projector', 'worker'])
const { urls: { databaseUrl, eventStoreUrl }, parts: { pool } } = service
const program = await nextRelease(t)
const backEnds = { DATABASE_URL: databaseUrl, EVENTSTORE_URL: eventStoreUrl }
const env = { ...secrets, ...localWebhooks, ...backEnds, PORT: '0', LOG_LEVEL: 'warn' }
const next = (...args: string[]) => ringledger(t, [], env, [program, ...args])

const generations = async () => (await pool.query<{ state: string, code_version: number }>(
  "SELECT state, code_version FROM ledger.generations WHERE projection = 'assistants' ORDER BY generation")).rows
const dispatchers = async () => (await pool.query<{ holder: string }>(
  "SELECT holder FROM ledger.leases WHERE name = 'dispatcher' AND expires_at > now()")).rows.map(({ holder }) => holder)
const [holder] = await eventually(async () => {
  const found = await dispatchers()
  return found.length === 1 && found
})

t.equal((await next('migrate').ended).code, 0, 'the next release adds a column while this one runs')
await pool.query('SELECT used_from FROM ledger.api_key_uses')

t.test('it builds its version of a projection while readers see this one', async (t) => {
  const replay = next('projections', 'replay', 'assistants')
  await eventually(async () => (await generations()).some(({ state }) => state === 'ready'))
  t.match(await generations(), [{ state: 'active', code_version: assistants.version }, { state: 'ready', code_version: 1000 }])
  replay.signal('SIGINT')
  await replay.ended
})

const running = next('start')
const nextUrl = await running.says(listeningUrl)
const hook = await receiver(t)
const calls = { 'the next one': caller(nextUrl), 'this one': caller(service.url) }
const others = { 'the next one': calls['this one'], 'this one': calls['the next one'] }
const token = await service.token('1')
const engine = await service.token('engine', 'engine')
const made: number[] = []
const arrived = async (callId: string) => {
  await eventually(async () => hook.received.some((received) => callOf(received) === callId))
  return hook.received.filter((received) => callOf(received) === callId).length
}

t.test('its projector swaps that in', async (t) => {
  await eventually(async () => (await generations()).some(({ state }) => state === 'retained'))
  t.match(await generations(), [{ state: 'retained', code_version: assistants.version }, { state: 'active', code_version: 1000 }])
})

for (const [name, call] of Object.entries(calls) as [keyof typeof calls, typeof calls['this one']][]) {
  t.test(`what ${name} writes, the other one reads and changes`, async (t) => {
    const body = newAssistant({ is_webhook_active: true, webhook_url: hook.url })
    const created = await call('POST', '/user/assistant', { token, body })
    t.equal(created.status, 201, JSON.stringify(created.body))
    t.equal(created.headers.get('x-read-model'), null, 'and the read model had it')
    const { id } = created.body.data
    made.push(id)
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
    const body = callReport(made.at(-1) ?? 0)
    const answer = await call('POST', `/engine/calls/${callId}/completed`, { token: engine, body })
    t.equal(answer.status, 202, JSON.stringify(answer.body))
    t.equal(await arrived(callId), 1)
  })
}

t.test('this one dispatched these calls; when its consumers end, the next one goes on', async (t) => {
  t.same(await dispatchers(), [holder])
  await consumers.stop()
  const callId = randomUUID()
  const body = callReport(made[0] ?? 0)
  await calls['this one']('POST', `/engine/calls/${callId}/completed`, { token: engine, body })
  t.equal(await arrived(callId), 1)
})

t.test('then the next one writes its version of an event, which both show', async (t) => {
  const path = `/user/assistant/${made[0]}`
  const changed = await calls['the next one']('PUT', path, { token, body: { status: 'inactive' } })
  t.equal(changed.status, 200, JSON.stringify(changed.body))
  const headers = { 'x-read-position': changed.headers.get('x-read-position') ?? '' }
  for (const call of Object.values(calls)) {
    t.match((await call('GET', path, { token, headers })).body, { data: { status: 'inactive' } })
  }
  const { rows } = await pool.query('SELECT deactivated_by FROM read_model.assistants WHERE id = $1', [made[0]])
  t.same(rows, [{ deactivated_by: '1' }])
  const refused = await calls['this one']('PUT', path, { token, body: { assistant_name: 'by one that cannot read it' } })
  t.equal(refused.status, 500, 'this one cannot fold it, and writes nothing')
  t.equal((await calls['the next one']('PUT', path, { token, body: { assistant_name: 'by one that can' } })).status, 200)
  t.same((await pool.query('SELECT consumer, stream, error FROM ledger.parked_events')).rows, [], 'nothing is parked')
})
