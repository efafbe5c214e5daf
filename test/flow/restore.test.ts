// Backups put back, on real back ends: no id is given out again, no old webhook is sent, and what is said mends it.
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.js'
import { answers, receiver, type Receiver } from '../support/receiver.js'
import { restorable, type Restorable, type Running } from '../support/restorable.js'
import { run } from '../support/ringledger.js'

const bothCommands = /behind the event log.*`ringledger ids reseed` and `ringledger webhooks resume`/

t.test('a Postgres that is restored beside a newer log waits for its operator, and repeats nothing', async (t) => {
  const r = await restorable(t)
  const hook = await receiver(t, (response, received, count) => answers(callOf(received) === 'pending' ? 429 : 204)(response, received, count))
  const first = await r.start()
  const assistant = idOf(await eventually(async () => created(await first.createAssistant(hook.url))))
  for (const call of ['before', 'pending']) await first.completeCall(call, assistant)
  await eventually(() => hook.received.length === 2)
  await first.stop()
  await r.backUp()

  const second = await r.start()
  const newest = { assistant: idOf(await eventually(async () => created(await second.createAssistant(hook.url)))), lead: idOf(await second.createLead()) }
  for (const call of ['after-1', 'after-2']) await second.completeCall(call, newest.assistant)
  await eventually(() => hook.received.length === 4)
  await second.stop()
  await r.restore()
  await r.withParts(async ({ pool }) => pool.query("UPDATE ledger.webhook_deliveries SET next_attempt_at = now() WHERE status = 'scheduled'"))

  const restored = await r.start()
  await t.test('it says what to run, answers reads, and neither creates nor sends', async (t) => {
    t.match(restored.logged.join(), bothCommands)
    await readsGoOn(t, restored, newest.assistant)
    for (const answer of [await restored.createAssistant(hook.url), await restored.createLead()]) {
      t.match(answer, { status: 503, body: { message: 'The service is not available right now. Nothing was changed.' } })
    }
    t.match(await ready(restored), { status: 200, body: { checks: { ledger: 'behind the log' } } }, 'it keeps its readers')
    t.equal(hook.received.length, 4)
  })

  await t.test('ids reseed makes it create again, under new ids', async (t) => {
    t.match(await run(t, ['ids', 'check'], r.env), { code: 1, stderr: /behind: run `ringledger ids reseed`/ })
    const { code, stdout } = await run(t, ['ids', 'reseed', '--json'], r.env)
    t.equal(code, 0)
    t.match(JSON.parse(stdout), { ok: true, sequences: [{ name: 'assistant', in_log: newest.assistant }, { name: 'lead', in_log: newest.lead }] })
    t.match(await run(t, ['ids', 'check'], r.env), { code: 0, stderr: /are past every id/ })
    t.ok(idOf(await restored.createAssistant(hook.url)) > newest.assistant)
    t.ok(idOf(await restored.createLead()) > newest.lead)
    t.match(await ready(restored), { body: { checks: { ledger: 'behind the log' } } })
    t.equal(hook.received.length, 4)
  })

  await t.test('webhooks resume makes it send what comes from then on', async (t) => {
    t.match(await run(t, ['webhooks', 'resume'], r.env), { code: 0, stderr: /Webhooks go on.* 1 were cancelled/ })
    await restored.completeCall('later', assistant)
    await eventually(() => hook.received.length > 4)
    t.same(hook.received.map(callOf), ['before', 'pending', 'after-1', 'after-2', 'later'])
    t.same(await deliveries(r), {
      before: ['delivered', null],
      pending: ['cancelled', 'restored'],
      'after-1': ['skipped', 'restored'],
      'after-2': ['skipped', 'restored'],
      later: ['delivered', null]
    }, 'each call has one row')
    t.match(await ready(restored), { status: 200, body: { checks: { ledger: 'ok' } } })
    t.match(await run(t, ['webhooks', 'resume'], r.env), { code: 0, stderr: /nothing to resume/ })
  })
  await restored.stop()

  await t.test('and the next start knows of nothing', async (t) => {
    const { logged, stop } = await r.start()
    t.notMatch(logged.join(), /behind the event log/)
    await stop()
  })
})

t.test('a fresh Postgres beside a full log is the same case', async (t) => {
  const r = await restorable(t)
  const hook = await receiver(t)
  const first = await r.start()
  const assistant = idOf(await eventually(async () => created(await first.createAssistant(hook.url))))
  await first.completeCall('before', assistant)
  await eventually(() => hook.received.length === 1)
  await first.stop()
  await r.lose()

  const [api, worker] = [await r.start(['api', 'projector']), await r.start(['worker'])]
  await readsGoOn(t, api, assistant)
  for (const { logged } of [api, worker]) t.match(logged.join(), bothCommands)
  t.equal((await api.createAssistant(hook.url)).status, 503)
  t.match(await ready(worker), { status: 503, body: { checks: { ledger: 'failing' } } }, 'a worker that may not send is not ready')
  t.equal((await run(t, ['webhooks', 'resume'], r.env)).code, 0)
  await eventually(async () => (await ready(worker)).status === 200)
  t.equal((await api.createAssistant(hook.url)).status, 503, 'ids are a matter of their own')
  t.equal((await run(t, ['ids', 'reseed'], r.env)).code, 0)
  const next = idOf(await api.createAssistant(hook.url))
  t.ok(next > assistant)
  for (const id of [assistant, next]) await api.completeCall(`of-${id}`, id)
  await eventually(() => hook.received.length >= 3)
  t.same(hook.received.map(callOf).sort(), ['before', `of-${assistant}`, `of-${next}`].sort())
  t.same((await deliveries(r)).before, ['skipped', 'restored'])
})

t.test('a log that is older than what was read of it is a refusal to start, until it is adopted', async (t) => {
  const r = await restorable(t)
  const hook = await receiver(t)
  const first = await r.start()
  const assistant = idOf(await eventually(async () => created(await first.createAssistant(hook.url))))
  await first.completeCall('kept', assistant)
  await eventually(() => hook.received.length === 1)
  await first.stop()
  await r.backUpLog()

  const second = await r.start()
  const lost = idOf(await eventually(async () => created(await second.createAssistant(hook.url))))
  await second.completeCall('lost', lost)
  await eventually(() => hook.received.length === 2)
  t.match(await run(t, ['events', 'adopt'], r.env), { code: 1, stderr: /still holds the lease .*stop every role first/ })
  await second.stop()
  await r.restoreLog()

  for (const role of ['api', 'worker']) {
    t.match(await run(t, [role], { ...r.env, PORT: '0' }), { code: 1, stderr: /^ringledger: The event log lacks marker \d.* older than this database, or another log.*Check EVENTSTORE_URL.*`ringledger events adopt`/m })
  }
  t.match(await run(t, ['events', 'adopt'], r.env), { code: 0, stderr: /The consumers follow this log now/ })
  const adopted = await r.start()
  await readsGoOn(t, adopted, assistant)
  const next = idOf(await eventually(async () => created(await adopted.createAssistant(hook.url))))
  t.ok(next > lost, 'the ids of what was lost are not given out again')
  for (const id of [assistant, next]) await adopted.completeCall(`of-${id}`, id)
  await eventually(() => hook.received.length >= 4)
  t.same(hook.received.map(callOf), ['kept', 'lost', `of-${assistant}`, `of-${next}`])
})

t.test('a log that ends before the checkpoint of a projection is refused too, by its name', async (t) => {
  const r = await restorable(t)
  await r.withParts(async ({ pool }) => pool.query('UPDATE read_model.catalog_checkpoint SET position = 1000000'))
  await t.rejects(r.start(), { name: 'OtherLog', message: /^The event log ends at position \d+, and the projection catalog has read it up to 1000000: it is older/ })
})

const callOf = ({ body }: Receiver['received'][number]) => (JSON.parse(body.toString()) as { data: { call_id: string } }).data.call_id
const created = (answer: Awaited<ReturnType<Running['createLead']>>) => answer.status === 201 && answer
const idOf = ({ body }: Awaited<ReturnType<Running['createLead']>>) => body.data?.id ?? 0

async function readsGoOn (t: Test, { get }: Running, assistant: number): Promise<void> {
  await eventually(async () => (await get(`/user/assistant/${assistant}`)).status === 200)
  t.equal((await get('/user/assistants')).status, 200)
}

async function ready ({ url }: Running): Promise<{ status: number, body: unknown }> {
  const answer = await fetch(`${url}/health/ready`)
  return { status: answer.status, body: await answer.json() }
}

/** Status and reason by call. */
async function deliveries (r: Restorable): Promise<Record<string, unknown[]>> {
  return await r.withParts(async ({ pool }) => {
    const { rows } = await pool.query<{ call_id: string, status: string, reason: string | null }>('SELECT call_id, status, reason FROM ledger.webhook_deliveries ORDER BY created_at')
    return Object.fromEntries(rows.map(({ call_id: call, status, reason }) => [call, [status, reason]]))
  })
}
