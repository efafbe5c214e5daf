// An endpoint that asks for fewer requests gets none for a while, and no delivery pays for that.
import t from 'tap'
import { assistantTo, callCompleted, callsOf } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { deliveryRig, settled, type Rig } from '../../support/workers/delivery-rig.js'
import { onEachQueue } from '../../support/back-ends/redis.js'
import type { Interruption } from '../../../src/features/webhooks/model.js'
import { countDue } from '../../../workers/operate/stats.js'
import { listDeliveries } from '../../../workers/deliveries/read/find-deliveries.js'
import { findInterruption, resumeUrl } from '../../../workers/deliveries/endpoints.js'

const schedule = [0, 100, 3_600_000]
const isOver = (r: Rig) => r.pool.query("UPDATE ledger.webhook_endpoints SET paused_until = now() - interval '1 s'")
const makeDue = (r: Rig) =>
  r.pool.query("UPDATE ledger.webhook_deliveries SET next_attempt_at = now() WHERE status = 'scheduled'")

/** As soon as there is one: it is noted after the outcome. */
async function interruption (r: Rig, url: string): Promise<Interruption> {
  let found: Interruption | undefined
  await eventually(async () => (found = await findInterruption(r.pool, '1', url)) !== undefined)
  if (!found) throw new Error('there is one')
  return found
}

onEachQueue(t, {
  async 'after a 429 nothing goes to the endpoint for a minute; others of its user go on' (t, redis) {
    const r = await deliveryRig(t, { redis, schedule })
    const limited = await receiver(t, (response, received, count) =>
      answers(count <= 10 ? 429 : 200)(response, received, count))
    const other = await receiver(t)
    await r.tell(assistantTo(limited.url, 1), ...callsOf(1, 40))
    await eventually(async () => (await r.attempts()).filter(({ outcome }) => outcome === 'rejected').length === 10)
    const { state, reason, until } = await interruption(r, limited.url)
    t.match({ state, reason }, { state: 'paused', reason: 'too_many_requests' })
    const inMs = Date.parse(until ?? '') - Date.now()
    t.ok(inMs > 40_000 && inMs <= 61_000, `${inMs} ms`)

    await r.tell(assistantTo(other.url, 2), ...callsOf(2, 5))
    await makeDue(r)
    await r.reconcile()
    await eventually(() => other.received.length === 5)
    t.equal(limited.received.length, 10, 'nothing but what was on its way')
    await eventually(async () => (await countDue(r.pool)).underWay === 0)
    t.match(await countDue(r.pool), { waiting: 0, oldestSeconds: 0 }, 'what a pause puts off is not late')
    t.same(new Set((await r.deliveries()).map(({ failure_count }) => failure_count)), new Set([0]))

    await isOver(r)
    await r.reconcile()
    await settled(r, 'delivered')
    t.equal(limited.received.length, 50)
    t.equal(await findInterruption(r.pool, '1', limited.url), undefined)
  },

  async 'however often it says 429, a delivery is repeated until it is 76 hours old' (t, redis) {
    const r = await deliveryRig(t, { redis, schedule })
    const limited = await receiver(t, answers(429))
    await r.tell(assistantTo(limited.url), ...callsOf(1, 1))
    for (let attempts = 1; attempts <= 5; attempts += 1) {
      await eventually(
        async () => (await r.attempts()).filter(({ outcome }) => outcome === 'rejected').length === attempts
      )
      t.match((await r.deliveries())[0], { status: 'scheduled', failure_count: 0, attempt_count: attempts })
      if (attempts === 5) await r.pool.query("UPDATE ledger.webhook_deliveries SET created_at = now() - interval '77 h'")
      await interruption(r, limited.url)
      await isOver(r)
      await makeDue(r)
      await r.reconcile()
    }
    await settled(r, 'exhausted')
    t.match((await r.deliveries())[0], { status: 'exhausted', reason: 'expired', attempt_count: 6 })
  },

  async 'a 503 pauses for what its Retry-After says, and its user may end that' (t, redis) {
    const r = await deliveryRig(t, { redis, schedule: [0, 60_000] })
    const hook = await receiver(t, (response, received, count) =>
      answers(count === 1 ? 503 : 200, { 'retry-after': '600' })(response, received, count))
    await r.tell(assistantTo(hook.url), ...callsOf(1, 1))
    const paused = await interruption(r, hook.url)
    t.match(paused, { state: 'paused', reason: 'unavailable', since: null })
    const inMs = Date.parse(paused.until ?? '') - Date.now()
    t.ok(inMs > 580_000 && inMs <= 601_000, `${inMs} ms`)
    t.match((await r.deliveries())[0], { status: 'scheduled', failure_count: 1 })
    await r.tell(callCompleted('meanwhile'))
    t.match(await r.reconcile(), { queued: 0 })
    const { items } = await listDeliveries(r.pool, { userId: '1', callId: 'meanwhile' }, { page: 1, perPage: 1 })
    t.match(items, [{ next_attempt_at: paused.until }], 'what is due waits for the end of the pause')
    await inTransaction(r.pool, (tx) => resumeUrl(tx, '1', hook.url))
    await r.reconcile()
    await settled(r, 'delivered')
  }
})
