// A delivery from its first attempt to its end: what is sent, when it is sent again, by hand too, what is recorded, and
// what is removed when its time is over.
import { randomBytes, randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { seal } from '../../../src/privacy/sealed-text.js'
import { userSecrets } from '../../../workers/deliver/secrets.js'
import { removeExpired } from '../../../workers/deliveries/retention.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { onEachQueue } from '../../support/back-ends/redis.js'
import {
  assistantCreated, assistantTo, assistantUpdated, callCompleted, callsOf
} from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver, stringsOf } from '../../support/receivers/receiver.js'
import { deliveryRig, dispatchRig, ended, failedOnce, id, sendTest, settled } from '../../support/workers/delivery-rig.js'
import { answer, ruleRig } from '../../support/workers/sender-rig.js'

const { begin } = await ruleRig(t)

onEachQueue(t, {
  async 'a failed attempt is made again, with the same id and the same bytes, until it succeeds' (t, redis) {
    const r = await deliveryRig(t, { redis }, await begin())
    const hook = await receiver(t, (response, ...rest) => answers(rest[1] < 3 ? 500 : 204)(response, ...rest))
    const input_variables = { big: 9007199254740991, accents: 'é\u2028👋' }
    await r.tell(assistantTo(hook.url), callCompleted('c-1', { input_variables }))
    await settled(r, 'delivered')
    t.equal(hook.received.length, 3)
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
  },

  async 'an attempt stands in the ledger before its request leaves' (t, redis) {
    const r = await deliveryRig(t, { redis, waits: [0] }, await begin())
    const seen: unknown[] = []
    const hook = await receiver(t, (response, ...rest) => {
      void r.rows('webhook_due').then((rows) => {
        seen.push(...rows.map(({ started_at, delivery_id, n }) => [delivery_id, n, started_at instanceof Date]))
        answers(200)(response, ...rest)
      })
    })
    await r.tell(assistantTo(hook.url), callCompleted('c-1'))
    await settled(r, 'delivered')
    t.same(seen, [[deliveryId('c-1'), 1, true]])
  },

  async 'a fault of our own is not counted against the receiver' (t, redis) {
    const r = await deliveryRig(t, { redis, waits: [0] }, await begin())
    const hook = await receiver(t)
    const { key_id, sealed } = seal({ current: randomBytes(32), previous: [] }, '1', 'whsec_AAAA')
    await r.pool.query(`
      INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed)
      VALUES ('1', $1, decode($2, 'base64'))`, [key_id, sealed])
    await r.tell(assistantTo(hook.url), callCompleted('c-1'))
    await eventually(async () => (await r.attempts())[0]?.outcome === 'unknown')
    t.match((await r.deliveries())[0], { status: 'scheduled', failures: 0 })
    t.equal(hook.connections(), 0)
  }
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

const firstUrl = 'https://hooks.example.com/1'

t.test('old payloads and attempts on demand are removed, but not the row of a call, nor what still waits', async (t) => {
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
  t.match(await removeExpired(r.pool, 7), { payloads: 2 })
  t.same((await r.deliveries()).map(({ call_id, body }) => [call_id, body !== null]), [
    ['old', false], ['redelivered', true], ['young', true], ['off', false], ['waiting', true]
  ])
  t.match(await r.rows('webhook_due', "trigger = 'manual'"), [{ delivery_id: deliveryId('redelivered') }])
  t.match(await redeliver(r.pool, deliveryId('old'), '1'), { kind: 'refused', why: 'its payload is no longer kept' })
  t.match(await removeExpired(r.pool, 7), { payloads: 0 }, 'nothing is left to remove')
})

t.test('rows are removed in small batches, a transaction each; a locked row is left for later', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(assistantTo(firstUrl), ...callsOf(1, 1_101))
  await r.pool.query(`
    UPDATE ledger.webhook_deliveries
    SET status = 'delivered', created_at = now() - interval '91 days'`)
  await r.pool.query('DELETE FROM ledger.webhook_due')
  const holder = await r.pool.connect()
  t.teardown(() => holder.release())
  await holder.query("BEGIN; SELECT FROM ledger.webhook_deliveries WHERE call_id = 'call-1-0' FOR SHARE")
  t.match(await removeExpired(r.pool, 90), { payloads: 1_100 })
  const { rows } = await r.pool.query(`
    SELECT count(*)::integer AS size FROM ledger.webhook_deliveries
    WHERE body IS NULL GROUP BY xmin::text ORDER BY size`)
  t.same(rows, [{ size: 100 }, { size: 500 }, { size: 500 }])
  await holder.query('COMMIT')
  t.match(await removeExpired(r.pool, 90), { payloads: 1 })
})

t.test('one pass removes ten thousand at most, the next one goes on', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, position, last_position, body,
      status, created_at)
    SELECT gen_random_uuid(), 'c-' || n, 'call.completed', '1', 1, n, n, '{}', 'exhausted', now() - interval '91 days'
    FROM generate_series(1, 10001) n`)
  t.match(await removeExpired(r.pool, 90), { payloads: 10_000 })
  t.match(await removeExpired(r.pool, 90), { payloads: 1 })
})

t.test('a webhook carries the time of Postgres, and a worker whose clock differs says so', async (t) => {
  const on = await begin()
  const pool = openPool(on.databaseUrl, { applicationName: 'clock', max: 5, onError: () => {} })
  t.teardown(() => pool.end())
  const r = await deliveryRig(t, {}, { ...on, pool })
  const hook = await receiver(t)
  const warned = () => r.log.lines.filter(({ message }) => message.includes('the clock of this worker'))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await settled(r, 'delivered')
  t.strictSame(warned(), [], 'they agree')
  await on.pool.query(`
    CREATE SCHEMA clock;
    CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS
      $$ SELECT pg_catalog.now() + interval '1 hour' $$;
    CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$`)
  const isAhead = async (client: PoolClient) => { await client.query('SET search_path = clock, pg_catalog, public') }
  Object.assign(r.pool.options, { onConnect: isAhead })
  for (const client of await Promise.all(Array.from({ length: r.pool.totalCount }, () => r.pool.connect()))) {
    await isAhead(client)
    client.release()
  }
  await r.tell(callCompleted('c-2'))
  await eventually(() => hook.received.length === 2)
  const [first, second] = hook.received.map(({ headers }) => Number(headers['webhook-timestamp']))
  const seconds = (second ?? 0) - (first ?? 0)
  t.ok(seconds >= 3_600 && seconds < 3_700, `${seconds} s later`)
  t.equal(warned().length, 1)
})
