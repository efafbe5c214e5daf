// A delivery from its first attempt to its end: what is sent, when it is sent again, by hand too, what is recorded, and
// what is removed when its time is over.
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { openPoster } from '../../../workers/deliver/post.js'
import { userSecrets } from '../../../workers/deliver/secrets.js'
import { send } from '../../../workers/deliver/send.js'
import type { Attempt } from '../../../workers/deliveries/claim.js'
import { removeExpired } from '../../../workers/deliveries/retention.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { assistantCreated, assistantTo, assistantUpdated, callCompleted } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver, stringsOf } from '../../support/receivers/receiver.js'
import { deliveryRig, dispatchRig, ended, failedOnce, id, sendTest, settled } from '../../support/workers/delivery-rig.js'
import { answer, ruleRig } from '../../support/workers/sender-rig.js'

const { begin } = await ruleRig(t)

t.test('a failed attempt is made again, with the same id and the same bytes, until it succeeds', async (t) => {
  const r = await deliveryRig(t, {}, await begin())
  const started: boolean[] = []
  const hook = await receiver(t, (response, ...rest) => {
    void r.rows('webhook_due').then(([due]) => {
      started.push(due?.started_at instanceof Date && due.n === rest[1])
      answers(rest[1] < 3 ? 500 : 204)(response, ...rest)
    })
  })
  const input_variables = { big: 9007199254740991, accents: 'é\u2028👋' }
  await r.tell(assistantTo(hook.url), callCompleted('c-1', { input_variables }))
  await settled(r, 'delivered')
  t.equal(hook.received.length, 3)
  t.same(started, [true, true, true], 'each attempt stands in the ledger before its request leaves')
  const secret = new Webhook((await userSecrets(r.pool, r.keys, '1')).secret)
  for (const [index, { headers, body }] of hook.received.entries()) {
    t.equal(headers['webhook-id'], deliveryId('c-1'))
    t.equal(headers['webhook-attempt'], String(index + 1))
    t.match(headers, { 'content-type': 'application/json', 'user-agent': /^Ringledger\// })
    t.notOk('traceparent' in headers)
    t.equal(body.toString(), (await r.deliveries())[0]?.body, 'the stored body, byte for byte')
    t.match(secret.verify(body, stringsOf(headers)), { type: 'call.completed', data: { call_id: 'c-1' } })
  }
  t.same((await r.attempts()).map(({ n, outcome, status_code, trigger }) => [n, outcome, status_code, trigger]), [
    [1, 'rejected', 500, 'schedule'], [2, 'rejected', 500, 'schedule'], [3, 'delivered', 204, 'schedule']
  ])
  t.match((await r.deliveries())[0], { status: 'delivered', attempt_count: 3, failures: 2, due_at: null })
})

t.test('a fault of our own is not counted against the receiver, and waits for a minute at first', async (t) => {
  const r = await deliveryRig(t, { waits: [0] }, await begin())
  const hook = await receiver(t)
  await r.pool.query("INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed) VALUES ('1', 'unknown', '')")
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await eventually(async () => (await r.attempts())[0]?.outcome === 'unknown')
  t.match(await r.delivery(id), { status: 'scheduled', failures: 0, due_in: 60 })
  t.equal(hook.connections(), 0)
})

t.test('a webhook carries the time of Postgres, whatever that of its worker is', async (t) => {
  const r = await begin()
  const hook = await receiver(t)
  await r.add(1, { to: hook.url })
  const [attempt] = (await r.claim(r.worker)).attempts
  const poster = openPoster({ allowCidrs: ['127.0.0.0/8'] })
  t.teardown(() => poster.close())
  const options = { poster, keys: { current: randomBytes(32), previous: [] }, timeoutMs: 2_000, version: '1.0.0' }
  const rules = { allowHttp: true, allowCidrs: ['127.0.0.0/8'] }
  const given = { ...attempt as Attempt, started_at: new Date(7_200_000) }
  await send(given, new AbortController().signal, { pool: r.pool, rules, ...options })
  t.equal(hook.received[0]?.headers['webhook-timestamp'], '7200')
})

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
  for (const [given, user] of [[id, '2'], ['c-1', '1']] as const) t.same(await redeliver(r.pool, given, user), { kind: 'not-found' })
  await r.reconcile()
  await eventually(async () => present.received.length === 2)
  await ended(r, 4)
  t.same((await r.deliveries()).map(({ status }) => status), ['delivered', 'delivered', 'skipped'])
  t.equal(former.received.length, 2)
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

const firstUrl = 'https://hooks.example.com/1'

t.test('old payloads, attempts on demand and notices are removed, but not the row of a call, nor what still waits', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantTo(firstUrl),
    ...['old', 'redelivered', 'young'].map((call) => callCompleted(call)),
    assistantCreated(2),
    callCompleted('off', { assistant_id: 2 })
  )
  await r.end((await r.claim(r.worker)).attempts, answer(200))
  await r.tell(callCompleted('waiting'))
  await redeliver(r.pool, deliveryId('redelivered'), '1')
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, type, user_id, assistant_id, body, status)
    VALUES ('00000000-0000-4000-8000-000000000000', 'webhook.test', '1', 1, '{}', 'exhausted')`)
  await r.pool.query(`
    UPDATE ledger.webhook_deliveries SET created_at = created_at - interval '7 days 1 second'
    WHERE call_id IS DISTINCT FROM 'young'`)
  t.match(await removeExpired(r.pool, 8), { payloads: 0 })
  await r.pool.query(`
    INSERT INTO ledger.webhook_notices (user_id, type, at)
    SELECT '1', 'delivery_exhausted', now() - days * interval '1 day' FROM unnest(ARRAY[91, 89]) days`)
  t.match(await removeExpired(r.pool, 7), { payloads: 2, notices: 1 })
  t.same((await r.deliveries()).map(({ call_id, body }) => [call_id, body !== null]), [
    ['old', false], ['redelivered', true], ['young', true], ['off', false], ['waiting', true]
  ])
  t.match(await r.rows('webhook_due', "trigger = 'manual'"), [{ delivery_id: deliveryId('redelivered') }])
  t.match(await redeliver(r.pool, deliveryId('old'), '1'), { kind: 'refused', why: 'its payload is no longer kept' })
  t.match(await removeExpired(r.pool, 7), { payloads: 0 }, 'nothing is left to remove')
})
