import t, { type Test } from 'tap'
import { randomBytes, randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { Job, Finish } from '../../../workers/deliveries/attempts.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { finishAttempt } from '../../../workers/deliveries/finish-attempts.js'
import { currentSecret, seal } from '../../../workers/deliver/secrets.js'
import { startAttempt } from '../../../workers/deliveries/start-attempts.js'
import { assistantCreated, assistantUpdated, callCompleted, type Told } from '../../support/call-events.js'
import { deliveryRig, type BackEnds, type Rig, type RigOptions, type Row } from '../../support/delivery-rig.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver, type Receiver } from '../../support/receiver.js'
import { noRedis, scratchRedis } from '../../support/redis.js'
import { scratchPostgres } from '../../support/scratch-postgres.js'

const postgres = await scratchPostgres(t)

t.test('on Postgres', async (t) => onBackEnd(t, { postgres }))
t.test('on Redis', { skip: noRedis() }, async (t) => onBackEnd(t, { postgres, redis: await scratchRedis(t) }))

async function onBackEnd (t: Test, backEnds: BackEnds): Promise<void> {
  const rig = (t: Test, options: RigOptions = {}) => deliveryRig(t, backEnds, options)
  const assistant = (hook: Receiver, id = 1, user = '1') => assistantCreated(id, { is_webhook_active: true, webhook_url: hook.url }, user)
  const calls = (count: number, assistant_id = 1) => Array.from({ length: count }, (_, n) => callCompleted(`call-${assistant_id}-${n}`, { assistant_id }))
  const settled = (r: Rig, status: string) => eventually(async () => (await r.deliveries()).every((row) => row.status === status && row.started_at === null))

  await t.test('a failed attempt is made again, with the same id and the same bytes, until it succeeds', async (t) => {
    const r = await rig(t)
    const hook = await receiver(t, (response, received, count) => answers(count < 3 ? 500 : 204)(response, received, count))
    await r.tell(assistant(hook), callCompleted('c-1', { input_variables: { big: 9007199254740991, accents: 'é\u2028👋' } }))
    await settled(r, 'delivered')
    t.equal(hook.received.length, 3)
    const secret = new Webhook(await currentSecret(r.pool, r.keys, '1'))
    for (const [index, { headers, body }] of hook.received.entries()) {
      t.equal(headers['webhook-id'], deliveryId('c-1'))
      t.equal(headers['webhook-attempt'], String(index + 1))
      t.match(headers, { 'content-type': 'application/json', 'user-agent': /^Ringledger\// })
      t.notOk('traceparent' in headers)
      t.equal(body.toString(), (await r.deliveries())[0]?.body, 'the stored body, byte for byte')
      t.match(secret.verify(body, stringsOf(headers)), { type: 'call.completed', data: { call_id: 'c-1' } })
    }
    t.same((await r.attempts()).map(({ n, outcome, status_code, trigger }) => [n, outcome, status_code, trigger]), [
      [1, 'rejected', 500, 'schedule'], [2, 'rejected', 500, 'schedule'], [3, 'delivered', 204, 'schedule']
    ])
    t.match((await r.deliveries())[0], { status: 'delivered', attempt_count: 3, failure_count: 2, queued_at: null, next_attempt_at: null })
  })

  await t.test('the last failure of the schedule exhausts the delivery', async (t) => {
    const r = await rig(t, { schedule: [0, 20] })
    const hook = await receiver(t, answers(500))
    await r.tell(assistant(hook), callCompleted('c-1'))
    await settled(r, 'exhausted')
    t.match((await r.deliveries())[0], { reason: 'attempts_used_up', attempt_count: 2, failure_count: 2 })
    t.same(await r.reconcile(), { unknown: 0, lost: 0, queued: 0 })
    t.equal(hook.received.length, 2)
  })

  await t.test('an attempt stands in the ledger before its request leaves', async (t) => {
    const r = await rig(t, { schedule: [0] })
    const seen: unknown[] = []
    const hook = await receiver(t, (response, ...rest) => {
      void r.attempts().then((rows) => {
        seen.push(...rows.map(({ delivery_id, n, outcome, started_at }) => ({ delivery_id, n, outcome, isStarted: started_at instanceof Date })))
        answers(200)(response, ...rest)
      })
    })
    await r.tell(assistant(hook), callCompleted('c-1'))
    await settled(r, 'delivered')
    t.same(seen, [{ delivery_id: deliveryId('c-1'), n: 1, outcome: null, isStarted: true }])
  })

  await t.test('a job is named after its attempt, handed out once, and gone from the queue whether that went well or not', async (t) => {
    const r = await rig(t, { works: false, enqueues: false })
    const hook = await receiver(t)
    await r.tell(assistant(hook), ...calls(4))
    await r.reconcile()
    t.same((await r.jobs()).sort(), [0, 1, 2, 3].map((n) => `${deliveryId(`call-1-${n}`)}-1-1`).sort())
    const handed: string[] = []
    r.queue.work(async (job) => {
      handed.push(job.deliveryId)
      if (handed.length % 2 === 0) throw new Error('this worker is broken')
      await r.deliver(job)
    }, 1)
    await eventually(async () => (await r.jobs()).length === 0)
    t.equal(new Set(handed).size, 4)
    t.equal(handed.length, 4)
    t.equal(hook.received.length, 2)
    t.match(await r.reconcile(), { lost: 2, queued: 2 }, 'what failed on our side is queued again')
  })

  await t.test('of many workers with the same job one makes the attempt', async (t) => {
    const r = await rig(t, { works: false, enqueues: false })
    const hook = await receiver(t)
    await r.tell(assistant(hook), callCompleted('c-1'))
    await r.enqueuer.enqueue(['1'])
    const job: Job = { deliveryId: deliveryId('c-1'), n: 1, jobNumber: 1 }
    await Promise.all(Array.from({ length: 40 }, () => r.deliver(job)))
    await r.deliver(job)
    t.equal(hook.received.length, 1)
    t.equal((await r.attempts()).length, 1)
  })

  await t.test('a stale job, a wrong number and a time that has not come start nothing', async (t) => {
    const r = await rig(t, { works: false, enqueues: false, schedule: [60_000] })
    const hook = await receiver(t)
    await r.tell(assistant(hook), callCompleted('c-1'))
    t.equal(await r.enqueuer.enqueue(['1']), 0, 'what is not due gets no slot')
    const jobs = [{ n: 1, jobNumber: 0 }, { n: 1, jobNumber: 1 }, { n: 2, jobNumber: 0 }]
    for (const job of jobs) await r.deliver({ deliveryId: deliveryId('c-1'), ...job })
    await r.pool.query('UPDATE ledger.webhook_deliveries SET next_attempt_at = now()')
    await r.enqueuer.enqueue(['1'])
    for (const job of [{ n: 1, jobNumber: 0 }, { n: 1, jobNumber: 2 }, { n: 2, jobNumber: 1 }, { n: 0, jobNumber: 1 }]) await r.deliver({ deliveryId: deliveryId('c-1'), ...job })
    t.equal(hook.connections(), 0)
    t.same(await r.attempts(), [])
  })

  await t.test('an emptied queue loses nothing', async (t) => {
    const r = await rig(t, { works: false })
    const hook = await receiver(t)
    await r.tell(assistant(hook), assistant(hook, 2, '2'), ...calls(30), ...calls(30, 2))
    await eventually(async () => (await r.queue.ids()).size === 20)
    await r.emptyQueue()
    t.equal((await r.queue.ids()).size, 0)
    t.match(await r.reconcile(), { lost: 20, queued: 20 })
    r.queue.work(r.deliver, 50)
    await settled(r, 'delivered')
    t.equal(hook.received.length, 60, 'each once')
  })

  await t.test('what is still in the queue is not queued again', async (t) => {
    const r = await rig(t, { works: false })
    const hook = await receiver(t)
    await r.tell(assistant(hook), ...calls(3))
    await eventually(async () => (await r.queue.ids()).size === 3)
    t.same(await r.reconcile(), { unknown: 0, lost: 0, queued: 0 })
    t.same((await r.deliveries()).map(({ job_number }) => job_number), [1, 1, 1])
  })

  await t.test('an attempt whose worker died is closed as unknown, is no failure, and is made again at once', async (t) => {
    const r = await rig(t, { works: false, enqueues: false, timeoutMs: 60_000, abandonedAfterMs: 200, schedule: [0] })
    const hook = await receiver(t)
    await r.tell(assistant(hook), callCompleted('c-1'))
    for (let n = 1; n <= 5; n++) {
      await r.enqueuer.enqueue(['1'])
      t.ok(await startAttempt(r.pool, { deliveryId: deliveryId('c-1'), n, jobNumber: n }, randomUUID()), `worker ${n} starts and dies`)
      await eventually(async () => (await r.reconcile()).unknown === 1)
    }
    r.queue.work(r.deliver, 1)
    await settled(r, 'delivered')
    t.same((await r.attempts()).map(({ outcome }) => outcome), [...Array(5).fill('unknown'), 'delivered'])
    t.match((await r.deliveries())[0], { attempt_count: 6, failure_count: 0 })
    t.equal(hook.received[0]?.headers['webhook-attempt'], '6')
  })

  await t.test('a worker that was given up and comes back can only deliver', async (t) => {
    const r = await rig(t, { works: false, enqueues: false, timeoutMs: 60_000, abandonedAfterMs: 100 })
    const hook = await receiver(t)
    await r.tell(assistant(hook), ...calls(2))
    await r.enqueuer.enqueue(['1'])
    const finish = (outcome: 'delivered' | 'rejected'): Finish => ({ outcome, statusCode: 200, durationMs: 1, error: null, excerpt: '', truncated: false })
    const frozen = await Promise.all((await r.deliveries()).map(({ id }) => startAttempt(r.pool, { deliveryId: String(id), n: 1, jobNumber: 1 }, randomUUID())))
    await eventually(async () => await r.reconcile() && (await r.attempts()).every(({ outcome }) => outcome === 'unknown'))
    const [first, second] = frozen
    if (!first || !second) throw new Error('both started')
    t.equal(await finishAttempt(r.pool, first, finish('rejected'), { status: 'exhausted', reason: 'attempts_used_up' }), false)
    t.equal(await finishAttempt(r.pool, second, finish('delivered'), { status: 'delivered' }), true)
    t.equal(await finishAttempt(r.pool, second, finish('delivered'), { status: 'delivered' }), false, 'and only once')
    t.same((await r.deliveries()).map(({ status }) => status), ['scheduled', 'delivered'])
    r.queue.work(r.deliver, 10)
    await settled(r, 'delivered')
    t.equal(hook.received.length, 1, 'the delivered one is not sent again')
  })

  await t.test('an endpoint that hangs gets ten attempts at once, a user fifty, and others are not held up', async (t) => {
    const r = await rig(t, { timeoutMs: 60_000 })
    const open = { now: 0, most: new Map<string, number>() }
    const hanging = await receiver(t, (_response, { path }) => { open.most.set(path, (open.most.get(path) ?? 0) + 1); open.now += 1 })
    const hook = await receiver(t)
    const ids = [1, 2, 3, 4, 5, 6, 7]
    const hangs = ids.map((id) => assistantCreated(id, { is_webhook_active: true, webhook_url: `${hanging.url}/${id}` }))
    await r.tell(...hangs, ...ids.flatMap((id) => calls(15, id)), assistant(hook, 9, '9'), ...calls(25, 9))
    await eventually(async () => open.now >= 50 && (await r.deliveries()).filter(({ status }) => status === 'delivered').length === 25)
    await r.reconcile()
    t.equal(open.now, 50)
    t.same(new Set(open.most.values()), new Set([10]))
    t.equal((await r.deliveries()).filter(({ started_at }) => started_at !== null).length, 50)
  })

  await t.test('slots that become free are taken by what waits, on any endpoint of the user', async (t) => {
    const r = await rig(t, { timeoutMs: 60_000 })
    const hook = await receiver(t)
    const ids = [1, 2, 3, 4, 5, 6, 7, 8]
    const all: Told[] = ids.map((id) => assistantCreated(id, { is_webhook_active: true, webhook_url: `${hook.url}/${id}` }))
    await r.tell(...all, ...ids.flatMap((id) => calls(25, id)))
    await settled(r, 'delivered')
    t.equal(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size, 200)
    t.equal(hook.received.length, 200)
  })

  await t.test('410 cancels the delivery, suspends the endpoint, and holds the others until the user switches on again', async (t) => {
    const r = await rig(t, { works: false, enqueues: false })
    const hook = await receiver(t, answers(410))
    await r.tell(assistant(hook), ...calls(3))
    await r.enqueuer.enqueue(['1'])
    await r.deliver({ deliveryId: deliveryId('call-1-0'), n: 1, jobNumber: 1 })
    await r.tell(callCompleted('later'))
    t.same(statuses(await r.deliveries()), [['cancelled', 'gone'], ['held', 'endpoint_suspended'], ['held', 'endpoint_suspended'], ['held', 'endpoint_suspended']])
    await r.deliver({ deliveryId: deliveryId('call-1-1'), n: 1, jobNumber: 1 })
    t.equal(hook.received.length, 1, 'nothing more is sent')
    hook.answer = answers(200)
    await r.tell(assistantUpdated(1, { is_webhook_active: false }))
    await r.tell(assistantUpdated(1, { is_webhook_active: true }))
    r.queue.work(r.deliver, 10)
    await r.reconcile()
    await eventually(async () => hook.received.length === 4)
    t.equal((await r.pool.query('SELECT 1 FROM ledger.webhook_endpoints WHERE suspended_at IS NOT NULL')).rowCount, 0)
  })

  await t.test('an attempt that is handed over is no failure and due at once; the next one uses the new URL', async (t) => {
    const r = await rig(t, { works: false })
    const moved = await receiver(t)
    const hanging = await receiver(t, () => {})
    await r.tell(assistant(hanging), callCompleted('c-1'))
    await eventually(async () => (await r.queue.ids()).size === 1)
    const running = r.deliver({ deliveryId: deliveryId('c-1'), n: 1, jobNumber: 1 })
    await eventually(() => hanging.received.length === 1)
    await r.tell(assistantUpdated(1, { webhook_url: moved.url }))
    r.hurry.abort(new Error('stop'))
    await running
    t.match((await r.attempts())[0], { outcome: 'unknown' })
    t.match((await r.deliveries())[0], { status: 'scheduled', failure_count: 0, started_at: null })
    const { rows } = await r.pool.query('SELECT url FROM ledger.webhook_deliveries d JOIN ledger.webhook_endpoints e ON e.id = endpoint_id WHERE next_attempt_at <= now()')
    t.equal(rows[0]?.url, moved.url)
  })

  await t.test('switched off while an attempt waits in the queue, nothing is sent', async (t) => {
    const r = await rig(t, { works: false })
    const hook = await receiver(t)
    await r.tell(assistant(hook), callCompleted('c-1'))
    await eventually(async () => (await r.queue.ids()).size === 1)
    await r.tell(assistantUpdated(1, { webhook_url: null, is_webhook_active: false }))
    r.queue.work(r.deliver, 1)
    await eventually(async () => (await r.queue.ids()).size === 0)
    t.same(statuses(await r.deliveries()), [['held', 'webhook_off']])
    t.equal(hook.connections(), 0)
  })

  await t.test('a blocked address is a failed attempt that is tried again', async (t) => {
    const r = await rig(t, { schedule: [0, 60_000] })
    await r.tell(assistantCreated(1, { is_webhook_active: true, webhook_url: 'https://169.254.169.254/latest' }), callCompleted('c-1'))
    await eventually(async () => (await r.attempts())[0]?.outcome === 'blocked')
    t.match((await eventually(() => r.deliveries()))[0], { status: 'scheduled', failure_count: 1 })
  })

  await t.test('a fault of our own is not counted against the receiver', async (t) => {
    const r = await rig(t, { schedule: [0] })
    const hook = await receiver(t)
    const { key_id, sealed } = seal({ current: randomBytes(32), previous: [] }, '1', 'whsec_AAAA')
    await r.pool.query('INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed) VALUES (\'1\', $1, decode($2, \'base64\'))', [key_id, sealed])
    await r.tell(assistant(hook), callCompleted('c-1'))
    await eventually(async () => (await r.attempts())[0]?.outcome === 'unknown')
    t.match((await r.deliveries())[0], { status: 'scheduled', failure_count: 0 })
    t.equal(hook.connections(), 0)
  })

  const { redis } = backEnds
  if (!redis) return
  await t.test('while Redis is down calls are taken in; when it is back they are delivered without a restart', async (t) => {
    const r = await rig(t)
    const hook = await receiver(t)
    await r.tell(assistant(hook), callCompleted('before'))
    await settled(r, 'delivered')
    await redis.kill()
    const from = Date.now()
    await r.tell(callCompleted('during'))
    t.ok(Date.now() - from < 1_000, 'the dispatcher does not wait for the queue')
    await eventually(async () => {
      const row = (await r.deliveries())[1]
      return row?.job_number === 1 && row.queued_at === null // its slot was acquired and released
    }, 3_000)
    await t.rejects(r.reconcile(), 'the reconciler says so')
    await redis.start()
    await eventually(async () => (await r.reconcile()).queued === 1)
    await settled(r, 'delivered')
    t.equal(hook.received.length, 2)
  })
}

const statuses = (rows: Row[]) => rows.map(({ status, reason }) => [status, reason])

const stringsOf = (headers: Receiver['received'][number]['headers']) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
