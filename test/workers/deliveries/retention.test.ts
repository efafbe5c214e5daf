// Deliveries, payloads and attempts that are old enough are cancelled or removed, a bounded number at a time.
import t from 'tap'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { removeExpired } from '../../../workers/deliveries/retention.js'
import { assistantCreated, assistantTo, callCompleted, callsOf } from '../../support/events/call-events.js'
import { dispatchRig } from '../../support/workers/delivery-rig.js'
import { answer, ruleRig } from '../../support/workers/sender-rig.js'

const { begin } = await ruleRig(t)

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
