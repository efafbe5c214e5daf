// A process is killed before its append; a caller that retries with the same key gets one effect and one answer.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { apiProcess, testService } from '../../support/service.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { eventsAfter, idOf } from '../../support/back-ends/scratch-event-store.js'
import { caller, type Call } from '../../support/running-service.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'

const service = await testService(t, ['api', 'projector'])
const { client, parts: { pool, streams } } = service
const user = await service.token('1')
const atHome = caller(service.url)
const call: Call = (method, path, request) => atHome(method, path, { token: user, ...request })
const store = await tcpProxy(t, service.store.port)
const through = { EVENTSTORE_URL: `esdb://127.0.0.1:${store.port}?tls=false` }
const doomed = await apiProcess(t, service, through)
const assistant =
  await eventually(async () => (await call('POST', '/user/assistant', { body: newAssistant() })).body.data?.id ?? false)
const commands = {
  AssistantCreated: { method: 'POST', path: '/user/assistant', body: newAssistant(), status: 201 },
  AssistantUpdated: { method: 'PUT', path: `/user/assistant/${assistant}`, body: { assistant_name: 'Tried in vain' }, status: 200 }
}
const writtenSince = async (before: bigint, type: string) =>
  (await eventsAfter(client, before)).filter((event) => event.type === type)

t.test('killed before the append, it happens once, when it is tried again', async (t) => {
  await idsAreThere(doomed.call)
  const before = await streams.head()
  store.freeze()
  const tried = Object.entries(commands).map(([type, command]) => ({ type, command, key: randomUUID() }))
  const ended = Promise.allSettled(tried.map(({ command, key }) => send(doomed.call, command, key)))
  await eventually(async () => (await keys(tried.map(({ key }) => key))).length === tried.length)
  await doomed.kill()
  t.strictSame((await ended).map(({ status }) => status), ['rejected', 'rejected'])
  t.equal(await streams.head(), before, 'nothing is written')
  for (const { type, command, key } of tried) {
    const [reserved] = await keys([key])
    await leaseIsOver(key)
    const first = await send(call, command, key)
    t.equal(first.status, command.status)
    t.equal(first.headers.get('idempotent-replayed'), null, 'it happened only now')
    if (command.method === 'POST') {
      t.equal(first.body.data?.id, Number(reserved?.ids[0]), 'under the id that was put aside for it')
    }
    await answersOnce(t, command, key, () => writtenSince(before, type))
  }
})

interface Command { method: string, path: string, body: object, status: number }

const send = (call: Call, { method, path, body }: Command, key: string) =>
  call(method, path, { body, headers: { 'idempotency-key': key } })

/** The answer that the key stands for, as often as one asks and wherever. */
async function answersOnce (
  t: Test, command: Command, key: string, written: () => Promise<Parameters<typeof idOf>[0][]>
): Promise<void> {
  const answer = await send(call, command, key)
  t.equal(answer.status, command.status)
  t.equal(answer.headers.get('idempotent-replayed'), 'true')
  const events = await written()
  t.strictSame(events.map(idOf), [answer.body.data?.id], 'one event, its id')
  const again = await send(call, command, key)
  t.strictSame(
    [again.status, again.body, again.headers.get('x-read-position')],
    [answer.status, answer.body, answer.headers.get('x-read-position')]
  )
}

/** Its next command goes straight to the event store with them. */
async function idsAreThere (call: Call): Promise<void> {
  await eventually(async () => (await call('POST', '/user/assistant', { body: newAssistant() })).status === 201)
}

async function leaseIsOver (key: string): Promise<void> {
  const { rowCount } = await pool.query(`
    UPDATE ledger.idempotency_keys SET leased_until = now() - interval '1 ms'
    WHERE key = $1 AND committed_at IS NULL`, [key])
  if (rowCount !== 1) throw new Error('nobody holds the key')
}

async function keys (names: string[]): Promise<Array<{ ids: string[] }>> {
  return (await pool.query<{ ids: string[] }>(
    'SELECT ids FROM ledger.idempotency_keys WHERE key = ANY($1)', [names]
  )).rows
}
