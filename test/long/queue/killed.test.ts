// Worker processes that are killed or frozen around a request: the delivery is made all the same, and recorded once.
import t, { type Test } from 'tap'
import type { ServerResponse } from 'node:http'
import { onEachQueue, type ScratchRedis } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { mainProcess } from '../../support/ringledger.js'
import { answers, receiver, type Receiver } from '../../support/receivers/receiver.js'
import { answer, senderRig } from '../../support/workers/sender-rig.js'

/** The job of a killed worker is given up after 10 to 20 s, the worker after 15 to 20 s. */
const withinMs = 60_000
const deaths = ['sends', 'was answered'] // two more would hold it

onEachQueue(t, {
  async 'a delivery is made although its workers are killed before or after its request' (t, redis) {
    const { r, id, hook, start, attempts } = await due(t, redis)
    await killed(t, start)
    start()
    await eventually(async () => (await r.delivery(id))?.status === 'delivered', withinMs)
    t.same(await attempts(), [['schedule', 1, 'unknown'], ['schedule', 2, 'unknown'], ['schedule', 3, 'delivered']])
    t.match(await r.delivery(id), { attempt_count: 3, failures: 0, due_in: null })
    isOneWebhook(t, hook, ['2', '3'])
  },

  async 'a redelivery whose worker is killed is made again, and the schedule goes on as before' (t, redis) {
    const { r, id, hook, start, attempts } = await due(t, redis)
    await r.end((await r.claim(r.worker)).attempts, answer(500))
    await r.pool.query("UPDATE ledger.webhook_due SET due_at = now() + interval '1 hour'")
    const isScheduled = "trigger = 'schedule'"
    const seen = async () => [
      (await r.rows('webhook_deliveries')).map(({ outcome: _last, status_code: _code, ...row }) => row),
      await r.rows('webhook_due', isScheduled)
    ]
    const before = await seen()
    await r.ask(id)
    await killed(t, start)
    t.same(await seen(), before, 'which left no trace but its outcome')
    start()
    await eventually(async () => (await r.delivery(id))?.status === 'delivered', withinMs)
    t.same(await attempts(), [
      ['schedule', 1, 'rejected'], ['manual', 1, 'unknown'], ['manual', 2, 'unknown'], ['manual', 3, 'delivered']
    ])
    t.same(await r.rows('webhook_due'), [])
    t.equal(hook.received.length, 2)
  },

  'a frozen worker that comes back with a success records it once': (t, redis) => comesBack(t, redis, 200),
  'a frozen worker that comes back with a failure records nothing': (t, redis) => comesBack(t, redis, 500)
})

type Start = Awaited<ReturnType<typeof due>>['start']

/** A worker after the other. */
async function killed (t: Test, start: Start): Promise<void> {
  for (const diesAt of deaths) t.equal(await start(diesAt).ended, 'SIGKILL', `killed when it ${diesAt}`)
}

/** One delivery that is due, and what starts worker processes, which die at a point when they are told to. */
async function due (t: Test, redis?: ScratchRedis) {
  const r = await senderRig(t)
  const hook = await receiver(t)
  const [id = ''] = await r.add(1, { to: hook.url })
  let count = 0
  const start = (diesAt = '') => {
    const worker = mainProcess<{ at: string }>(t, new URL('./worker-main.js', import.meta.url), [
      r.databaseUrl, redis?.url ?? '', `worker ${++count}`, diesAt])
    t.teardown(() => {
      worker.signal('SIGKILL')
      return worker.ended
    }) // the next test has the same Redis
    return worker
  }
  const attempts = async () => (await r.rows('webhook_attempts', 'true ORDER BY started_at'))
    .map(({ trigger, n, outcome }) => [trigger, n, outcome])
  return { r, id, hook, start, attempts }
}

/** A worker is frozen until another has made its attempt again; then it gets its answer. */
async function comesBack (t: Test, redis: ScratchRedis | undefined, late: number): Promise<void> {
  const { r, id, hook, start, attempts } = await due(t, redis)
  const held: ServerResponse[] = []
  hook.answer = (response) => { held.push(response) }
  const frozen = start()
  await eventually(() => held.length === 1, withinMs)
  frozen.signal('SIGSTOP')
  held[0]?.writeHead(late).end()
  hook.answer = answers(200)
  const other = start()
  await eventually(async () => (await r.delivery(id))?.status === 'delivered', withinMs)
  const before = await r.rows('webhook_deliveries')
  other.signal('SIGKILL')
  await other.ended

  frozen.signal('SIGCONT')
  await eventually(() => frozen.said.some(({ at }) => at === 'webhook attempt finished'))
  t.same(await r.rows('webhook_deliveries'), before)
  t.same(await attempts(), [['schedule', 1, late === 200 ? 'delivered' : 'unknown'], ['schedule', 2, 'delivered']])
  isOneWebhook(t, hook, ['1', '2'])
  await r.add(1, { to: hook.url })
  await eventually(() => hook.received.length === 3, withinMs)
  t.pass('and it works on')
}

function isOneWebhook (t: Test, { received }: Receiver, attempts: string[]): void {
  t.same(received.map(({ headers }) => headers['webhook-attempt']), attempts)
  const webhooks = received.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body.toString()}`)
  t.equal(new Set(webhooks).size, 1, 'the same id and the same bytes')
}
