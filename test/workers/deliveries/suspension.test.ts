// Endpoints that only fail are suspended, their deliveries are held, and an endpoint resumes in several ways.
import t from 'tap'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { resumeUrl, suspend } from '../../../workers/deliveries/endpoints.js'
import { listNotices } from '../../../workers/deliveries/notices.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { assistantTo, assistantUpdated, callCompleted, callsOf } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { deliveryRig, statuses, type Rig, attempt, idleRig, stands } from '../../support/workers/delivery-rig.js'
import { answers, receiver } from '../../support/receivers/receiver.js'

const firstUrl = 'https://hooks.example.com/1'
const endpoint = async (r: Rig) => (await r.pool.query('SELECT * FROM ledger.webhook_endpoints ORDER BY id')).rows[0]
const failingFor = (r: Rig, time: string) => r.pool.query(`
  UPDATE ledger.webhook_endpoints SET failing_since = now() - $1::interval`, [time])

t.test('only failures for five days suspend an endpoint, once; pending and later deliveries are held', async (t) => {
  const r = await idleRig(t)
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'), callCompleted('c-2'))
  await attempt(r, 'c-1')
  t.ok((await endpoint(r)).failing_since, 'the first failure is noted')
  await failingFor(r, '4 days 23 hours')
  await attempt(r, 'c-1', 2)
  t.equal((await endpoint(r)).suspended_at, null, 'not before five days are over')
  await failingFor(r, '5 days 1 second')
  await attempt(r, 'c-2')
  t.match(await endpoint(r), { suspended_reason: 'failing', suspended_at: Date })
  await r.tell(callCompleted('c-3'))
  t.same(await stands(r), [
    ['c-1', 'exhausted', 'attempts_used_up'],
    ['c-2', 'held', 'endpoint_suspended'],
    ['c-3', 'held', 'endpoint_suspended']
  ])
  t.equal(r.log.lines.filter(({ message }) => message.includes('suspended')).length, 1)
})

t.test('what was on its way as the endpoint was suspended does not make it begin to fail', async (t) => {
  const r = await deliveryRig(t, { timeoutMs: 60_000, schedule: [0, 3_600_000] })
  const open: Array<(status: number) => void> = []
  const hook = await receiver(t, (...asked) => { open.push((status) => { answers(status)(...asked) }) })
  await r.tell(assistantTo(hook.url), ...callsOf(1, 5))
  await eventually(() => open.length === 5)
  open.shift()?.(410)
  await eventually(async () => (await endpoint(r)).suspended_at !== null)
  for (const answer of open) answer(500)
  await eventually(async () => (await r.queue.ids()).size === 0)
  const { items: notices } = await listNotices(r.pool, '1', { page: 1, perPage: 100 })
  t.same(notices.map(({ type }) => type), ['endpoint_suspended'])
})

t.test('any success begins the five days anew; a failed redelivery does not count', async (t) => {
  const r = await idleRig(t)
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
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

t.test('an endpoint that has just succeeded is not suspended by a failure that began before', async (t) => {
  const r = await idleRig(t)
  await r.tell(assistantTo(firstUrl), callCompleted('c-1'))
  t.equal(await inTransaction(r.pool, (tx) => suspend(tx, '1', 'failing')), false)
  await failingFor(r, '5 days')
  t.equal(await inTransaction(r.pool, (tx) => suspend(tx, '1', 'failing')), true)
  t.equal(await inTransaction(r.pool, (tx) => suspend(tx, '1', 'gone')), false, 'it is suspended already')
})

t.test('an endpoint resumes by a new URL, by switching its webhook on again, and by webhook-resume', async (t) => {
  const ways: Array<[string, (r: Rig) => Promise<unknown>]> = [
    ['a new URL', (r) => r.tell(assistantUpdated(1, { webhook_url: 'https://hooks.example.com/new' }))],
    [
      'off and on',
      (r) => r.tell(...[false, true].map((is_webhook_active) => assistantUpdated(1, { is_webhook_active })))
    ],
    ['resuming', (r) => inTransaction(r.pool, (tx) => resumeUrl(tx, '1', firstUrl))]
  ]
  for (const [name, resume] of ways) {
    const r = await idleRig(t)
    await r.tell(assistantTo(firstUrl), callCompleted('c-1'))
    await inTransaction(r.pool, (tx) => suspend(tx, '1', 'gone'))
    await r.tell(callCompleted('c-2'))
    t.same((await stands(r)).map(([, status]) => status), ['held', 'held'], name)
    t.equal(await r.enqueuer.enqueue(['1']), 0)
    t.equal(await inTransaction(r.pool, (tx) => resumeUrl(tx, '2', firstUrl)), 0, 'not by another user')
    await resume(r)
    t.same(statuses(await r.deliveries()), [['scheduled', null], ['scheduled', null]], name)
    t.equal(await r.enqueuer.enqueue(['1']), 2, name)
  }
})
