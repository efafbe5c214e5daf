// Redeliveries and tests by hand: what they may send, and how many, without changing the schedule.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { assistantTo, assistantUpdated, callCompleted } from '../../support/events/call-events.js'
import { deliveryRig, attemptsOf, ended, failedOnce, id, row, sendTest } from '../../support/workers/delivery-rig.js'
import { onEachQueue } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { webhookProblems } from '../../support/documents/webhook-schemas.js'

onEachQueue(t, {
  async 'a redelivery that fails leaves the schedule as it was; one that succeeds ends the delivery' (t, redis) {
    const { r, hook } = await failedOnce(t, { redis })
    const before = await row(r)
    const attempts = [{ trigger: 'schedule' }, { trigger: 'manual', n: 1, started_at: null, outcome: null }]
    const delivery = { id, status: 'scheduled', attempts }
    t.match(await redeliver(r.pool, id, '1'), { kind: 'accepted', delivery })
    await r.reconcile()
    await ended(r, 2)
    t.same(await row(r), before)
    hook.answer = answers(204)
    await redeliver(r.pool, id, '1')
    await r.reconcile()
    await eventually(async () => (await row(r)).status === 'delivered')
    t.match(await row(r), { attempt_count: 1, failures: 1, due_at: null, reason: null })
    t.same(await attemptsOf(r), [['schedule', 1, 'rejected'], ['manual', 1, 'rejected'], ['manual', 2, 'delivered']])
    const [first, ...others] = hook.received
    for (const { headers, body } of others) t.same([headers['webhook-id'], body], [id, first?.body])
  },

  async 'a test is one signed request; when it fails it is over, and nothing else changes' (t, redis) {
    const { r, hook } = await failedOnce(t, { redis })
    const before = await row(r)
    const result = await sendTest(r, hook)
    if (result.kind !== 'accepted') throw new Error(result.kind)
    t.match(result.delivery, { type: 'webhook.test', call_id: null, assistant_id: 1, status: 'scheduled' })
    t.match(result.delivery, { next_attempt_at: null, attempts: [{ trigger: 'test', n: 1, started_at: null }] })
    await r.reconcile()
    await ended(r, 2)
    t.match(await row(r, result.delivery.id), { status: 'exhausted', reason: 'attempts_used_up' })
    t.same(await row(r), before)
    t.match(hook.received[1]?.headers, {
      'webhook-id': result.delivery.id, 'webhook-attempt': '1', 'webhook-signature': /^v1,/
    })
    t.same(webhookProblems(hook.received[1]?.body ?? ''), [])
    t.match(JSON.parse(hook.received[1]?.body.toString() ?? ''), {
      type: 'webhook.test', data: { call_id: 'sample', assistant: { id: 1, name: 'Front desk' } }
    })
    t.same((await r.pool.query("SELECT FROM ledger.webhook_due WHERE trigger <> 'schedule'")).rows, [])
  }
})

t.test('a held, exhausted or cancelled delivery can be sent again, to the present URL of the assistant', async (t) => {
  const r = await deliveryRig(t, { waits: [0] })
  const [former, present] = [await receiver(t, answers(500)), await receiver(t)]
  await r.tell(assistantTo(former.url), callCompleted('c-1'), callCompleted('c-2'))
  await ended(r, 2)
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'cancelled', reason = 'gone' WHERE call_id = 'c-2'")
  await r.tell(
    assistantUpdated(1, { is_webhook_active: false }),
    callCompleted('c-off'),
    assistantUpdated(1, { is_webhook_active: true, webhook_url: present.url })
  )
  await r.tell(assistantUpdated(1, { is_webhook_active: false }))
  t.same((await r.deliveries()).map(({ status }) => status), ['exhausted', 'cancelled', 'skipped'])
  for (const call of ['c-1', 'c-2']) t.match(await redeliver(r.pool, deliveryId(call), '1'), { kind: 'accepted' })
  const refused = { kind: 'refused', why: 'it was never to be sent: webhook_off' }
  t.same(await redeliver(r.pool, deliveryId('c-off'), '1'), refused)
  await r.reconcile()
  await eventually(async () => present.received.length === 2)
  await ended(r, 4)
  t.same((await r.deliveries()).map(({ status }) => status), ['delivered', 'delivered', 'skipped'])
  t.equal(former.received.length, 2)
})

t.test('a delivery that is held because the webhook was switched off is delivered by a redelivery alone', async (t) => {
  const { r, hook } = await failedOnce(t)
  await r.tell(assistantUpdated(1, { is_webhook_active: false }))
  t.match(await row(r), { status: 'held', reason: 'webhook_off' })
  hook.answer = answers(200)
  await redeliver(r.pool, id, '1')
  await r.reconcile()
  await eventually(async () => (await row(r)).status === 'delivered')
  t.match(await row(r), { reason: null, due_at: null })
})

t.test('without a payload, an address or an owner no attempt is inserted', async (t) => {
  const { r, hook } = await failedOnce(t)
  for (const [given, user] of [[id, '2'], [randomUUID(), '1'], ['c-1', '1'], ['', '1'], [`${id}0`, '1']]) {
    t.same(await redeliver(r.pool, given ?? '', user), { kind: 'not-found' })
  }
  await r.tell(assistantUpdated(1, { is_webhook_active: false, webhook_url: null }))
  t.same(await redeliver(r.pool, id, '1'), { kind: 'refused', why: 'its assistant has no webhook_url' })
  await r.tell(assistantUpdated(1, { is_webhook_active: true, webhook_url: hook.url }))
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'exhausted', body = NULL")
  t.same(await redeliver(r.pool, id, '1'), { kind: 'refused', why: 'its payload is no longer kept' })
  t.equal((await r.attempts()).length, 1)
})

t.test('ten a minute of each assistant and kind, counted for all processes together', async (t) => {
  const { r, hook } = await failedOnce(t)
  const kinds = async (results: Array<ReturnType<typeof sendTest>>) =>
    (await Promise.all(results)).map(({ kind }) => kind).sort()
  const most = [...Array(10).fill('accepted'), 'too-many', 'too-many', 'too-many']
  t.same(await kinds(Array.from({ length: 13 }, () => redeliver(r.pool, id, '1'))), most)
  t.same(await kinds(Array.from({ length: 13 }, () => sendTest(r, hook))), most)
  const late = await sendTest(r, hook)
  t.ok(late.kind === 'too-many' && late.retryInSeconds > 30 && late.retryInSeconds <= 60)
  t.match(await sendTest(r, hook, 2), { kind: 'accepted' }, 'another assistant has its own')
  t.match(await redeliver(r.pool, id), { kind: 'accepted' }, 'operators are not counted')
  await r.pool.query("UPDATE ledger.webhooks SET test_asked = ARRAY(SELECT unnest(test_asked) - interval '1 minute')")
  t.match(await sendTest(r, hook), { kind: 'accepted' })
})
