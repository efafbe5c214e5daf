// Attempts on demand are as durable as those of the schedule, and do not change it.
import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { redeliver, sendTest, perMinute, type TestTarget } from '../../../workers/operate/redeliver.js'
import { finishOnDemandAttempt, startOnDemandAttempt } from '../../../workers/deliveries/on-demand-attempts.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { suspend } from '../../../workers/deliveries/endpoints.js'
import { assistantCreated, assistantUpdated, callCompleted } from '../../support/call-events.js'
import { deliveryRig, type BackEnds, type Rig, type RigOptions } from '../../support/delivery-rig.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver, type Receiver } from '../../support/receiver.js'
import { noRedis, scratchRedis } from '../../support/redis.js'
import { scratchPostgres } from '../../support/scratch-postgres.js'
import { webhookProblems } from '../../support/webhook-schemas.js'

const postgres = await scratchPostgres(t)
const id = deliveryId('c-1')
const assistant = (hook: Receiver, id = 1, user = '1') => assistantCreated(id, { is_webhook_active: true, webhook_url: hook.url }, user)
const target = (hook: Receiver, id = 1): TestTarget => ({ userId: '1', assistant: { id, name: 'Front desk' }, url: hook.url })
const attemptsOf = async (r: Rig) => (await r.attempts()).map(({ trigger, n, outcome }) => [trigger, n, outcome])
const row = async (r: Rig, delivery = id) => (await r.deliveries()).find((each) => each.id === delivery) ?? {}
const ended = (r: Rig, count: number) => eventually(async () => (await r.attempts()).filter(({ outcome }) => outcome !== null).length === count)

/** A rig with one delivery that was tried once, and failed. */
async function failedOnce (t: Test, backEnds: BackEnds, options: RigOptions = {}) {
  const r = await deliveryRig(t, backEnds, { schedule: [0, 3_600_000], ...options })
  const hook = await receiver(t, answers(500))
  await r.tell(assistant(hook), callCompleted('c-1'))
  await ended(r, 1)
  return { r, hook }
}

t.test('on Postgres', async (t) => onBackEnd(t, { postgres }))
t.test('on Redis', { skip: noRedis() }, async (t) => onBackEnd(t, { postgres, redis: await scratchRedis(t) }))

async function onBackEnd (t: Test, backEnds: BackEnds): Promise<void> {
  await t.test('a redelivery that fails leaves the schedule as it was, one that succeeds makes the delivery delivered', async (t) => {
    const { r, hook } = await failedOnce(t, backEnds)
    const before = await row(r)
    t.match(await redeliver(r.pool, id, '1'), { kind: 'accepted', delivery: { id, status: 'scheduled', attempts: [{ trigger: 'schedule' }, { trigger: 'manual', n: 1, started_at: null, outcome: null }] } })
    await r.reconcile()
    await ended(r, 2)
    t.same(await row(r), before)
    hook.answer = answers(204)
    await redeliver(r.pool, id, '1')
    await r.reconcile()
    await eventually(async () => (await row(r)).status === 'delivered')
    t.match(await row(r), { attempt_count: 1, failure_count: 1, next_attempt_at: null, queued_at: null, reason: null })
    t.same(await attemptsOf(r), [['schedule', 1, 'rejected'], ['manual', 1, 'rejected'], ['manual', 2, 'delivered']])
    const [first, ...others] = hook.received
    for (const { headers, body } of others) t.same([headers['webhook-id'], body], [id, first?.body])
  })

  await t.test('an emptied queue and a worker that died lose no redelivery', async (t) => {
    const { r, hook } = await failedOnce(t, backEnds, { timeoutMs: 200, works: true })
    await r.queue.stopWork(1_000, () => {})
    hook.answer = answers(200)
    await redeliver(r.pool, id, '1')
    await r.enqueuer.enqueue(['1'])
    await r.emptyQueue()
    t.match(await r.reconcile(), { lost: 1, queued: 1 })
    t.ok(await startOnDemandAttempt(r.pool, { deliveryId: id, n: 1, jobNumber: 2 }, 'manual', randomUUID()), 'a worker starts it and dies')
    await eventually(async () => (await r.reconcile()).unknown === 1)
    r.queue.work(r.deliver, 5)
    await eventually(async () => await r.reconcile() && (await row(r)).status === 'delivered')
    t.same(await attemptsOf(r), [['schedule', 1, 'rejected'], ['manual', 1, 'unknown'], ['manual', 2, 'delivered']])
    t.equal(hook.received.length, 2)
  })

  await t.test('a test is one signed request; when it fails it is over, and nothing else changes', async (t) => {
    const { r, hook } = await failedOnce(t, backEnds)
    const before = await row(r)
    const result = await sendTest(r.pool, target(hook))
    if (result.kind !== 'accepted') throw new Error(result.kind)
    t.match(result.delivery, { type: 'webhook.test', call_id: null, assistant_id: 1, status: 'scheduled', next_attempt_at: null, attempts: [{ trigger: 'test', n: 1, started_at: null }] })
    await r.tell(assistantUpdated(1, { is_webhook_active: false }), assistantUpdated(1, { is_webhook_active: true }))
    await r.reconcile()
    await ended(r, 2)
    t.match(await row(r, result.delivery.id), { status: 'exhausted', reason: 'attempts_used_up' })
    t.same(await row(r), before)
    t.match(hook.received[1]?.headers, { 'webhook-id': result.delivery.id, 'webhook-attempt': '1', 'webhook-signature': /^v1,/ })
    t.same(webhookProblems(hook.received[1]?.body ?? ''), [])
    t.match(JSON.parse(hook.received[1]?.body.toString() ?? ''), { type: 'webhook.test', data: { assistant: { id: 1, name: 'Front desk' } } })
    t.same(await r.reconcile(), { unknown: 0, lost: 0, queued: 0 })
  })
}

t.test('of many workers with the same job one makes the attempt, and a stale one makes none', async (t) => {
  const { r, hook } = await failedOnce(t, { postgres })
  await r.queue.stopWork(1_000, () => {})
  await redeliver(r.pool, id, '1')
  await r.enqueuer.enqueue(['1'])
  const deliver = (jobNumber: number, given: object = {}) => r.deliver({ deliveryId: id, trigger: 'manual', n: 1, jobNumber, ...given })
  await Promise.all([deliver(0), deliver(2), deliver(1, { n: 2 }), deliver(1, { trigger: 'test' })])
  t.equal(hook.received.length, 1, 'a stale one starts nothing')
  await Promise.all([1, 1, 1, 1, 1].map((jobNumber) => deliver(jobNumber)))
  t.equal(hook.received.length, 2, 'one of the schedule, one on demand')
})

t.test('a worker that was given up and comes back can only deliver', async (t) => {
  const { r } = await failedOnce(t, { postgres }, { timeoutMs: 100 })
  await r.queue.stopWork(1_000, () => {})
  await redeliver(r.pool, id, '1')
  await r.enqueuer.enqueue(['1'])
  const frozen = await startOnDemandAttempt(r.pool, { deliveryId: id, n: 1, jobNumber: 1 }, 'manual', randomUUID())
  if (!frozen) throw new Error('it started')
  await eventually(async () => (await r.reconcile()).unknown === 1)
  const finish = (outcome: 'delivered' | 'rejected') => finishOnDemandAttempt(r.pool, frozen, { outcome, statusCode: 200, durationMs: 1, error: null, excerpt: '', truncated: false }, 0)
  t.equal(await finish('rejected'), false)
  t.equal(await finish('delivered'), true)
  t.equal(await finish('delivered'), false)
  t.match(await row(r), { status: 'delivered' })
})

t.test('an attempt that is handed over while its worker stops is inserted once more, and due at once', async (t) => {
  const { r, hook } = await failedOnce(t, { postgres })
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

t.test('what is held, exhausted or cancelled can be sent again, to the URL of the assistant as it is now', async (t) => {
  const r = await deliveryRig(t, { postgres }, { schedule: [0] })
  const [former, present] = [await receiver(t, answers(500)), await receiver(t)]
  await r.tell(assistant(former), callCompleted('c-1'), callCompleted('c-2'))
  await ended(r, 2)
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'cancelled', reason = 'gone' WHERE call_id = 'c-2'")
  await r.tell(assistantUpdated(1, { is_webhook_active: false }), callCompleted('c-off'), assistantUpdated(1, { is_webhook_active: true, webhook_url: present.url }))
  await r.tell(assistantUpdated(1, { is_webhook_active: false }))
  t.same((await r.deliveries()).map(({ status }) => status), ['exhausted', 'cancelled', 'skipped'])
  for (const call of ['c-1', 'c-2']) t.match(await redeliver(r.pool, deliveryId(call), '1'), { kind: 'accepted' })
  t.same(await redeliver(r.pool, deliveryId('c-off'), '1'), { kind: 'refused', why: 'it was never to be sent: webhook_off' })
  await r.reconcile()
  await eventually(async () => present.received.length === 2)
  await ended(r, 4)
  t.same((await r.deliveries()).map(({ status }) => status), ['delivered', 'delivered', 'skipped'])
  t.equal(former.received.length, 2)
})

t.test('a delivery that is held because the webhook was switched off is delivered by a redelivery alone', async (t) => {
  const { r, hook } = await failedOnce(t, { postgres })
  await r.tell(assistantUpdated(1, { is_webhook_active: false }))
  t.match(await row(r), { status: 'held', reason: 'webhook_off' })
  hook.answer = answers(200)
  await redeliver(r.pool, id, '1')
  await r.reconcile()
  await eventually(async () => (await row(r)).status === 'delivered')
  t.match(await row(r), { reason: null, held_at: null })
})

t.test('without a payload, an address or an owner no attempt is inserted', async (t) => {
  const { r, hook } = await failedOnce(t, { postgres })
  for (const [given, user] of [[id, '2'], [randomUUID(), '1'], ['c-1', '1'], ['', '1'], [`${id}0`, '1']]) t.same(await redeliver(r.pool, given ?? '', user), { kind: 'not-found' })
  await r.tell(assistantUpdated(1, { is_webhook_active: false, webhook_url: null }))
  t.same(await redeliver(r.pool, id, '1'), { kind: 'refused', why: 'its assistant has no webhook_url' })
  await r.tell(assistantUpdated(1, { is_webhook_active: true, webhook_url: hook.url }))
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'exhausted', next_attempt_at = NULL, body = NULL")
  t.same(await redeliver(r.pool, id, '1'), { kind: 'refused', why: 'its payload is no longer kept' })
  t.equal((await r.attempts()).length, 1)
})

t.test('ten a minute of each assistant and kind, counted for all processes together', async (t) => {
  const { r, hook } = await failedOnce(t, { postgres })
  await r.queue.stopWork(1_000, () => {})
  const kinds = async (results: Array<ReturnType<typeof sendTest>>) => (await Promise.all(results)).map(({ kind }) => kind).sort()
  const most = [...Array(perMinute).fill('accepted'), 'too-many', 'too-many', 'too-many']
  t.same(await kinds(Array.from({ length: 13 }, () => redeliver(r.pool, id, '1'))), most)
  t.same(await kinds(Array.from({ length: 13 }, () => sendTest(r.pool, target(hook)))), most)
  const late = await sendTest(r.pool, target(hook))
  t.ok(late.kind === 'too-many' && late.retryInSeconds > 30 && late.retryInSeconds <= 60)
  t.match(await sendTest(r.pool, target(hook, 2)), { kind: 'accepted' }, 'another assistant has its own')
  t.match(await redeliver(r.pool, id), { kind: 'accepted' }, 'operators are not counted')
  await r.pool.query("UPDATE ledger.webhook_attempts SET due_at = due_at - interval '1 minute' WHERE trigger = 'test'")
  t.match(await sendTest(r.pool, target(hook)), { kind: 'accepted' })
})

t.test('attempts on demand take slots like others, and take them first', async (t) => {
  const r = await deliveryRig(t, { postgres }, { works: false, enqueues: false })
  const hook = await receiver(t)
  await r.tell(assistant(hook), ...Array.from({ length: 12 }, (_, index) => callCompleted(`c-${index}`)))
  for (let count = 0; count < 4; count++) await redeliver(r.pool, id, '1')
  t.equal(await r.enqueuer.enqueue(['1']), 10)
  t.equal([...await r.queue.ids()].filter((job) => job.includes('manual')).length, 4)
  t.equal(await r.enqueuer.enqueue(['1']), 0)
  await r.deliver({ deliveryId: id, trigger: 'manual', n: 1, jobNumber: 1 })
  t.ok(await eventually(async () => (await r.deliveries()).filter(({ queued_at }) => queued_at !== null).length === 7), 'a slot that became free is taken')
})

t.test('a suspended endpoint resumes by a test that succeeds, and not by a test that fails', async (t) => {
  const { r, hook } = await failedOnce(t, { postgres })
  await inTransaction(r.pool, (tx) => suspend(tx, '1', 'gone'))
  await sendTest(r.pool, target(hook))
  await r.reconcile()
  await ended(r, 2)
  t.match(await row(r), { status: 'held', reason: 'endpoint_suspended' })
  hook.answer = answers(200)
  await sendTest(r.pool, target(hook))
  await r.reconcile()
  await ended(r, 3)
  t.match(await row(r), { status: 'scheduled', reason: null, held_at: null })
  t.match((await r.pool.query('SELECT * FROM ledger.webhook_endpoints')).rows, [{ suspended_at: null, failing_since: null }])
})
