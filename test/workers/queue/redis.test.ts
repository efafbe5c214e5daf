// The queue in Redis: one that is away, refuses us or may lose jobs is told in one line; one that was emptied or is
// shared costs no job.
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { closedPort } from '@ringledger/embedded-postgres/testing'
import { redisBackEnd } from '../../../workers/queue/redis.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { assistantTo, callsOf } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { receiver } from '../../support/receivers/receiver.js'
import { deliveryRig } from '../../support/workers/delivery-rig.js'
import { openQueue } from '../../../workers/queue/queue.js'

/** Two queues on it, and what they log. */
async function linesOf (t: Test, url: string): Promise<string[]> {
  const lines: string[] = []
  const log = { warn: (details: object, line: string) => { lines.push(`${line}${JSON.stringify(details)}`) } }
  const backEnds = [redisBackEnd(url, log, 5_000), redisBackEnd(url, log, 5_000)]
  t.teardown(async () => { for (const each of backEnds) (await each).disconnect() })
  await Promise.all(backEnds)
  return lines
}

t.test('one that does not answer is one line with its setting, and no stack', async (t) => {
  const lines = await linesOf(t, `redis://user:hunter2@127.0.0.1:${closedPort}`)
  const reason = `connect ECONNREFUSED 127.0.0.1:${closedPort}`
  const mend = 'Check that it runs, and that REDIS_URL leads to it, with rediss:// only where it takes TLS.'
  t.strictSame(lines, [`Redis at 127.0.0.1:${closedPort} did not answer: ${reason}. ${mend}{}`])
})

t.test('one that may evict jobs is one line as well', { skip: noRedis() }, async (t) => {
  const { url } = await scratchRedis(t)
  const client = new Redis(url)
  t.teardown(() => client.disconnect())
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
  const lines = await linesOf(t, url)
  await eventually(() => lines.length > 0)
  t.match(lines, [/REDIS_URL.* has maxmemory-policy allkeys-lru: .* Set maxmemory-policy to noeviction\./])
  t.equal(lines.length, 1)
})

t.test('once it is closed, a connection that BullMQ connects anew does not try for ever', async (t) => {
  const { worker, disconnect } = await redisBackEnd(`redis://127.0.0.1:${closedPort}`, { warn () {} }, 200)
  disconnect()
  if (!(worker instanceof Redis)) throw new Error('it is a connection')
  for (let times = 1; times <= 2; times += 1) { // ioredis alone ends what is under way, and nothing after that
    await worker.connect().catch(() => {})
    await eventually(() => worker.status === 'end')
    t.equal(worker.status, 'end')
  }
})

t.test('an assistant whose job was lost while it ran is free again', { skip: noRedis() }, async (t) => {
  const [redis, ledger] = [await scratchRedis(t), await scratchLedger(t)]
  const queue = await openQueue({ ...ledger, redisUrl: redis.url, log: keepingLog() })
  t.teardown(() => queue.close())
  const [taken, ended]: [string[], string[]] = [[], []]
  queue.work(async (id) => {
    taken.push(id)
    if (taken.length === 1) await redis.flush()
  }, 1, (id) => { ended.push(id) })
  t.teardown(() => queue.stopWork())
  await queue.add(['7'])
  await eventually(() => ended.length === 1)
  await queue.add(['7'])
  await eventually(() => ended.length === 2)
  t.same([taken, ended], [['7', '7'], ['7', '7']])
})

t.test('two deployments on one Redis do not take each other\u2019s jobs', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  const deployments = [await deliveryRig(t, { redis }), await deliveryRig(t, { redis })]
  const hooks = await Promise.all(deployments.map(async (rig) => {
    const hook = await receiver(t)
    await rig.tell(assistantTo(hook.url), ...callsOf(1, 9))
    return hook
  }))
  await eventually(async () => hooks.every(({ received }) => received.length >= 9))
  t.same(hooks.map(({ received }) => received.length), [9, 9], 'at once, without a reconciler')
})
