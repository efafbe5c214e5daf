// Slots for attempts: how many an endpoint and a user get, and what becomes of the slot of an abandoned attempt.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import type { Finish } from '../../../workers/deliveries/attempts/attempt.js'
import { finishAttempt } from '../../../workers/deliveries/attempts/finish.js'
import { startAttempt } from '../../../workers/deliveries/attempts/start.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { assistantTo, assistantUpdated, callCompleted, callsOf } from '../../support/events/call-events.js'
import { deliveryRig, settled } from '../../support/workers/delivery-rig.js'
import { onEachQueue } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'

const slow = { works: false, enqueues: false, timeoutMs: 60_000 }

/** What has arrived and waits for its answer, as soon as there is something. */
async function next (open: Array<() => void>): Promise<Array<() => void>> {
  await eventually(() => open.length > 0)
  return open.splice(0)
}

onEachQueue(t, {
  async 'an endpoint that hangs gets ten attempts at once, a user fifty; nobody else waits' (t, redis) {
    const r = await deliveryRig(t, { redis, timeoutMs: 60_000 })
    const open = { now: 0, most: new Map<string, number>() }
    const hanging = await receiver(t, (_response, { path }) => {
      open.most.set(path, (open.most.get(path) ?? 0) + 1)
      open.now += 1
    })
    const hook = await receiver(t)
    const delivered = async (count: number) =>
      (await r.deliveries()).filter(({ status }) => status === 'delivered').length === count
    const hang = (...ids: number[]) =>
      r.tell(...ids.flatMap((id) => [assistantTo(`${hanging.url}/${id}`, id), ...callsOf(id, 40)]))
    await hang(1)
    await eventually(() => open.now === 10)
    await hang(2, 3, 4, 5)
    await eventually(() => open.now === 30)
    t.same([...open.most.values()].sort(), [10, 5, 5, 5, 5].sort(), 'they share, by turns')

    await r.tell(assistantTo(hook.url, 6), ...callsOf(6, 40))
    await eventually(() => delivered(40))
    t.equal(open.now, 30, 'a healthy endpoint of the same user does not wait for any of them')
    await r.tell(assistantTo(hook.url, 9, '9'), ...callsOf(9, 25))
    await eventually(() => delivered(65))

    await hang(...Array.from({ length: 20 }, (_, n) => 10 + n))
    await eventually(() => open.now === 50)
    await r.reconcile()
    t.equal(open.now, 50)
    t.equal((await r.deliveries()).filter(({ started_at }) => started_at !== null).length, 50)
  },

  async 'an endpoint that fails has one attempt at once until it succeeds' (t, redis) {
    const r = await deliveryRig(t, { redis, timeoutMs: 60_000, schedule: [0, 3_600_000] })
    const open: Array<() => void> = []
    const hook = await receiver(t, (response, received, count) => {
      open.push(() => answers(count <= 12 ? 500 : 200)(response, received, count))
    })
    await r.tell(assistantTo(hook.url), ...callsOf(1, 40))
    await eventually(() => open.length === 10)
    for (const answer of open.splice(0)) answer()
    for (const nth of ['eleventh', 'twelfth', 'thirteenth, which succeeds']) {
      await eventually(() => open.length === 1)
      await r.reconcile()
      t.equal(open.length, 1, nth)
      open.shift()?.()
    }
    await eventually(() => open.length === 10)
    while (hook.received.length < 40) for (const answer of await next(open)) answer()
    for (const answer of open.splice(0)) answer()
    await eventually(async () => (await r.deliveries()).filter(({ status }) => status === 'delivered').length === 28)
  },

  async 'slots that become free are taken by what waits, on any endpoint of the user' (t, redis) {
    const r = await deliveryRig(t, { redis, timeoutMs: 60_000 })
    const hook = await receiver(t)
    const ids = [1, 2, 3, 4, 5, 6, 7, 8]
    await r.tell(...ids.map((id) => assistantTo(`${hook.url}/${id}`, id)), ...ids.flatMap((id) => callsOf(id, 25)))
    await settled(r, 'delivered')
    t.equal(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size, 200)
    t.equal(hook.received.length, 200)
  },

  async 'an attempt whose worker died is unknown, is no failure, and is made again at once' (t, redis) {
    const r = await deliveryRig(t, { redis, ...slow, abandonedAfterMs: 200, schedule: [0] })
    const hook = await receiver(t)
    await r.tell(assistantTo(hook.url), callCompleted('c-1'))
    for (let n = 1; n <= 2; n++) {
      await r.enqueuer.enqueue(['1'])
      const job = { deliveryId: deliveryId('c-1'), n, jobNumber: n }
      t.ok(await startAttempt(r.pool, { job, token: randomUUID() }), `worker ${n} starts and dies`)
      await eventually(async () => (await r.reconcile()).unknown === 1)
    }
    r.queue.work(r.deliver, 1)
    await settled(r, 'delivered')
    t.same((await r.attempts()).map(({ outcome }) => outcome), ['unknown', 'unknown', 'delivered'])
    t.match((await r.deliveries())[0], { attempt_count: 3, failure_count: 0, crash_count: 0 })
    t.equal(hook.received[0]?.headers['webhook-attempt'], '3')
  },

  async 'a worker that comes back after its attempt was closed can only deliver' (t, redis) {
    const r = await deliveryRig(t, { redis, ...slow, abandonedAfterMs: 100 })
    const hook = await receiver(t)
    await r.tell(assistantTo(hook.url), ...callsOf(1, 2))
    await r.enqueuer.enqueue(['1'])
    const finish = (outcome: 'delivered' | 'rejected'): Finish =>
      ({ outcome, statusCode: 200, durationMs: 1, error: null, excerpt: '', truncated: false })
    const frozen = await Promise.all((await r.deliveries()).map(({ id }) =>
      startAttempt(r.pool, { job: { deliveryId: String(id), n: 1, jobNumber: 1 }, token: randomUUID() })))
    await eventually(async () =>
      await r.reconcile() && (await r.attempts()).every(({ outcome }) => outcome === 'unknown'))
    const [first, second] = frozen
    if (!first || !second) throw new Error('both started')
    const exhausted = { status: 'exhausted', reason: 'attempts_used_up' } as const
    t.equal(await finishAttempt(r.pool, first, finish('rejected'), exhausted), false)
    t.equal(await finishAttempt(r.pool, second, finish('delivered'), { status: 'delivered' }), true)
    t.equal(await finishAttempt(r.pool, second, finish('delivered'), { status: 'delivered' }), false, 'and only once')
    t.same((await r.deliveries()).map(({ status }) => status), ['scheduled', 'delivered'])
    r.queue.work(r.deliver, 10)
    await settled(r, 'delivered')
    t.equal(hook.received.length, 1, 'the delivered one is not sent again')
  },

  async 'an attempt that its worker hands over is no failure; the next one is due at once, to the new URL' (t, redis) {
    const r = await deliveryRig(t, { redis, works: false })
    const moved = await receiver(t)
    const hanging = await receiver(t, () => {})
    await r.tell(assistantTo(hanging.url), callCompleted('c-1'))
    await eventually(async () => (await r.queue.ids()).size === 1)
    const running = r.deliver({ deliveryId: deliveryId('c-1'), n: 1, jobNumber: 1 })
    await eventually(() => hanging.received.length === 1)
    await r.tell(assistantUpdated(1, { webhook_url: moved.url }))
    r.hurry.abort(new Error('stop'))
    await running
    t.match((await r.attempts())[0], { outcome: 'unknown' })
    t.match((await r.deliveries())[0], { status: 'scheduled', failure_count: 0, started_at: null })
    const { rows } = await r.pool.query(`
      SELECT url FROM ledger.webhook_deliveries d
      JOIN ledger.webhook_endpoints e ON e.id = endpoint_id WHERE next_attempt_at <= now()`)
    t.equal(rows[0]?.url, moved.url)
  }
})
