// Bodies in flight are counted in bytes: attempts beyond the budget wait before they start.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { BodyBudget } from '../../../workers/deliver/body-budget.js'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { receiver } from '../../support/receivers/receiver.js'
import { deliveryRig, settled } from '../../support/workers/delivery-rig.js'

t.test('what does not fit waits for its turn, and what came later does not pass it', async (t) => {
  const budget = new BodyBudget(10)
  const first = await budget.acquire(6)
  const given: string[] = []
  const ask = async (name: string, bytes: number) => {
    const hold = await budget.acquire(bytes)
    given.push(name)
    return hold
  }
  const [large, small] = [ask('large', 8), ask('small', 2)]
  await turn()
  t.same(given, [])
  first.resize(2)
  await turn()
  t.same(given, ['large'], 'a body that is shorter than was feared makes room')
  first.release()
  await small
  t.same(given, ['large', 'small'])
  ;(await large).release()
})

t.test('a body that is larger than the budget comes alone', async (t) => {
  const budget = new BodyBudget(10)
  const first = await budget.acquire(1)
  const huge = budget.acquire(100)
  const later = budget.acquire(1)
  first.release()
  const hold = await huge
  hold.resize(200)
  hold.release()
  await t.resolves(later)
})

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
