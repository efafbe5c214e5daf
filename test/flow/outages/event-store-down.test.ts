// The event store refuses, hangs, loses answers: what callers are told, and that it is over by itself.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import type { Call } from '../../support/running-service.js'
import { apiProcess, behindProxies, isBack, saysAway, testService } from '../../support/service.js'
import { eventsAfter, idOf } from '../../support/back-ends/scratch-event-store.js'

const service = await testService(t, [])
const { client, parts: { streams, pool } } = service
const { call, store } = await behindProxies(t, service, ['api', 'projector'])
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

/** Probes take the process out of the load balancer. */
const isNotReady = () => eventually(async () => (await call('GET', '/health/ready')).status === 503)

async function goesOn (t: Test): Promise<void> {
  const paths = [
    'assistants', `assistant/${assistant}`, 'leads', `lead/${lead}`, 'calls', 'assistants/voices', 'campaigns',
    'phone-numbers', 'blacklist', 'webhook-secret', `assistant/${assistant}/history`
  ]
  for (const path of paths) t.equal((await call('GET', `/user/${path}`)).status, 200, `GET /user/${path}`)
  const refused = [
    ['/user/assistant', newAssistant({ assistant_name: 5 }), 'assistant_name'],
    ['/user/assistant', newAssistant({ is_webhook_active: true }), 'webhook_url'],
    ['/user/lead', newLead({ phone_number: '5' }), 'phone_number']
  ] as const
  for (const [path, body, field] of refused) {
    const answer = await call('POST', path, { body })
    t.equal(answer.status, 422, `POST ${path} with a wrong ${field}`)
    t.strictSame(Object.keys(answer.body.errors ?? {}), [field])
  }
}

t.test('while it refuses, commands fail and write nothing; the rest goes on; then it is over', async (t) => {
  const before = await streams.head()
  await store.close()
  await Promise.all([saysAway(t, [...creations(), ...needTheStore()]), isNotReady()])
  await goesOn(t)
  t.equal((await report(callReport(assistant, { status: 'odd' }))).status, 422, 'a report that the schema refuses')
  t.equal(await streams.head(), before)
  t.strictSame((await pool.query('SELECT key FROM ledger.idempotency_keys')).rows, [], 'no key is taken')
  await store.accept()
  await isBack(update, 200)
})

t.test('while it hangs, nobody hangs with it, and what was never sent is surely not written', async (t) => {
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
  await isBack(update, 200)
})

t.test('an append whose answer never came is a failure of unknown outcome, which the same key resolves', async (t) => {
  const { call, store } = await behindProxies(t, service)
  const create = () => call('POST', '/user/assistant', { body: newAssistant(), ...keyed('unknown') })
  // projections are back one by one after the outage before, and ids are given out once all are
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

// The key of a person comes before the event that is sealed under it, in an append of its own.
t.test('while it is not known whether there is a key, nothing was changed: no event under it was sent', async (t) => {
  const { call, store } = await behindProxies(t, service)
  await eventually(async () => (await call('GET', '/health/ready')).status === 200)
  const before = await streams.head()
  const create = () => call('POST', '/user/lead', { body: newLead({ phone_number: '+15551230402' }) })
  const written = async (wanted: string) =>
    (await eventsAfter(client, before)).filter(({ type }) => type === wanted).length
  store.loseAnswersAfter('PersonKeyCreated')
  const unanswered = create()
  await eventually(async () => await written('PersonKeyCreated') === 1)
  await saysAway(t, [unanswered])
  t.equal(await written('LeadCreated'), 0)
  store.cut()
  await eventually(async () => (await create()).status === 200)
  t.equal(await written('LeadCreated'), 1)
  t.equal(await written('PersonKeyCreated'), 1, 'the key is there, and taken')
})

t.test('a commit whose answer never came is a failure of unknown outcome, which the same key resolves', async (t) => {
  const { call, postgres } = await behindProxies(t, service)
  const rotate = () => call('POST', '/user/webhook-secret/rotate', { body: {}, headers: { 'idempotency-key': 'one' } })
  const { data: first } = (await call('GET', '/user/webhook-secret')).body
  postgres.loseAnswersAfter('COMMIT')
  const unknown = await rotate()
  t.match(unknown, { status: 500, body: { message: 'Rotating the secret failed' } })
  t.notOk(unknown.headers.has('retry-after'))
  postgres.cut()
  await isBack(rotate, 200)
  const resolved = await rotate()
  t.equal(resolved.headers.get('idempotent-replayed'), 'true')
  t.match(resolved.body, { data: { previous: { secret: first.secret } } }, 'it was rotated once')
  t.strictSame((await call('GET', '/user/webhook-secret')).body, resolved.body)
})

t.test('a process that is killed before its append did nothing, and a retry with the key takes the id that was kept', async (t) => {
  const proxy = await tcpProxy(t, service.store.port)
  const doomed = await apiProcess(t, service, { EVENTSTORE_URL: `esdb://127.0.0.1:${proxy.port}?tls=false` })
  const create = (by: Call) => by('POST', '/user/assistant', { body: newAssistant(), ...keyed('killed') })
  // so it has ids, and its next command goes straight to the event store
  await eventually(async () => (await doomed.call('POST', '/user/assistant', { body: newAssistant() })).status === 201)
  const before = await streams.head()
  proxy.freeze()
  const ended = create(doomed.call).then(() => 'answered', () => 'cut off')
  const { ids: [kept] } = await eventually(async () =>
    (await pool.query("SELECT ids FROM ledger.idempotency_keys WHERE key = 'killed'")).rows[0] ?? false)
  await doomed.kill()
  t.strictSame([await ended, await streams.head()], ['cut off', before])
  await pool.query("UPDATE ledger.idempotency_keys SET leased_until = '-infinity' WHERE key = 'killed'")
  const first = await create(call)
  t.strictSame([first.status, first.headers.get('idempotent-replayed'), first.body.data.id], [201, null, Number(kept)])
  const again = await create(call)
  t.strictSame([again.headers.get('idempotent-replayed'), again.body], ['true', first.body])
  t.strictSame((await eventsAfter(client, before)).map(idOf), [Number(kept)], 'one event')
})
