// Postgres refuses, hangs, dies between two steps: what callers are told, and that it is over by itself.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { eventsAfter, idOf } from '../../support/back-ends/scratch-event-store.js'
import { behindProxies, isBack, saysAway, testService } from '../../support/service.js'

const service = await testService(t, [])
const { client, parts: { streams } } = service
const { call, postgres, store } = await behindProxies(t, service, ['api', 'projector'])
const engine = await service.token('engine', 'engine')
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

const create = (key?: string) =>
  call('POST', '/user/assistant', { body: newAssistant(), ...(key !== undefined && keyed(key)) })
await isBack(create, 201)
const assistant: number = (await create()).body.data.id

const everything = () => [
  create(), create(randomUUID()), call('PUT', `/user/assistant/${assistant}`, { body: { speech_speed: 1.1 } }),
  call('POST', '/user/lead', { body: newLead() }), call('GET', '/user/assistants'),
  call('GET', `/user/assistant/${assistant}`), call('GET', '/user/leads'), call('GET', '/user/campaigns')
]

/** What needs no Postgres is answered as ever, and a body that the schema refuses is refused with what is known. */
async function goesOn (t: Test): Promise<void> {
  const [reported, assistantRefused, leadRefused, updateRefused] = await Promise.all([
    call('POST', `/engine/calls/${randomUUID()}/completed`, { token: engine, body: callReport(assistant) }),
    call('POST', '/user/assistant', { body: newAssistant({ assistant_name: 5 }) }),
    call('POST', '/user/lead', { body: newLead({ phone_number: '5' }) }),
    call('PUT', `/user/assistant/${assistant}`, { body: { speech_speed: 9 } })
  ])
  t.equal(reported.status, 202)
  t.match(assistantRefused, { status: 422, body: { errors: { assistant_name: ['must be a string'] } } })
  t.match(leadRefused, { status: 422, body: { errors: { phone_number: [/E\.164/] } } })
  t.match(updateRefused, { status: 422, body: { errors: { speech_speed: ['must be between 0.7 and 1.2'] } } })
}

/** Reports of calls go on, with the keys that they are sealed under. */
const ofUsers = async (since: bigint) =>
  (await eventsAfter(client, since)).filter(({ type }) => !['CallCompleted', 'PersonKeyCreated'].includes(type))

for (const [manner, away, back] of [
  ['refuses', () => postgres.close(), () => postgres.accept()],
  ['hangs', () => postgres.freeze(), () => postgres.cut()]
] as const) {
  t.test(`while it ${manner}, requests fail and write nothing; then it is over`, async (t) => {
    const before = await streams.head()
    await away()
    await Promise.all([saysAway(t, everything()), goesOn(t)])
    t.strictSame(await ofUsers(before), [])
    await back()
    await isBack(create, 201)
  })
}

t.test('when connections die silently and new ones are fine, each costs one request and no more', async (t) => {
  const stranded = postgres.strand()
  const failed: number[] = []
  await isBack(async () => {
    const answer = await create() // other work of the service may hold the dead connections
    if (answer.status !== 201) failed.push(answer.status)
    return answer
  }, 201)
  t.ok(failed.every((status) => status === 503), failed.join())
  t.ok(failed.length <= stranded, `${failed.length} requests failed, and ${stranded} connections were stranded`)
  postgres.cut()
})

t.test('a command whose append stands is answered though Postgres has died since, and its key keeps it', async (t) => {
  const key = randomUUID()
  await create() // the event store was heard of a moment ago
  const before = await streams.head()
  store.loseAnswersAfter('AssistantCreated')
  const creating = create(key)
  await eventually(async () => (await ofUsers(before)).length === 1)
  await postgres.close()
  store.cut() // it is followed up
  const { status, headers, body } = await creating
  t.equal(status, 201)
  t.equal(headers.get('x-read-model'), 'pending')
  t.strictSame((await ofUsers(before)).map(idOf), [body.data?.id])
  await postgres.accept()
  // as if 10 s had passed
  await service.parts.pool.query('UPDATE ledger.idempotency_keys SET leased_until = now() WHERE key = $1', [key])
  const again = await eventually(async () => {
    const answer = await create(key)
    return answer.status !== 503 && answer
  })
  t.strictSame(again && again.body, body)
  t.equal((await ofUsers(before)).length, 1, 'one event')
})
