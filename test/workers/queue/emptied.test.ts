// The queue is emptied while deliveries wait in it and are delayed: each is made, once.
import t from 'tap'
import type { Pool } from 'pg'
import { assistantTo, callsOf } from '../../support/events/call-events.js'
import { deliveryRig } from '../../support/workers/delivery-rig.js'
import { onEachQueue } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'

const deliveries = 200
const perEndpoint = 10
const endpointsOfUser = 5
const endpoints = deliveries / perEndpoint
const withinMs = Math.max(30_000, deliveries * 30)
t.setTimeout(60_000 + 4 * withinMs)

onEachQueue(t, {
  async [`the queue loses none of ${deliveries} deliveries when it is emptied, before and while they are made`] (
    t, redis
  ) {
    const r = await deliveryRig(t, { redis, works: false, enqueues: false, timeoutMs: 30_000 })
    const hook = await receiver(t)
    for (let id = 1; id <= endpoints; id++) {
      const user = String(Math.ceil(id / endpointsOfUser))
      await r.tell(assistantTo(`${hook.url}/${id}`, id, user), ...callsOf(id, perEndpoint))
    }
    await r.pool.query(`
      UPDATE ledger.webhook_deliveries SET next_attempt_at = now() + interval '1 hour'
      WHERE right(call_id, 1)::integer % 2 = 1`)
    t.match(await r.reconcile(), { queued: deliveries / 2 })
    t.equal((await r.queue.ids()).size, deliveries / 2)
    await r.emptyQueue()
    t.equal((await r.queue.ids()).size, 0)
    t.match(await r.reconcile(), { lost: deliveries / 2, queued: deliveries / 2 })

    r.queue.work(r.deliver, 50)
    const left = async () => Number((await r.pool.query(`
      SELECT count(*) FROM ledger.webhook_deliveries WHERE status <> 'delivered'`)).rows[0]?.count)
    for (const atMost of [0.9, 0.7, 0.5].map((share) => share * deliveries)) {
      await eventually(async () => await left() <= atMost, withinMs)
      if (atMost === 0.7 * deliveries) await makeDelayedDue(r.pool)
      await r.emptyQueue()
      await r.reconcile()
    }
    await eventually(async () => await left() === 0 || (await r.reconcile(), false), withinMs)
    t.equal(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size, deliveries)
    t.equal(hook.received.length, deliveries, 'each once')
  }
})

async function makeDelayedDue (pool: Pool): Promise<void> {
  await pool.query(`
    UPDATE ledger.webhook_deliveries SET next_attempt_at = now()
    WHERE status = 'scheduled' AND next_attempt_at > now()`)
}
