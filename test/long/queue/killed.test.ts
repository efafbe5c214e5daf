// Worker processes that are killed or frozen around a request: the delivery is made all the same, and recorded once.
import t, { type Test } from 'tap'
import type { ServerResponse } from 'node:http'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { deliveryRig, type Rig } from '../../support/workers/delivery-rig.js'
import { onEachQueue, type ScratchRedis } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { mainProcess } from '../../support/ringledger.js'
import { answers, receiver, type Receiver } from '../../support/receivers/receiver.js'

const id = deliveryId('c-1')
const schedule = [0, 3_600_000]

onEachQueue(t, {
  async 'a delivery is made although its workers are killed before or after its request' (t, redis) {
    const { r, hook, start } = await due(t, redis)
    const deaths = ['sends', 'was answered'] // the third one would hold it
    for (const diesAt of deaths) {
      const worker = start(diesAt)
      await r.reconcile()
      t.equal(await worker.ended, 'SIGKILL', `killed when it ${diesAt}`)
      await isGivenUp(r)
    }
    start()
    await eventually(async () => (await row(r)).status === 'delivered')
    t.same(await attemptsOf(r), [
      ...deaths.map((_, n) => ['schedule', n + 1, 'unknown']), ['schedule', deaths.length + 1, 'delivered']
    ])
    t.match(await row(r), { attempt_count: deaths.length + 1, failure_count: 0, queued_at: null, started_at: null })
    isOneWebhook(t, hook, [...deaths, 'none'].flatMap((diesAt, n) => diesAt === 'sends' ? [] : [String(n + 1)]))
  },

  async 'a redelivery whose worker is killed is made again, and the schedule goes on as before' (t, redis) {
    const { r, hook, start } = await due(t, redis)
    hook.answer = answers(500)
    await r.reconcile()
    await r.deliver({ deliveryId: id, n: 1, jobNumber: 1 })
    const before = await row(r)
    // A job that was taken from the queue and came to nothing is noticed when its lock expires.
    const ways = ['sends', 'was answered', 'was woken']
    for (const [index, diesAt] of ways.entries()) {
      if (diesAt === ways.at(-1)) hook.answer = answers(200)
      await redeliver(r.pool, id)
      const killed = start(diesAt)
      await r.reconcile()
      t.equal(await killed.ended, 'SIGKILL', `killed when it ${diesAt}`)
      t.same(await uncounted(r), before)
      const next = start()
      await eventually(async () => await r.reconcile() && await hasEnded(r), 45_000)
      await eventually(() => next.said.some(({ at }) => at === 'has recorded'), 45_000)
      if (index < ways.length - 1) t.same(await uncounted(r), before, 'the one that failed left no trace')
      next.signal('SIGKILL')
      await next.ended
    }
    t.match(await row(r), { status: 'delivered', attempt_count: 1, failure_count: 1, next_attempt_at: null })
    t.match(await attemptsOf(r), [
      ['schedule', 1, 'rejected'],
      ['manual', 1, 'unknown'],
      ['manual', 2, 'rejected'],
      ['manual', 3, 'unknown'],
      ['manual', 4]
    ])
    t.equal(hook.received.length, 5)
  },

  'a frozen worker that comes back with a success records it once': (t, redis) => comesBack(t, redis, 200),
  'a frozen worker that comes back with a failure records nothing': (t, redis) => comesBack(t, redis, 500)
})

/** One delivery that is due, and what starts worker processes, which die at a point when they are told to. */
async function due (t: Test, redis?: ScratchRedis) {
  const r = await deliveryRig(t, { redis, works: false, enqueues: false, timeoutMs: 300, schedule })
  const hook = await receiver(t)
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  const place = [r.databaseUrl, redis?.url ?? '', r.keys.current.toString('hex'), schedule.join()]
  const start = (diesAt = '') => {
    const worker = mainProcess<{ at: string }>(t, new URL('./sender-main.js', import.meta.url), [...place, diesAt])
    t.teardown(() => {
      worker.signal('SIGKILL')
      return worker.ended
    }) // the next test has the same Redis
    return worker
  }
  return { r, hook, start }
}

/** A worker is frozen until another has taken its job; then it gets its answer. */
async function comesBack (t: Test, redis: ScratchRedis | undefined, late: number): Promise<void> {
  const { r, hook, start } = await due(t, redis)
  const held: ServerResponse[] = []
  hook.answer = (response) => { held.push(response) }
  const frozen = start()
  await r.reconcile()
  await eventually(() => held.length === 1)
  frozen.signal('SIGSTOP')
  held[0]?.writeHead(late).end()
  hook.answer = answers(200)
  const other = start()
  await eventually(async () => !(await r.queue.ids()).has(`${id}-1-1`), 45_000) // its lock must expire
  await isGivenUp(r)
  await eventually(async () => (await row(r)).status === 'delivered')
  const before = await row(r)
  other.signal('SIGKILL')
  await other.ended

  frozen.signal('SIGCONT')
  await eventually(() => frozen.said.some(({ at }) => at === 'has recorded'))
  t.same(await row(r), before)
  t.same(await attemptsOf(r), [
    ['schedule', 1, late === 200 ? 'delivered' : 'unknown'], ['schedule', 2, 'delivered']
  ])
  isOneWebhook(t, hook, ['1', '2'])
  await r.tell(callCompleted('c-2'))
  await r.reconcile()
  await eventually(() => hook.received.length === 3)
  t.pass('and it works on')
}

const row = async (r: Rig) => (await r.deliveries()).find((each) => each.id === id) ?? {}
/** The row but for the attempts that ended their worker. */
const uncounted = async (r: Rig) => ({ ...await row(r), crash_count: 0 })
const attemptsOf = async (r: Rig) => (await r.attempts()).map(({ trigger, n, outcome }) => [trigger, n, outcome])
const hasEnded = async (r: Rig) => (await r.attempts()).every(({ outcome }) => outcome !== null)
const isGivenUp = (r: Rig) => eventually(async () => (await r.reconcile()).unknown === 1)

function isOneWebhook (t: Test, { received }: Receiver, attempts: string[]): void {
  t.same(received.map(({ headers }) => headers['webhook-attempt']), attempts)
  const webhooks = received.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body.toString()}`)
  t.equal(new Set(webhooks).size, 1, 'the same id and the same bytes')
}
