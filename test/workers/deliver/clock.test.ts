// Which clock signs.
import t from 'tap'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { clockOf } from '../../support/postgres/clock.js'
import { receiver } from '../../support/receivers/receiver.js'
import { deliveryRig, settled } from '../../support/workers/delivery-rig.js'

t.test('a webhook carries the time of Postgres, and a worker whose clock differs says so', async (t) => {
  const r = await deliveryRig(t)
  const hook = await receiver(t)
  const warned = () => r.log.lines.filter(({ message }) => message.includes('the clock of this worker'))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await settled(r, 'delivered')
  t.strictSame(warned(), [], 'they agree')
  const clock = await clockOf(r.pool)
  await clock.pass('1 hour')
  await r.tell(callCompleted('c-2'))
  await eventually(() => hook.received.length === 2)
  const [first, second] = hook.received.map(({ headers }) => Number(headers['webhook-timestamp']))
  const seconds = (second ?? 0) - (first ?? 0)
  t.ok(seconds >= 3_600 && seconds < 3_700, `${seconds} s later`)
  t.equal(warned().length, 1)
})
