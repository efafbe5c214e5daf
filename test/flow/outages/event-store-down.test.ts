// The event store refuses, hangs, loses answers, is killed: what callers are told, and how soon it is over.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { backAfter, behindProxies, saysAway, soonMs, timed, testService } from '../../support/service.js'
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
/** Other programs slow down an outage and what was before it alike. */
const usualMs = await backAfter(update, 200)
const within = (ms: number) => ms + 20 * usualMs
const needTheStore = () => [update(), report(callReport(assistant)), ...lacking()]

/** Probes take the process out of the load balancer soon. */
async function isNotReady (t: Test): Promise<void> {
  const beganAt = performance.now()
  await eventually(async () => (await call('GET', '/health/ready')).status === 503)
  const ms = performance.now() - beganAt
  t.ok(ms < within(3_000), `not ready after ${ms} ms`)
}

/** What needs no event store is answered as ever. */
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

t.test('while it refuses, commands fail at once and write nothing; the rest goes on; then it is over', async (t) => {
  const before = await streams.head()
  await store.close()
  await Promise.all([saysAway(t, [...creations(), ...needTheStore()], within(soonMs)), isNotReady(t)])
  await goesOn(t)
  t.equal((await report(callReport(assistant, { status: 'odd' }))).status, 422, 'a report that the schema refuses')
  t.equal(await streams.head(), before)
  t.strictSame((await pool.query('SELECT key FROM ledger.idempotency_keys')).rows, [], 'no key is taken')
  await store.accept()
  const ms = await backAfter(update, 200)
  t.ok(ms < within(5_000), `back after ${ms} ms, read model included`)
})

t.test('while it hangs, nobody hangs with it, and what was never sent is surely not written', async (t) => {
  const before = await streams.head()
  store.freeze()
  await Promise.all([
    // updates of one assistant queue up; in less than two deadlines of 5 s, one after the other
    saysAway(t, [...needTheStore(), ...Array.from({ length: 10 }, update)], within(9_000)),
    isNotReady(t),
    goesOn(t)
  ])
  await saysAway(t, creations(), within(9_000))
  t.equal(await streams.head(), before)
  store.cut()
  const ms = await backAfter(update, 200)
  t.ok(ms < within(5_000), `back after ${ms} ms, read model included`)
})

const commands = [
  {
    type: 'AssistantCreated',
    method: 'POST',
    path: '/user/assistant',
    body: newAssistant(),
    failure: 'Assistant creation failed',
    status: 201
  },
  {
    type: 'AssistantUpdated',
    method: 'PUT',
    path: `/user/assistant/${assistant}`,
    body: { assistant_name: 'Unheard' },
    failure: 'Assistant update failed',
    status: 200
  },
  {
    type: 'LeadCreated',
    method: 'POST',
    path: '/user/lead',
    body: newLead({ phone_number: '+15551230401' }),
    failure: 'Lead creation failed',
    status: 200
  }
]

t.test('an append whose answer never came is a failure of unknown outcome, which the same key resolves', async (t) => {
  await Promise.all(commands.map(async ({ type, method, path, body, failure, status }) => {
    const { call, store } = await behindProxies(t, service)
    const command = () => call(method, path, { body, ...keyed(type) })
    // projections are back one by one after the outage before, and ids are given out once all are
    await eventually(async () => (await call('GET', '/health/ready')).status === 200)
    const before = await streams.head()
    const written = async () => (await eventsAfter(client, before)).filter((event) => event.type === type)
    store.loseAnswersAfter(type)
    const unknown = timed(command())
    await eventually(async () => (await written()).length === 1)
    await store.close()
    const { status: failed, body: said, headers, ms } = await unknown
    t.equal(failed, 500, type)
    t.strictSame(said, { message: failure })
    t.notOk(headers.has('retry-after'))
    t.ok(ms < within(12_000), `after ${ms} ms`)
    t.equal((await command()).status, 503, 'while it is away, the key says nothing new')
    await store.accept()
    const resolved = await eventually(async () => {
      const answer = await command()
      return answer.status !== 503 && answer
    })
    t.equal(resolved && resolved.status, status)
    const events = await written()
    t.equal(events.length, 1, 'one event')
    t.strictSame(resolved && [resolved.body.data?.id], events.map(idOf), 'its id')
    t.equal(resolved && resolved.headers.get('idempotent-replayed'), 'true')
  }))
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
  await saysAway(t, [unanswered], 12_000)
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
  await backAfter(rotate, 200)
  const resolved = await rotate()
  t.equal(resolved.headers.get('idempotent-replayed'), 'true')
  t.match(resolved.body, { data: { previous: { secret: first.secret } } }, 'it was rotated once')
  t.strictSame((await call('GET', '/user/webhook-secret')).body, resolved.body)
})
