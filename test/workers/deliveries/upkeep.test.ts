// What days do to the ledger: endpoints that only fail, deliveries that stay held, payloads that are no longer kept.
import t, { type Test } from 'tap'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { resumeUrl, suspend } from '../../../workers/deliveries/endpoints.js'
import { removeExpired } from '../../../workers/deliveries/retention.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { assistantCreated, assistantUpdated, callCompleted } from '../../support/call-events.js'
import { deliveryRig, type Rig } from '../../support/delivery-rig.js'
import { answers, receiver } from '../../support/receiver.js'
import { scratchPostgres } from '../../support/scratch-postgres.js'

const postgres = await scratchPostgres(t)
const rig = (t: Test) => deliveryRig(t, { postgres }, { works: false, enqueues: false, schedule: [0, 3_600_000] })
const on = (url: string) => ({ is_webhook_active: true, webhook_url: url })
const stands = async (r: Rig) => (await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason])
const endpoint = async (r: Rig) => (await r.pool.query('SELECT * FROM ledger.webhook_endpoints ORDER BY id')).rows[0]
const attempt = async (r: Rig, call: string, n = 1) => {
  await r.pool.query("UPDATE ledger.webhook_deliveries SET next_attempt_at = now() WHERE call_id = $1 AND status = 'scheduled'", [call])
  await r.enqueuer.enqueue(['1'])
  const { rows: [{ job_number: jobNumber }] } = await r.pool.query('SELECT job_number FROM ledger.webhook_deliveries WHERE call_id = $1', [call])
  await r.deliver({ deliveryId: deliveryId(call), n, jobNumber })
}
const failingFor = (r: Rig, time: string) => r.pool.query('UPDATE ledger.webhook_endpoints SET failing_since = now() - $1::interval', [time])

t.test('only failures for five days suspend an endpoint, once; what is pending and what comes is held', async (t) => {
  const r = await rig(t)
  const hook = await receiver(t, answers(500))
  await r.tell(assistantCreated(1, on(hook.url)), callCompleted('c-1'), callCompleted('c-2'))
  await attempt(r, 'c-1')
  t.ok((await endpoint(r)).failing_since, 'the first failure is noted')
  await failingFor(r, '4 days 23 hours')
  await attempt(r, 'c-1', 2)
  t.equal((await endpoint(r)).suspended_at, null, 'not before five days are over')
  await failingFor(r, '5 days 1 second')
  await attempt(r, 'c-2')
  t.match(await endpoint(r), { suspended_reason: 'failing', suspended_at: Date })
  await r.tell(callCompleted('c-3'))
  t.same(await stands(r), [['c-1', 'exhausted', 'attempts_used_up'], ['c-2', 'held', 'endpoint_suspended'], ['c-3', 'held', 'endpoint_suspended']])
  t.equal(r.log.lines.filter(({ message }) => message.includes('suspended')).length, 1)
})

t.test('one success in the five days begins them anew, also that of a redelivery; a failed redelivery counts for nothing', async (t) => {
  const r = await rig(t)
  const hook = await receiver(t, answers(500))
  await r.tell(assistantCreated(1, on(hook.url)), callCompleted('c-1'))
  await attempt(r, 'c-1')
  const redeliverAndAttempt = async (n: number) => {
    await redeliver(r.pool, deliveryId('c-1'), '1')
    await r.enqueuer.enqueue(['1'])
    await r.deliver({ deliveryId: deliveryId('c-1'), trigger: 'manual', n, jobNumber: 1 })
  }
  await failingFor(r, '6 days')
  await redeliverAndAttempt(1)
  t.equal((await endpoint(r)).suspended_at, null)
  hook.answer = answers(410)
  await redeliverAndAttempt(2)
  t.match(await endpoint(r), { suspended_at: null }, 'nor does a 410 to it suspend')
  hook.answer = answers(200)
  await redeliverAndAttempt(3)
  t.match(await endpoint(r), { failing_since: null, suspended_at: null })
})

t.test('whoever succeeded just now is not suspended by a failure that began before', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on('https://hooks.example.com/1')), callCompleted('c-1'))
  t.equal(await inTransaction(r.pool, (tx) => suspend(tx, '1', 'failing')), false)
  await failingFor(r, '5 days')
  t.equal(await inTransaction(r.pool, (tx) => suspend(tx, '1', 'failing')), true)
  t.equal(await inTransaction(r.pool, (tx) => suspend(tx, '1', 'gone')), false, 'it is suspended already')
})

t.test('a suspended endpoint resumes by a new URL, by a webhook that is switched on again, and by webhook-resume', async (t) => {
  const ways: Array<[string, (r: Rig) => Promise<unknown>]> = [
    ['a new URL', (r) => r.tell(assistantUpdated(1, { webhook_url: 'https://hooks.example.com/new' }))],
    ['off and on', (r) => r.tell(assistantUpdated(1, { is_webhook_active: false }), assistantUpdated(1, { is_webhook_active: true }))],
    ['resuming', (r) => resumeUrl(r.pool, '1', 'https://hooks.example.com/1')]
  ]
  for (const [name, resume] of ways) {
    const r = await rig(t)
    await r.tell(assistantCreated(1, on('https://hooks.example.com/1')), callCompleted('c-1'))
    await inTransaction(r.pool, (tx) => suspend(tx, '1', 'gone'))
    await r.tell(callCompleted('c-2'))
    t.same((await stands(r)).map(([, status]) => status), ['held', 'held'], name)
    t.equal(await r.enqueuer.enqueue(['1']), 0)
    t.equal(await resumeUrl(r.pool, '2', 'https://hooks.example.com/1'), 0, 'not by another user')
    await resume(r)
    t.same((await stands(r)).map(([, status, reason]) => [status, reason]), [['scheduled', null], ['scheduled', null]], name)
    t.equal(await r.enqueuer.enqueue(['1']), 2, name)
  }
})

t.test('a delivery is cancelled after thirty days of being held; resuming its endpoint starts them again', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on('https://hooks.example.com/1')), callCompleted('c-1'), assistantUpdated(1, { is_webhook_active: false }))
  const age = (time: string) => r.pool.query('UPDATE ledger.webhook_deliveries SET held_at = held_at - $1::interval', [time])
  await age('29 days 23 hours')
  t.equal((await removeExpired({ pool: r.pool, days: 90 })).cancelled, 0)
  await r.tell(assistantUpdated(1, { is_webhook_active: true }))
  await r.tell(assistantUpdated(1, { is_webhook_active: false }))
  await age('2 hours')
  t.equal((await removeExpired({ pool: r.pool, days: 90 })).cancelled, 0)
  await age('30 days')
  t.equal((await removeExpired({ pool: r.pool, days: 90 })).cancelled, 1)
  t.same(await stands(r), [['c-1', 'cancelled', 'held_too_long']])
})

t.test('payloads and attempts go when their days are over, the row of a call stays; what still waits keeps its own', async (t) => {
  const r = await rig(t)
  const hook = await receiver(t)
  await r.tell(assistantCreated(1, on(hook.url)), ...['old', 'redelivered', 'waiting', 'young'].map((call) => callCompleted(call)), assistantCreated(2), callCompleted('off', { assistant_id: 2 }))
  for (const call of ['old', 'redelivered', 'young']) await attempt(r, call)
  await redeliver(r.pool, deliveryId('redelivered'), '1')
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, type, user_id, assistant_id, endpoint_id, body, status)
    VALUES ('00000000-0000-4000-8000-000000000000', 'webhook.test', '1', 1, 1, '{}', 'exhausted')`)
  await r.pool.query("UPDATE ledger.webhook_deliveries SET created_at = created_at - interval '7 days 1 second' WHERE call_id IS DISTINCT FROM 'young'")
  t.match(await removeExpired({ pool: r.pool, days: 8 }), { payloads: 0 })
  t.match(await removeExpired({ pool: r.pool, days: 7 }), { payloads: 2 })
  t.same((await r.deliveries()).map(({ call_id, body }) => [call_id, body !== null]), [['old', false], ['redelivered', true], ['waiting', true], ['young', true], ['off', false]])
  t.same(new Set((await r.attempts()).map(({ delivery_id }) => delivery_id)), new Set([deliveryId('redelivered'), deliveryId('young')]))
  t.match(await redeliver(r.pool, deliveryId('old'), '1'), { kind: 'refused', why: 'its payload is no longer kept' })
  t.match(await removeExpired({ pool: r.pool, days: 7 }), { payloads: 0 }, 'nothing is left to remove')
})

t.test('what is removed is removed in small batches, each its own transaction, and what somebody holds is passed over', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on('https://hooks.example.com/1')), ...Array.from({ length: 1_101 }, (_, index) => callCompleted(`c-${index}`)))
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'delivered', created_at = now() - interval '91 days'")
  const holder = await r.pool.connect()
  t.teardown(() => holder.release())
  await holder.query("BEGIN; SELECT FROM ledger.webhook_deliveries WHERE call_id = 'c-0' FOR SHARE")
  t.match(await removeExpired({ pool: r.pool, days: 90 }), { payloads: 1_100 })
  const { rows } = await r.pool.query('SELECT count(*)::integer AS size FROM ledger.webhook_deliveries WHERE body IS NULL GROUP BY xmin::text ORDER BY size')
  t.same(rows, [{ size: 100 }, { size: 500 }, { size: 500 }])
  await holder.query('COMMIT')
  t.match(await removeExpired({ pool: r.pool, days: 90 }), { payloads: 1 })
})

t.test('one pass removes ten thousand at most, the next one goes on', async (t) => {
  const r = await rig(t)
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, position, last_position, body, status, created_at)
    SELECT gen_random_uuid(), 'c-' || n, 'call.completed', '1', 1, n, n, '{}', 'exhausted', now() - interval '91 days' FROM generate_series(1, 10001) n`)
  t.match(await removeExpired({ pool: r.pool, days: 90 }), { payloads: 10_000 })
  t.match(await removeExpired({ pool: r.pool, days: 90 }), { payloads: 1 })
})
