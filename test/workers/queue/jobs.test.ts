// Jobs start attempts: each attempt once, none without a due delivery, and none is lost with the queue.
import t from 'tap'
import type { Job } from '../../../workers/deliveries/attempts/attempt.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { openOverflow } from '../../../workers/queue/overflow.js'
import { assistantTo, assistantUpdated, callCompleted, callsOf } from '../../support/events/call-events.js'
import { deliveryRig, settled, statuses } from '../../support/workers/delivery-rig.js'
import { onEachQueue, noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'

onEachQueue(t, {
  async 'jobs are named after their attempts, which are handed out once, and are gone from the queue afterwards' (t, redis) {
    const r = await deliveryRig(t, { redis, works: false, enqueues: false })
    const hook = await receiver(t)
    await r.tell(assistantTo(hook.url), ...callsOf(1, 4))
    await r.reconcile()
    const jobs = await r.jobs()
    t.equal(jobs.length, redis ? 4 : 1, 'on Postgres one job wakes several attempts')
    t.same(jobs.flatMap((name) => name.split(',')).sort(), [0, 1, 2, 3].map((n) => `${deliveryId(`call-1-${n}`)}-1-1`).sort())
    const handed: string[] = []
    r.queue.work(async (job) => {
      handed.push(job.deliveryId)
      if (handed.length % 2 === 0) throw new Error('this worker is broken')
      await r.deliver(job)
    }, 1)
    await eventually(async () => (await r.jobs()).length === 0)
    t.equal(new Set(handed).size, 4)
    t.equal(handed.length, 4)
    t.equal(hook.received.length, 2)
    t.match(await r.reconcile(), { lost: 2 }, 'what failed on our side is queued again')
    await eventually(() => handed.length > 4)
  },

  async 'of many workers with the same job one makes the attempt' (t, redis) {
    const r = await deliveryRig(t, { redis, works: false, enqueues: false })
    const hook = await receiver(t)
    await r.tell(assistantTo(hook.url), callCompleted('c-1'))
    await r.enqueuer.enqueue(['1'])
    const job: Job = { deliveryId: deliveryId('c-1'), n: 1, jobNumber: 1 }
    await Promise.all(Array.from({ length: 40 }, () => r.deliver(job)))
    await r.deliver(job)
    t.equal(hook.received.length, 1)
    t.equal((await r.attempts()).length, 1)
  },

  async 'a stale job, a wrong number and a time that has not come start nothing' (t, redis) {
    const r = await deliveryRig(t, { redis, works: false, enqueues: false, schedule: [60_000] })
    const hook = await receiver(t)
    await r.tell(assistantTo(hook.url), callCompleted('c-1'))
    t.equal(await r.enqueuer.enqueue(['1']), 0, 'what is not due gets no slot')
    const jobs = [{ n: 1, jobNumber: 0 }, { n: 1, jobNumber: 1 }, { n: 2, jobNumber: 0 }]
    for (const job of jobs) await r.deliver({ deliveryId: deliveryId('c-1'), ...job })
    await r.pool.query('UPDATE ledger.webhook_deliveries SET next_attempt_at = now()')
    await r.enqueuer.enqueue(['1'])
    const stale = [{ n: 1, jobNumber: 0 }, { n: 1, jobNumber: 2 }, { n: 2, jobNumber: 1 }, { n: 0, jobNumber: 1 }]
    for (const job of stale) await r.deliver({ deliveryId: deliveryId('c-1'), ...job })
    t.equal(hook.connections(), 0)
    t.same(await r.attempts(), [])
  },

  async 'an emptied queue loses nothing' (t, redis) {
    const r = await deliveryRig(t, { redis, works: false })
    const hook = await receiver(t)
    await r.tell(assistantTo(hook.url), assistantTo(hook.url, 2, '2'), ...callsOf(1, 30), ...callsOf(2, 30))
    await eventually(async () => (await r.queue.ids()).size === 20)
    await r.emptyQueue()
    t.equal((await r.queue.ids()).size, 0)
    t.match(await r.reconcile(), { lost: 20, queued: 20 })
    r.queue.work(r.deliver, 50)
    await settled(r, 'delivered')
    t.equal(hook.received.length, 60, 'each once')
  },

  async 'what is still in the queue is not queued again' (t, redis) {
    const r = await deliveryRig(t, { redis, works: false })
    const hook = await receiver(t)
    await r.tell(assistantTo(hook.url), ...callsOf(1, 3))
    await eventually(async () => (await r.queue.ids()).size === 3)
    t.same(await r.reconcile(), { unknown: 0, crashed: [], lost: 0, queued: 0 })
    t.same((await r.deliveries()).map(({ job_number }) => job_number), [1, 1, 1])
  },

  async 'switched off while an attempt waits in the queue, nothing is sent' (t, redis) {
    const r = await deliveryRig(t, { redis, works: false })
    const hook = await receiver(t)
    await r.tell(assistantTo(hook.url), callCompleted('c-1'))
    await eventually(async () => (await r.queue.ids()).size === 1)
    await r.tell(assistantUpdated(1, { webhook_url: null, is_webhook_active: false }))
    r.queue.work(r.deliver, 1)
    await eventually(async () => (await r.queue.ids()).size === 0)
    t.same(statuses(await r.deliveries()), [['held', 'webhook_off']])
    t.equal(hook.connections(), 0)
  }
})

t.test('while Redis is down calls are accepted; they are delivered when it is back', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  const r = await deliveryRig(t, { redis })
  const hook = await receiver(t)
  await r.tell(assistantTo(hook.url), callCompleted('before'))
  await settled(r, 'delivered')
  await redis.kill()
  const from = Date.now()
  await r.tell(callCompleted('during'))
  t.ok(Date.now() - from < 1_000, 'the dispatcher does not wait for the queue')
  await eventually(async () => {
    const row = (await r.deliveries())[1]
    return row?.job_number === 1 && row.queued_at === null // its slot was acquired and released
  }, 3_000)
  await t.rejects(r.reconcile(), 'the reconciler says so')
  await redis.start()
  await eventually(async () => (await r.reconcile()).queued === 1)
  await settled(r, 'delivered')
  t.equal(hook.received.length, 2)
})

t.test('long work makes room for others, but only as much of it as the overflow takes', async (t) => {
  const overflow = openOverflow({ afterMs: 5, limit: 2 })
  const moved = new Set<number>()
  const ends = [0, 1, 2].map((nth) => {
    let end = () => {}
    const work = new Promise<void>((resolve) => { end = resolve })
    void overflow.run(() => work, () => {}).then(() => moved.add(nth))
    return end
  })
  await eventually(() => moved.size === 2)
  t.strictSame([...moved], [0, 1])
  ends[0]?.()
  await eventually(() => moved.has(2))
  for (const end of ends) end()
  await overflow.settled()
})
