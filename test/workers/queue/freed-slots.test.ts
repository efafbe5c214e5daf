// What the end of an attempt costs: a look whether anything else of its user is due, and no more while nothing is.
import t from 'tap'
import { dueOf } from '../../../workers/queue/slots.js'
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
