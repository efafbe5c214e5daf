// Bodies in flight are counted in bytes: attempts beyond the budget wait before they start.
import t from 'tap'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { receiver } from '../../support/receivers/receiver.js'
import { deliveryRig, settled } from '../../support/workers/delivery-rig.js'

t.test('a worker never sends more bodies at once than its budget holds, and sends all of them', async (t) => {
  const bodyBytes = 700_000 // two of 200 KB, and not a third: one that has not started counts 256 KiB
  const r = await deliveryRig(t, { bodyBytes })
  let [inFlight, most] = [0, 0]
  const hook = await receiver(t, (response) => {
    most = Math.max(most, ++inFlight)
    setTimeout(() => {
      inFlight -= 1
      response.end()
    }, 100)
  })
  const input_variables = { large: 'x'.repeat(220_000) }
  const calls = Array.from({ length: 8 }, (_, n) => callCompleted(`c-${n}`, { input_variables }))
  await r.tell(assistantTo(hook.url), ...calls)
  await settled(r, 'delivered')
  t.equal(hook.received.length, 8)
  t.equal(most, 2)
})
