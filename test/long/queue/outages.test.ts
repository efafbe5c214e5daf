// The queue resets, refuses and falls silent: a worker goes on by itself, and stops nothing else of its process.
import { setInterval } from 'node:timers'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { deliveryRig, settled, type Rig } from '../../support/workers/delivery-rig.js'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { noRedis, scratchRedis, type ScratchRedis, onEachQueue } from '../../support/back-ends/redis.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { tcpProxy, type TcpProxy } from '../../support/back-ends/tcp-proxy.js'

const patience = { answerWithinMs: 1_000, askEveryMs: 100, deadAfterMs: 800 }

/** A job that was taken by a connection that died is given up after 10 to 20 s. */
const withinMs = 60_000

onEachQueue(t, {
  async 'after first connections that were reset it works as soon as one is not' (t, redis) {
    const { proxy, rig } = await behindProxy(t, redis, (proxy) => proxy.reset())
    let ticks = 0
    const ticking = setInterval(() => { ticks += 1 }, 10)
    t.teardown(() => clearInterval(ticking))
    const hook = await receiver(t)
    const before = proxy.connections
    await eventually(() => proxy.connections > before + 2)
    t.ok(ticks > 0, 'everything else of the process goes on')
    proxy.cut()
    await rig.tell(assistantTo(hook.url), callCompleted('c-1'))
    await delivered(rig)
    t.equal(hook.received.length, 1)
  },

  async 'a queue that hangs is refused in time, and works when it does again' (t, redis) {
    const { proxy, rig } = await behindProxy(t, redis)
    const hook = await receiver(t)
    await rig.tell(assistantTo(hook.url), callCompleted('before'))
    await settled(rig, 'delivered')
    proxy.freeze()
    await t.rejects(rig.queue.assertAnswers())
    await t.rejects(rig.queue.add(['1']))
    t.match(await untilSilent(rig), /the webhooks queue has not answered/)
    proxy.cut()
    await rig.tell(callCompleted('after'))
    await delivered(rig)
    await eventually(() => isAlive(rig), withinMs)
  }
})

t.test('a Redis that takes no writes is asked once a second, and left for its successor', { skip: noRedis() },
  async (t) => {
    const [redis, successor] = [await scratchRedis(t), await scratchRedis(t)]
    const { proxy, rig } = await behindProxy(t, redis)
    const hook = await receiver(t)
    await rig.tell(assistantTo(hook.url), callCompleted('before'))
    await settled(rig, 'delivered')
    const admin = new Redis(redis.url)
    t.teardown(() => admin.disconnect())
    proxy.leadTo(Number(new URL(successor.url).port))
    const before = await commandsOf(admin)
    await admin.replicaof('127.0.0.1', Number(new URL(successor.url).port))
    await rig.tell(callCompleted('after'))
    await delivered(rig)
    t.ok(await commandsOf(admin) - before < 200, 'no flood of questions')
  })

/** A worker whose queue is behind a proxy. */
async function behindProxy (
  t: Test, redis: ScratchRedis | undefined, before: (proxy: TcpProxy) => void = () => {}
): Promise<{ proxy: TcpProxy, rig: Rig }> {
  const { url } = redis ?? await scratchPostgres(t)
  const proxy = await tcpProxy(t, Number(new URL(url).port))
  before(proxy)
  return { proxy, rig: await deliveryRig(t, { redis, queuePort: proxy.port, patience }) }
}

/** What is due is queued again until all is delivered, as a worker's reconciler does. */
async function delivered (rig: Rig): Promise<void> {
  await eventually(async () => {
    await rig.reconcile().catch(() => {})
    return (await rig.deliveries()).every(({ status }) => status === 'delivered')
  }, withinMs)
}

/** Waits until the queue counts as dead. @returns what says so */
const untilSilent = ({ queue }: Rig) => eventually(() => queue.silence() ?? false)

const isAlive = ({ queue }: Rig) => queue.silence() === undefined

async function commandsOf (admin: Redis): Promise<number> {
  const [, count] = /total_commands_processed:(\d+)/.exec(await admin.info('stats')) ?? []
  return Number(count)
}
