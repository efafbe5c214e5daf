// What the end of an attempt costs: a look whether anything else of its user is due, and no more while nothing is.
import t from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { dueOf, passOverDue } from '../../../workers/queue/due.js'
import { assistantTo, callsOf } from '../../support/events/call-events.js'
import { deliveryRig } from '../../support/workers/delivery-rig.js'
import { receiver } from '../../support/receivers/receiver.js'

t.test('a slot that becomes free is offered only to users of whom something is due', async (t) => {
  const r = await deliveryRig(t, { works: false, enqueues: false })
  const hook = await receiver(t)
  await r.tell(assistantTo(hook.url, 1, '1'), ...callsOf(1, 2), assistantTo(hook.url, 2, '2'), ...callsOf(2, 1))
  t.strictSame((await dueOf(r.pool, ['1', '2', '3'])).sort(), ['1', '2'])
  const later = "UPDATE ledger.webhook_deliveries SET next_attempt_at = now() + interval '1 hour' WHERE assistant_id = $1"
  await r.pool.query(later, [2])
  t.strictSame(await dueOf(r.pool, ['1', '2', '3']), ['1'])
  t.strictSame(await dueOf(r.pool, ['2']), [])
})

t.test('who has something due is found without reading all that is', async (t) => {
  const r = await deliveryRig(t, { works: false, enqueues: false })
  const hook = await receiver(t)
  await r.tell(assistantTo(hook.url, 1, '1'), ...callsOf(1, 1), assistantTo(hook.url, 2, '2'), ...callsOf(2, 1))
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, position, last_position, endpoint_id, body,
      status, next_attempt_at)
    SELECT gen_random_uuid(), 'more-' || n, type, user_id, assistant_id, 1000 + n, 1000 + n, endpoint_id, body, status,
           next_attempt_at
    FROM ledger.webhook_deliveries CROSS JOIN generate_series(1, 5000) AS n WHERE assistant_id = 1`)
  await r.pool.query('ANALYZE ledger.webhook_deliveries')
  const { users, rows } = await inTransaction(r.pool, async (tx) => {
    const users = await passOverDue(tx)
    const { rows } = await tx.query<{ read: number }>(`
      SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS read FROM pg_stat_xact_user_tables
      WHERE relid = 'ledger.webhook_deliveries'::regclass`)
    return { users, rows }
  })
  t.strictSame(users.sort(), ['1', '2'])
  t.ok((rows[0]?.read ?? Infinity) < 10, `${rows[0]?.read} rows were read`)
})
