// The queue is emptied while deliveries wait in it and are delayed: each is made, once.
import t, { type Test } from 'tap'
import { assistantCreated, callCompleted } from '../../support/call-events.js'
import { amount } from '../../support/chaos.js'
import { deliveryRig, type BackEnds } from '../../support/delivery-rig.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receiver.js'
import { noRedis, scratchRedis } from '../../support/redis.js'
import { scratchPostgres } from '../../support/scratch-postgres.js'

const deliveries = amount({ short: 200, whole: 10_000 })
const perEndpoint = 10
const endpointsOfUser = 5
const endpoints = deliveries / perEndpoint
const withinMs = Math.max(30_000, deliveries * 30)
t.setTimeout(60_000 + 4 * withinMs)

const postgres = await scratchPostgres(t)
t.test('on Postgres', async (t) => onBackEnd(t, { postgres }))
t.test('on Redis', { skip: noRedis() }, async (t) => onBackEnd(t, { postgres, redis: await scratchRedis(t) }))

async function onBackEnd (t: Test, backEnds: BackEnds): Promise<void> {
  await t.test(`emptied with ${deliveries / 2} deliveries in it and ${deliveries / 2} delayed, and again while they are made, the queue loses none`, { timeout: 2 * withinMs }, async (t) => {
    const r = await deliveryRig(t, backEnds, { works: false, enqueues: false, timeoutMs: 30_000 })
    const hook = await receiver(t)
    for (let id = 1; id <= endpoints; id++) {
      const user = String(Math.ceil(id / endpointsOfUser))
      await r.tell(assistantCreated(id, { is_webhook_active: true, webhook_url: `${hook.url}/${id}` }, user), ...Array.from({ length: perEndpoint }, (_, n) => callCompleted(`c-${id}-${n}`, { assistant_id: id })))
    }
    await r.pool.query("UPDATE ledger.webhook_deliveries SET next_attempt_at = now() + interval '1 hour' WHERE right(call_id, 1)::integer % 2 = 1")
    t.match(await r.reconcile(), { queued: deliveries / 2 })
    t.equal((await r.queue.ids()).size, deliveries / 2)
    await r.emptyQueue()
    t.equal((await r.queue.ids()).size, 0)
    t.match(await r.reconcile(), { lost: deliveries / 2, queued: deliveries / 2 })

    r.queue.work(r.deliver, 50)
    const left = async () => Number((await r.pool.query("SELECT count(*) FROM ledger.webhook_deliveries WHERE status <> 'delivered'")).rows[0]?.count)
    for (const atMost of [0.9, 0.7, 0.5].map((share) => share * deliveries)) {
      await eventually(async () => await left() <= atMost, withinMs)
      if (atMost === 0.7 * deliveries) await r.pool.query("UPDATE ledger.webhook_deliveries SET next_attempt_at = now() WHERE status = 'scheduled' AND next_attempt_at > now()")
      await r.emptyQueue()
      await r.reconcile()
    }
    await eventually(async () => await left() === 0 || (await r.reconcile(), false), withinMs)
    t.equal(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size, deliveries)
    t.equal(hook.received.length, deliveries, 'each once')
  })
}
