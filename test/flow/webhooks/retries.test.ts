// A process is killed around its append; a caller that retries with the same key gets one effect and one answer.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { apiProcess, testService } from '../../support/service.js'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { eventsAfter, idOf } from '../../support/back-ends/scratch-event-store.js'
import type { Call } from '../../support/running-service.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'

const service = await testService(t, ['projector'])
const { client, parts: { pool, streams } } = service
const [surviving, ...others] = await Promise.all([apiProcess(t, service), ...[1, 2, 3, 4].map(behindProxy)])
const { call } = surviving
const other = await service.token('2')
const assistant =
  await eventually(async () => (await call('POST', '/user/assistant', { body: newAssistant() })).body.data?.id ?? false)

const commands = [
  { type: 'AssistantCreated', method: 'POST', path: '/user/assistant', body: newAssistant(), status: 201 },
  {
    type: 'AssistantUpdated',
    method: 'PUT',
    path: `/user/assistant/${assistant}`,
    body: { assistant_name: 'Tried again' },
    status: 200
  },
  {
    type: 'LeadCreated',
    method: 'POST',
    path: '/user/lead',
    body: newLead({ secondary_contacts: [{ phone_number: '+15551230199' }] }),
    status: 200
  }
]

async function behindProxy () {
  const store = await tcpProxy(t, service.store.port)
  return { store, api: await apiProcess(t, service, { EVENTSTORE_URL: `esdb://127.0.0.1:${store.port}?tls=false` }) }
}

for (const command of commands) {
  const doomed = others.shift()
  t.test(`${command.type}: killed between append and answer, it happened once, under the same id`, async (t) => {
    if (!doomed) throw new Error('unreachable')
    const key = randomUUID()
    await idsAreThere(doomed.api.call)
    const before = await streams.head()
    const written = async () => (await eventsAfter(client, before)).filter(({ type }) => type === command.type)
    doomed.store.loseAnswersAfter(command.type)
    const unanswered = send(doomed.api.call, command, key)
    unanswered.catch(() => {}) // nobody is left to answer
    await eventually(async () => (await written()).length > 0)
    await doomed.api.kill()
    await t.rejects(unanswered)

    const early = await send(call, command, key)
    t.equal(early.status, 409, 'at once: it might still be running')
    t.equal(early.headers.get('retry-after'), '1')
    await leaseIsOver(key)
    await answersOnce(t, command, key, written)
  })
}

t.test('killed before the append, it happens once, when it is tried again', async (t) => {
  const [doomed] = others
  if (!doomed) throw new Error('unreachable')
  await idsAreThere(doomed.api.call)
  const before = await streams.head()
  doomed.store.freeze()
  const bodies: Record<string, object> =
    { AssistantCreated: newAssistant(), AssistantUpdated: { assistant_name: 'Tried in vain' } }
  const tried = commands.filter(({ type }) => type !== 'LeadCreated') // its number is looked up in the log first
    .map((command) => ({ command: { ...command, body: bodies[command.type] ?? {} }, key: randomUUID() }))
  const unanswered = tried.map(({ command, key }) => send(doomed.api.call, command, key))
  const ended = Promise.allSettled(unanswered)
  await eventually(async () => (await keys(tried.map(({ key }) => key))).length === tried.length)
  await doomed.api.kill()
  t.strictSame((await ended).map(({ status }) => status), ['rejected', 'rejected'])
  t.equal(await streams.head(), before, 'nothing is written')
  for (const { command, key } of tried) {
    const [reserved] = await keys([key])
    await leaseIsOver(key)
    const first = await send(call, command, key)
    t.equal(first.status, command.status)
    t.equal(first.headers.get('idempotent-replayed'), null, 'it happened only now')
    if (command.method === 'POST') {
      t.equal(first.body.data?.id, Number(reserved?.ids[0]), 'under the id that was put aside for it')
    }
    await answersOnce(t, command, key, async () => (await eventsAfter(client, before))
      .filter(({ type }) => type === command.type))
  }
})

interface Command { type: string, method: string, path: string, body: object, status: number }

const send = (call: Call, { method, path, body }: Command, key: string, token?: string) =>
  call(method, path, { body, headers: { 'idempotency-key': key }, ...(token !== undefined && { token }) })

/** The answer that the key stands for, as often as one asks and wherever; to this user and this body only. */
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
  const changed = await send(call, { ...command, body: { ...command.body, variables: { changed: true } } }, key)
  t.strictSame([changed.status, Object.keys(changed.body.errors ?? {})], [422, ['Idempotency-Key']])
  const theirs = await send(call, command, key, other)
  t.notOk(theirs.headers.has('idempotent-replayed'), 'another user’s key is another key')
}

/** For a process that has ids of both kinds: its next command goes straight to the event store with them. */
async function idsAreThere (call: Call): Promise<void> {
  await eventually(async () => (await call('POST', '/user/assistant', { body: newAssistant() })).status === 201)
  await eventually(async () => (await call('POST', '/user/lead', {
    body: newLead({ phone_number: '+15551230197', allow_dupplicate: true })
  })).status === 200)
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
