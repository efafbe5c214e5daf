// Deployments that share a Redis.
import t from 'tap'
import { assistantTo, callsOf } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { receiver } from '../../support/receivers/receiver.js'
import { deliveryRig } from '../../support/workers/delivery-rig.js'

t.test('two deployments on one Redis do not take each other\u2019s jobs', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  const deployments = [await deliveryRig(t, { redis }), await deliveryRig(t, { redis })]
  const hooks = await Promise.all(deployments.map(async (rig) => {
    const hook = await receiver(t)
    await rig.tell(assistantTo(hook.url), ...callsOf(1, 40))
    return hook
  }))
  await eventually(async () => hooks.every(({ received }) => received.length >= 40))
  t.same(hooks.map(({ received }) => received.length), [40, 40], 'at once, without a reconciler')
})
