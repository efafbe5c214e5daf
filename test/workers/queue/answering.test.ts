// An endpoint that answers, beside others of its user that hang: it waits for none of them.
import t from 'tap'
import { assistantTo, callsOf } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { deliveryRig } from '../../support/workers/delivery-rig.js'
import { onEachQueue } from '../../support/back-ends/redis.js'

onEachQueue(t, {
  async 'as it answers it gets most of the last slots; two are left for the next one' (t, redis) {
    const r = await deliveryRig(t, { redis, timeoutMs: 60_000 })
    const held: Array<() => void> = []
    const answerAll = () => { for (const answer of held.splice(0)) answer() }
    const hanging = await receiver(t, () => {})
    const hook = await receiver(t, (...asked) => { held.push(() => answers(200)(...asked)) })
    await r.tell(...[1, 2, 3, 4, 5].flatMap((id) => [assistantTo(`${hanging.url}/${id}`, id), ...callsOf(id, 20)]))
    await eventually(() => hanging.received.length === 30)

    await r.tell(assistantTo(hook.url, 6), ...callsOf(6, 40))
    await eventually(() => held.length === 2)
    await r.reconcile()
    t.equal(held.length, 2, 'nobody knows yet that it answers')
    answerAll()
    await eventually(() => held.length === 10)
    await r.tell(assistantTo(`${hook.url}/next`, 7), ...callsOf(7, 1))
    await eventually(() => hook.received.some(({ path }) => path.endsWith('/next')))
    await r.reconcile()
    t.equal(held.length, 11, 'all that an endpoint has at once, and the next one')
    t.equal(hanging.received.length, 30, 'those that hang get no more')

    await eventually(() => {
      answerAll()
      return hook.received.length === 41 && held.length === 0
    })
    await eventually(async () => (await r.deliveries()).filter(({ status }) => status === 'delivered').length === 41)
  }
})
