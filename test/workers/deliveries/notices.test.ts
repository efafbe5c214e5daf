// What users are told, unasked: endpoints that begin to fail or are suspended, deliveries that are exhausted.
import t from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { resumeUrl, suspend } from '../../../workers/deliveries/endpoints.js'
import { listNotices } from '../../../workers/deliveries/notices.js'
import { removeExpired } from '../../../workers/deliveries/retention.js'
import { probeSuspended } from '../../../workers/operate/upkeep.js'
import { assistantTo, assistantUpdated, callCompleted, callsOf } from '../../support/events/call-events.js'
import { deliveryRig, type Rig, attempt, idleRig } from '../../support/workers/delivery-rig.js'
import { answers, receiver, type Receiver } from '../../support/receivers/receiver.js'

const notices = async (r: Rig) => (await listNotices(r.pool, '1', { page: 1, perPage: 100 })).items
/** The oldest first. */
const told = async (r: Rig) =>
  (await notices(r)).map(({ type, delivery_id, reason }) => [type, delivery_id, reason]).reverse()
const [c1, c2] = [deliveryId('c-1'), deliveryId('c-2')]

t.test('the third failed attempt in a row is told, and no further one until after a success', async (t) => {
  const r = await idleRig(t)
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), ...callsOf(1, 9))
  const [, ...calls] = (await r.deliveries()).map(({ call_id }) => String(call_id))
  const next = async (count = 1) => { for (const call of calls.splice(0, count)) await attempt(r, call) }
  await next(2)
  t.same(await told(r), [])
  await next()
  const third = (await notices(r))[0]
  t.match(third, { id: Number, type: 'endpoint_failing', assistant_id: 1, delivery_id: String, at: /^\d{4}-.*Z$/ })
  await next(2)
  t.equal((await notices(r)).length, 1, 'not again')
  hook.answer = answers(200)
  await next()
  hook.answer = answers(500)
  await next(2)
  t.equal((await notices(r)).length, 1, 'two failures after a success')
})

t.test('a resumed endpoint is told to fail again only after a success, and its five days begin anew', async (t) => {
  const failing = (r: Rig) => r.pool.query('SELECT failures_in_row, failing_since FROM ledger.webhook_endpoints')
    .then(({ rows: [{ failures_in_row: inRow, failing_since: since }] }) => [inRow, since !== null])
  const succeeds = async (r: Rig, hook: Receiver, call: string) => {
    hook.answer = answers(200)
    await attempt(r, call)
    hook.answer = answers(500)
  }
  for (const failsFirst of [true, false]) {
    const r = await idleRig(t)
    const hook = await receiver(t, answers(500))
    await r.tell(assistantTo(hook.url), ...callsOf(1, 8))
    const fail = async (...calls: number[]) => { for (const call of calls) await attempt(r, `call-1-${call}`) }
    await fail(0, 1, 2)
    await inTransaction(r.pool, (tx) => suspend(tx, '1', 'gone'))
    await inTransaction(r.pool, (tx) => resumeUrl(tx, '1', hook.url))
    t.same(await failing(r), [3, false], 'the five days begin with the next failure')
    if (failsFirst) {
      await fail(3)
      t.same(await failing(r), [3, true])
      t.equal((await notices(r)).length, 1, 'not told again without a success')
    }
    await succeeds(r, hook, 'call-1-4')
    t.same(await failing(r), [0, false])
    await fail(5, 6, 7)
    t.same((await notices(r)).map(({ type }) => type), ['endpoint_failing', 'endpoint_failing'])
  }
})

t.test('a delivery that is exhausted is told once, and a suspended endpoint with its reason', async (t) => {
  const r = await idleRig(t)
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'), callCompleted('c-2'))
  await attempt(r, 'c-1')
  await attempt(r, 'c-1', 2)
  t.same(await told(r), [['delivery_exhausted', c1, 'attempts_used_up']])
  hook.answer = answers(410)
  await attempt(r, 'c-2')
  t.same((await told(r)).at(-1), ['endpoint_suspended', c2, 'gone'])
  t.same((await listNotices(r.pool, '2', { page: 1, perPage: 10 })).items, [], 'another user is not told')
})

t.test('notices are kept for 90 days', async (t) => {
  const r = await idleRig(t)
  await r.pool.query(`
    INSERT INTO ledger.webhook_notices (user_id, type, at)
    SELECT '1', 'delivery_exhausted', now() - days * interval '1 day' FROM unnest(ARRAY[91, 89]) days`)
  t.match(await removeExpired(r.pool, 90), { notices: 1 })
  t.equal((await notices(r)).length, 1)
})

t.test('an endpoint that was suspended for failing is probed once a day, and a success resumes it', async (t) => {
  const r = await deliveryRig(t, { enqueues: false, works: false })
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'), callCompleted('c-2'))
  await r.pool.query(
    "UPDATE ledger.webhook_deliveries SET status = 'held', reason = 'endpoint_suspended', held_at = now()"
  )
  const suspended = (reason: string, ago: string) => r.pool.query(`
    UPDATE ledger.webhook_endpoints SET suspended_at = now() - $2::interval, suspended_reason = $1, probed_at = NULL,
                                        failing_since = now() - interval '6 days'`, [reason, ago])
  const probe = async (n: number) => {
    await r.enqueuer.enqueue(['1'])
    await r.deliver({ deliveryId: c1, trigger: 'probe', n, jobNumber: 1 })
  }
  await suspended('gone', '2 days')
  t.equal(await probeSuspended(r.pool), 0, 'not after a 410')
  await suspended('failing', '23 hours')
  t.equal(await probeSuspended(r.pool), 0, 'not before a day is over')
  await suspended('failing', '25 hours')
  t.same([await probeSuspended(r.pool), await probeSuspended(r.pool)], [1, 0], 'one delivery, once a day')
  await probe(1)
  t.equal(hook.received.length, 1)
  t.same((await r.deliveries()).map(({ status }) => status), ['held', 'held'], 'a failure changes nothing')
  hook.answer = answers(200)
  await r.pool.query("UPDATE ledger.webhook_endpoints SET probed_at = now() - interval '25 hours'")
  t.equal(await probeSuspended(r.pool), 1)
  await probe(2)
  t.same((await r.deliveries()).map(({ status }) => status), ['delivered', 'scheduled'])
  t.match((await r.attempts()).map(({ trigger, outcome }) => [trigger, outcome]), [['probe', 'rejected'], ['probe', 'delivered']])
})

t.test('a probe sends nothing of an assistant whose webhook is switched off, nor while its deliveries move', async (t) => {
  const r = await deliveryRig(t, { enqueues: false, works: false })
  const url = 'https://hooks.example.com/shared'
  await r.tell(assistantTo(url, 1), assistantTo(url, 2), ...callsOf(1, 1), ...callsOf(2, 1))
  await r.tell(assistantUpdated(1, { is_webhook_active: false }))
  await r.pool.query(`
    UPDATE ledger.webhook_endpoints SET suspended_at = now() - interval '25 hours', suspended_reason = 'failing'`)
  await r.pool.query(`
    UPDATE ledger.webhook_deliveries SET status = 'held', reason = 'endpoint_suspended', held_at = now() WHERE assistant_id = 2`)
  const due = () => r.pool.query("UPDATE ledger.webhook_endpoints SET probed_at = now() - interval '25 hours'")
  await r.pool.query('INSERT INTO ledger.moving_assistants (assistant_id) VALUES (2)')
  t.equal(await probeSuspended(r.pool), 0, 'one is off, the other one moves')
  await r.pool.query('DELETE FROM ledger.moving_assistants')
  await due()
  t.equal(await probeSuspended(r.pool), 1)
  t.match(await r.attempts(), [{ trigger: 'probe', delivery_id: deliveryId('call-2-0') }])
})
