// The event store or Postgres refuses or hangs, or the event store takes no writes: what callers and probes hear, and
// that the service goes on when it is over. A start tells of streams of ours that lose events.
import { randomUUID } from 'node:crypto'
import pino from 'pino'
import t, { type Test } from 'tap'
import { clientUrl } from '../../../src/log/client-url.js'
import { startRoles } from '../../../src/services/roles.js'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { behindProxies, isBack, saysAway, testService } from '../../support/service.js'
import { eventsAfter, idOf } from '../../support/back-ends/scratch-event-store.js'

const service = await testService(t, [])
const { client, config, parts: { streams, pool }, urls } = service
const { call, store, postgres } = await behindProxies(t, service, ['api', 'projector'])
const engine = await service.token('engine', 'engine')
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

await eventually(async () =>
  !(await call('POST', '/user/assistant', { body: newAssistant() })).headers.has('x-read-model'))
const assistant = (await call('POST', '/user/assistant', { body: newAssistant() })).body.data?.id ?? 0
const lead = (await call('POST', '/user/lead', { body: newLead() })).body.data?.id ?? 0

let speed = 0.7
const update = () =>
  call('PUT', `/user/assistant/${assistant}`, { body: { speech_speed: speed = speed === 0.7 ? 0.8 : 0.7 } })
const report = (body: object) => call('POST', `/engine/calls/${randomUUID()}/completed`, { token: engine, body })
const creations = () => [
  call('POST', '/user/assistant', { body: newAssistant() }),
  call('POST', '/user/assistant', { body: newAssistant(), ...keyed('while-away') }),
  call('POST', '/user/lead', { body: newLead({ phone_number: '+15551230400' }) })
]
/** What the read models lack may be in the log, at which nobody can look. */
const lacking = () => [
  call('POST', '/user/assistant', { body: newAssistant({ voice_id: 999 }) }),
  call('POST', '/user/lead', { body: newLead({ campaign_id: 3 }) })
]
const needTheStore = () => [update(), report(callReport(assistant)), ...lacking()]

/** Awaits the cheap probe first: each update is an event that the next answer waits for. */
async function isOver (): Promise<void> {
  await eventually(async () => (await call('GET', '/health/ready')).status === 200)
  await isBack(update, 200)
}

/** Probes take the process out of the load balancer. */
const isNotReady = () => eventually(async () => (await call('GET', '/health/ready')).status === 503)

async function goesOn (t: Test): Promise<void> {
  const paths = [`assistant/${assistant}`, 'leads', `lead/${lead}`, 'calls', 'webhook-secret', `assistant/${assistant}/history`]
  for (const path of paths) t.equal((await call('GET', `/user/${path}`)).status, 200, `GET /user/${path}`)
  const { status, body } = await call('POST', '/user/lead', { body: newLead({ phone_number: '5' }) })
  t.strictSame([status, Object.keys(body.errors)], [422, ['phone_number']])
}

t.test('while the event store refuses, commands fail and write nothing; the rest goes on; then it is over', async (t) => {
  const before = await streams.head()
  await store.close()
  await Promise.all([saysAway(t, [...creations(), ...needTheStore()]), isNotReady()])
  await goesOn(t)
  t.equal(await streams.head(), before)
  t.strictSame((await pool.query('SELECT key FROM ledger.idempotency_keys')).rows, [], 'no key is taken')
  await store.accept()
  await isOver()
})

t.test('while the event store hangs, nobody hangs with it, and what was never sent is surely not written', async (t) => {
  const before = await streams.head()
  store.freeze()
  await Promise.all([
    saysAway(t, [...needTheStore(), ...Array.from({ length: 10 }, update)]), // updates of one assistant queue up
    isNotReady(),
    goesOn(t)
  ])
  await saysAway(t, creations())
  t.equal(await streams.head(), before)
  store.cut()
  await isOver()
})

t.test('an append whose answer never came is a failure of unknown outcome, which the same key resolves', async (t) => {
  const { call, store } = await behindProxies(t, service)
  const create = () => call('POST', '/user/assistant', { body: newAssistant(), ...keyed('unknown') })
  await eventually(async () => (await call('GET', '/health/ready')).status === 200)
  const before = await streams.head()
  const written = async () => (await eventsAfter(client, before)).filter(({ type }) => type === 'AssistantCreated')
  store.loseAnswersAfter('AssistantCreated')
  const creating = create()
  await eventually(async () => (await written()).length === 1)
  await store.close()
  const unknown = await creating
  t.strictSame([unknown.status, unknown.body], [500, { message: 'Assistant creation failed' }])
  t.notOk(unknown.headers.has('retry-after'))
  t.equal((await create()).status, 503, 'while it is away, the key says nothing new')
  await store.accept()
  const resolved = await eventually(async () => {
    const answer = await create()
    return answer.status !== 503 && answer
  })
  t.strictSame([resolved.status, resolved.headers.get('idempotent-replayed')], [201, 'true'])
  t.strictSame((await written()).map(idOf), [resolved.body.data.id], 'one event, its id')
})

const everything = () => [
  ...creations(), call('PUT', `/user/assistant/${assistant}`, { body: { speech_speed: 1.1 } }),
  call('GET', '/user/assistants'),
  call('GET', `/user/assistant/${assistant}`), call('GET', '/user/leads'), call('GET', '/user/campaigns')
]

/** What needs no Postgres is answered as ever, and a body that the schema refuses is refused with what is known. */
async function goesOnWithoutPostgres (t: Test): Promise<void> {
  const [reported, refused] = await Promise.all([
    report(callReport(assistant)), call('POST', '/user/lead', { body: newLead({ phone_number: '5' }) })
  ])
  t.equal(reported.status, 202)
  t.match(refused, { status: 422, body: { errors: { phone_number: [/E\.164/] } } })
}

/** Reports of calls go on, with the keys that they are sealed under. */
const ofUsers = async (since: bigint) =>
  (await eventsAfter(client, since)).filter(({ type }) => !['CallCompleted', 'PersonKeyCreated'].includes(type))

for (const [manner, away, back] of [
  ['refuses', () => postgres.close(), () => postgres.accept()],
  ['hangs', () => postgres.freeze(), () => postgres.cut()]
] as const) {
  t.test(`while Postgres ${manner}, requests fail and write nothing; then it is over`, async (t) => {
    const before = await streams.head()
    await away()
    await Promise.all([saysAway(t, everything()), goesOnWithoutPostgres(t)])
    t.strictSame(await ofUsers(before), [])
    await back()
    await isOver()
  })
}

t.test('once an append has failed the process is not ready until one is written', async (t) => {
  const { rows: [log] } = await pool.query<{ schema: string }>(
    "SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'events'")
  const events = `${log?.schema}.events`
  const probes = async () => (await streams.read('ringledger-write-probe')).length
  await eventually(async () => (await call('GET', '/health/ready')).status === 200) // the outage before wrote its own
  const before = await probes()
  await pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON ${events} FOR EACH ROW EXECUTE FUNCTION refuse()`)
  t.ok([500, 503].includes((await call('POST', '/user/assistant', { body: newAssistant() })).status))
  await eventually(async () => (await call('GET', '/health/ready')).status === 503)
  t.equal((await call('GET', '/user/assistants')).status, 200, 'reads go on')
  await pool.query(`DROP TRIGGER refuse ON ${events}`)
  await eventually(async () => (await call('GET', '/health/ready')).status === 200)
  t.equal(await probes(), before + 1, 'one event proved it')
  t.equal((await call('POST', '/user/assistant', { body: newAssistant() })).status, 201)
})

t.test('no URL makes the client pass over an append that failed', (t) => {
  const url = clientUrl('kurrentdb://a:1,b:2?throwOnAppendFailure=false')
  t.match(url, /^esdb:\/\/a:1,b:2\?.*throwOnAppendFailure=true$/)
  t.notMatch(url, '=false')
  t.end()
})

t.test('a start says which stream of ours loses events, and how to mend it', async (t) => {
  await client.setStreamMetadata('ringledger-marker', { maxCount: 1 })
  const errors: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => { errors.push(JSON.parse(line).msg) } })
  const { stop } = await startRoles(['projector'], config, urls, log)
  await stop()
  t.strictSame(errors, [
    'The metadata of the stream ringledger-marker has $maxCount, and a scavenge takes events away for good: ' +
    'write metadata without $maxCount to $$ringledger-marker.'
  ])
})
