// Answers of the back ends that are lost, and a process that is killed: what callers hear, and what a retry finds.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import type { Call } from '../../support/running-service.js'
import { apiProcess, behindProxies, isBack, testService } from '../../support/service.js'
import { eventsAfter, idOf } from '../../support/back-ends/scratch-event-store.js'

const service = await testService(t, [])
const { client, parts: { streams, pool } } = service
const { call, postgres, store } = await behindProxies(t, service, ['api', 'projector'])
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const create = (key?: string) =>
  call('POST', '/user/assistant', { body: newAssistant(), ...(key !== undefined && keyed(key)) })
await isBack(create, 201)
const ofUsers = async (since: bigint) => (await eventsAfter(client, since)).filter(({ type }) => type !== 'PersonKeyCreated')

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
