// Attempts on demand are as durable as those of the schedule.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { finishOnDemandAttempt, startOnDemandAttempt } from '../../../workers/deliveries/attempts/on-demand.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { suspend } from '../../../workers/deliveries/endpoints.js'
import { assistantTo, callCompleted, callsOf } from '../../support/events/call-events.js'
import { deliveryRig, attemptsOf, ended, failedOnce, id, row, sendTest } from '../../support/workers/delivery-rig.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'

t.test('of many workers with the same job one makes the attempt, and a stale one makes none', async (t) => {
  const { r, hook } = await failedOnce(t)
  await r.queue.stopWork(1_000, () => {})
  await redeliver(r.pool, id, '1')
  await r.enqueuer.enqueue(['1'])
  const deliver = (jobNumber: number, given: object = {}) =>
    r.deliver({ deliveryId: id, trigger: 'manual', n: 1, jobNumber, ...given })
  await Promise.all([deliver(0), deliver(2), deliver(1, { n: 2 }), deliver(1, { trigger: 'test' })])
  t.equal(hook.received.length, 1, 'a stale one starts nothing')
  await Promise.all([1, 1, 1, 1, 1].map((jobNumber) => deliver(jobNumber)))
  t.equal(hook.received.length, 2, 'one of the schedule, one on demand')
})

t.test('a worker that comes back after its attempt was closed can only deliver', async (t) => {
  const { r } = await failedOnce(t, { timeoutMs: 100 })
  await r.queue.stopWork(1_000, () => {})
  await redeliver(r.pool, id, '1')
  await r.enqueuer.enqueue(['1'])
  const frozen = await startOnDemandAttempt(r.pool, { deliveryId: id, n: 1, jobNumber: 1 }, 'manual', randomUUID())
  if (!frozen) throw new Error('it started')
  await eventually(async () => (await r.reconcile()).unknown === 1)
  const result = { statusCode: 200, durationMs: 1, error: null, excerpt: '', truncated: false }
  const finish = (outcome: 'delivered' | 'rejected') => finishOnDemandAttempt(r.pool, frozen, { outcome, ...result }, 0)
  t.equal(await finish('rejected'), false)
  t.equal(await finish('delivered'), true)
  t.equal(await finish('delivered'), false)
  t.match(await row(r), { status: 'delivered' })
})

t.test('an attempt that its stopping worker hands over is inserted once more, and due at once', async (t) => {
  const { r, hook } = await failedOnce(t)
  await r.queue.stopWork(1_000, () => {})
  hook.answer = () => {}
  await redeliver(r.pool, id, '1')
  await r.enqueuer.enqueue(['1'])
  const running = r.deliver({ deliveryId: id, trigger: 'manual', n: 1, jobNumber: 1 })
  await eventually(() => hook.received.length === 2)
  r.hurry.abort(new Error('stop'))
  await running
  t.same(await attemptsOf(r), [['schedule', 1, 'rejected'], ['manual', 1, 'unknown'], ['manual', 2, null]])
  t.ok(await eventually(async () => (await r.attempts())[2]?.job_number === 1), 'and queued')
})

t.test('an attempt that has ended stands among those of the schedule, and its queue is empty', async (t) => {
  const { r } = await failedOnce(t)
  for (const attempts of [2, 3]) {
    await redeliver(r.pool, id, '1')
    await r.enqueuer.enqueue(['1'])
    await ended(r, attempts)
  }
  const { rows } = await r.pool.query('SELECT trigger, n FROM ledger.webhook_attempts ORDER BY started_at')
  t.same(rows, [{ trigger: 'schedule', n: 1 }, { trigger: 'manual', n: 1 }, { trigger: 'manual', n: 2 }])
  t.equal((await r.pool.query('SELECT FROM ledger.webhook_attempts_on_demand')).rowCount, 0)
})

t.test('attempts on demand take slots like others, and take them first', async (t) => {
  const r = await deliveryRig(t, { works: false, enqueues: false })
  const hook = await receiver(t)
  await r.tell(assistantTo(hook.url), ...callsOf(1, 11), callCompleted('c-1'))
  for (let count = 0; count < 4; count++) await redeliver(r.pool, id, '1')
  t.equal(await r.enqueuer.enqueue(['1']), 10)
  t.equal([...await r.queue.ids()].filter((job) => job.includes('manual')).length, 4)
  t.equal(await r.enqueuer.enqueue(['1']), 0)
  await r.deliver({ deliveryId: id, trigger: 'manual', n: 1, jobNumber: 1 })
  const queued = async () => (await r.deliveries()).filter(({ queued_at }) => queued_at !== null).length
  t.ok(await eventually(async () => await queued() === 7), 'a slot that became free is taken')
})

t.test('a suspended endpoint resumes by a test that succeeds, and not by a test that fails', async (t) => {
  const { r, hook } = await failedOnce(t)
  await inTransaction(r.pool, (tx) => suspend(tx, '1', 'gone'))
  await sendTest(r, hook)
  await r.reconcile()
  await ended(r, 2)
  t.match(await row(r), { status: 'held', reason: 'endpoint_suspended' })
  hook.answer = answers(200)
  await sendTest(r, hook)
  await r.reconcile()
  await ended(r, 3)
  t.match(await row(r), { status: 'scheduled', reason: null, held_at: null })
  const { rows } = await r.pool.query('SELECT * FROM ledger.webhook_endpoints')
  t.match(rows, [{ suspended_at: null, failing_since: null }])
})
