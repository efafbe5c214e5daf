// Redeliveries and tests by hand: what they may send, and how many, without changing the schedule.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { assistantTo, assistantUpdated, callCompleted } from '../../support/events/call-events.js'
import { deliveryRig, ended, failedOnce, id, sendTest } from '../../support/workers/delivery-rig.js'
import { ruleRig } from '../../support/workers/sender-rig.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'

const { begin } = await ruleRig(t)

t.test('a held, exhausted or cancelled delivery can be sent again, to the present URL of the assistant', async (t) => {
  const r = await deliveryRig(t, { waits: [0] }, await begin())
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

t.test('without a payload, an address or an owner no attempt is inserted', async (t) => {
  const { r, hook } = await failedOnce(t, {}, await begin())
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
  const { r, hook } = await failedOnce(t, {}, await begin())
  const kinds = async (results: Array<ReturnType<typeof sendTest>>) =>
    (await Promise.all(results)).map(({ kind }) => kind).sort()
  const most = [...Array(10).fill('accepted'), 'too-many', 'too-many', 'too-many']
  t.same(await kinds(Array.from({ length: 13 }, () => redeliver(r.pool, id, '1'))), most)
  t.same(await kinds(Array.from({ length: 13 }, () => sendTest(r))), most)
  const late = await sendTest(r)
  t.ok(late.kind === 'too-many' && late.retryInSeconds > 30 && late.retryInSeconds <= 60)
  await r.tell(assistantTo(hook.url, 2))
  t.match(await sendTest(r, 2), { kind: 'accepted' }, 'another assistant has its own')
  t.match(await redeliver(r.pool, id), { kind: 'accepted' }, 'operators are not counted')
  await r.pool.query("UPDATE ledger.webhooks SET test_asked = ARRAY(SELECT unnest(test_asked) - interval '1 minute')")
  t.match(await sendTest(r), { kind: 'accepted' })
})
