// The sender, with both queues and real requests.
import type { Pool } from 'pg'
import t from 'tap'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { eventually } from '../../support/eventually.js'
import { onEachQueue } from '../../support/back-ends/redis.js'
import { answers, receiver, type Received } from '../../support/receivers/receiver.js'
import { keepingLog } from '../../support/postgres/ledger.js'
import { ruleRig, sending, type SenderRig } from '../../support/workers/sender-rig.js'
import { changeOptions } from '../../../workers/deliveries/options.js'
import { openQueue } from '../../../workers/queue/queue.js'

function instead<Of extends object> (of: Of, method: keyof Of, its: unknown): Of {
  return new Proxy(of, {
    get (of, name) {
      const found: unknown = name === method ? its : Reflect.get(of, name)
      return typeof found === 'function' ? found.bind(of) as unknown : found
    }
  })
}

/** Does something whenever a claim has been committed, before that is answered. */
const onClaim = (pool: Pool, then: () => Promise<void>): Pool => instead(pool, 'connect', async () => {
  const client = await pool.connect()
  return instead(client, 'query', async (text: string, values?: unknown[]) => {
    const answer = await client.query(text, values)
    if (typeof text === 'string' && text.includes('EXECUTE claim')) await then()
    return answer
  })
})

const { begin } = await ruleRig(t)
const idIn = ({ headers }: Received) => String(headers['webhook-id'])
const statusOf = async (r: SenderRig, id: string) => (await r.delivery(id))?.status
const openOnes = async (r: SenderRig) => (await r.rows('webhook_deliveries', "status <> 'delivered'")).length

onEachQueue(t, {
  async 'a burst is delivered, each once, beside receivers that hang' (t, redis) {
    const r = await begin()
    const { sender } = await sending(t, r, { redis })
    const hook = await receiver(t)
    const hangs = await receiver(t, () => {})
    for (let assistant = 100; assistant < 104; assistant++) await r.add(10, { assistant, to: hangs.url })
    const assistants = Array.from({ length: 15 }, (_, nth) => nth + 1)
    for (const assistant of assistants) await r.add(4, { assistant, user: String(assistant % 5), to: hook.url })
    sender.wake([100, 101, 102, 103, ...assistants].map(String))
    await eventually(async () => (await r.rows('webhook_deliveries', "assistant_id < 100 AND status <> 'delivered'")).length === 0)
    t.equal(hook.received.length, 60)
    t.equal(new Set(hook.received.map(idIn)).size, 60)
    t.ok((await r.rows('webhook_due', 'worker IS NOT NULL')).length <= 40)
  },

  async 'the reconciler finds a job that the queue has lost' (t, redis) {
    const r = await begin()
    const { reconcile } = await sending(t, r, { redis })
    const hook = await receiver(t)
    for (const assistant of [1, 2, 3]) await r.add(4, { assistant, to: hook.url })
    await reconcile()
    await eventually(async () => await openOnes(r) === 0)
    t.equal(hook.received.length, 12)
  },

  async 'a delivery that comes while its assistant has a job is found when that has ended' (t, redis) {
    const r = await begin()
    const { sender } = await sending(t, r, { redis })
    const dispatcher = await openQueue({ ...r, redisUrl: redis?.url, log: keepingLog() })
    t.teardown(() => dispatcher.close())
    const hook = await receiver(t)
    await r.change({ url: hook.url })
    const times = process.env.RACES === 'all' ? 20 : 5
    for (let nth = 0; nth < times; nth++) {
      sender.wake(['1'])
      await delay(nth % 5)
      const [id = ''] = await r.add(1, { to: hook.url })
      await dispatcher.add(['1'])
      await eventually(async () => await statusOf(r, id) === 'delivered')
    }
    t.equal(hook.received.length, times)
  },

  async 'a delivery that comes while its assistant has a job does not wait for an attempt that hangs' (t, redis) {
    const r = await begin()
    const hook = await receiver(t, (response, _, count) => { if (count > 1) response.end() })
    await r.add(1, { to: hook.url })
    let added = false
    const pool = onClaim(r.pool, async () => { // its job is there still
      if (added) await r.add(1, { to: hook.url })
      added = false
    })
    const { sender } = await sending(t, { ...r, pool }, { redis })
    added = true
    sender.wake(['1'])
    await eventually(() => hook.received.length === 2, 20_000) // that one may take 30 s
  },

  async 'a worker that stops hands over what runs, and another one sends it' (t, redis) {
    const r = await begin()
    const first = await sending(t, r, { redis })
    const hook = await receiver(t, () => {})
    const ids = await r.add(3, { to: hook.url })
    await inTransaction(r.pool, (tx) =>
      changeOptions(tx, first.keys, { assistantId: 1, userId: '1' }, { headers: { 'x-tenant': '1' } }))
    first.sender.wake(['1'])
    await eventually(() => hook.received.length === 3)
    await first.stop(50)
    t.match(await r.rows('webhook_attempts'), Array(3).fill({
      outcome: 'unknown', error: 'handed over while this worker stopped', header_names: 'x-tenant'
    }))
    t.match(await r.rows('webhook_due'), Array(3).fill({ worker: null, crashes: 0, n: 2 }))
    hook.answer = answers(200)
    const second = await sending(t, r, { redis })
    await second.reconcile()
    await eventually(async () => await openOnes(r) === 0)
    t.same(hook.received.slice(3).map(idIn).sort(), ids.sort())
  },

  async 'a worker that was taken for dead begins anew, and sends nothing twice but what was unknown' (t, redis) {
    const r = await begin()
    const { sender, reconcile, log } = await sending(t, r, { redis, heartbeatMs: 20 })
    const hook = await receiver(t, (response, _, count) => { if (count > 2) response.writeHead(200).end() })
    await r.add(2, { to: hook.url })
    sender.wake(['1'])
    await eventually(() => hook.received.length === 2)
    await r.pool.query('DELETE FROM ledger.webhook_workers')
    await eventually(() => log.lines.some(({ message }) => message.includes('begins anew')))
    await reconcile()
    await eventually(async () => await openOnes(r) === 0)
    t.equal(hook.received.length, 4)
    const outcomes = (await r.rows('webhook_attempts')).map(({ outcome }) => outcome).sort()
    t.same(outcomes, ['delivered', 'delivered', 'unknown', 'unknown'])
  }
})

t.test('deliveries that ended their workers twice are sent one at a time, and nobody waits for them', async (t) => {
  const r = await begin()
  const held: ServerResponse[] = []
  const [hook, slow] = [await receiver(t), await receiver(t, (response) => { held.push(response) })]
  await r.add(3, { to: slow.url })
  await r.pool.query('UPDATE ledger.webhook_due SET crashes = 2')
  const { sender } = await sending(t, r, { heartbeatMs: 20 })
  await eventually(() => held.length === 1)
  await r.add(5, { assistant: 2, to: hook.url })
  sender.wake(['2'])
  await eventually(() => hook.received.length === 5)
  for (let nth = 1; nth <= 3; nth++) {
    await eventually(() => held.length === nth)
    t.equal((await r.rows('webhook_due', 'worker IS NOT NULL AND crashes = 2')).length, 1)
    held[nth - 1]?.end()
  }
  await eventually(async () => await openOnes(r) === 0)
})

t.test('deliveries that ended their workers, and whose webhooks are off, hold up no other', async (t) => {
  const r = await begin()
  const hook = await receiver(t)
  for (let assistant = 1; assistant <= 15; assistant++) {
    await r.add(1, { assistant, to: hook.url })
    if (assistant < 15) await r.change({ assistant_id: assistant, url: hook.url, is_on: false })
  }
  await r.pool.query('UPDATE ledger.webhook_due SET crashes = 2')
  await sending(t, r, { heartbeatMs: 20 })
  await eventually(() => hook.received.length === 1)
})

t.test('an attempt whose claim lost its answer is made again at once, and one that runs is not', async (t) => {
  const r = await begin()
  const late: ServerResponse[] = []
  const slow = await receiver(t, (response) => { late.push(response) })
  const hook = await receiver(t)
  let losesAnswer = false
  const pool = onClaim(r.pool, async () => {
    if (!losesAnswer) return
    losesAnswer = false
    throw new Error('Query read timeout')
  })
  const { sender, reconcile } = await sending(t, { ...r, pool }, { heartbeatMs: 20 })
  const workers = async () => (await r.rows('webhook_workers')).length
  await r.add(1, { to: slow.url })
  sender.wake(['1'])
  await eventually(() => late.length === 1)
  const before = await workers()
  losesAnswer = true
  const [id = ''] = await r.add(1, { assistant: 2, to: hook.url })
  sender.wake(['2'])
  await eventually(async () => await workers() === before + 1)
  await reconcile()
  t.equal(hook.received.length, 0, 'the former incarnation still has an attempt that runs')
  for (const response of late) response.end()
  await eventually(async () => await workers() === before)
  await reconcile()
  await eventually(async () => await statusOf(r, id) === 'delivered')
  t.same([slow.received.length, hook.received.length], [1, 1])
})
