// Deliveries that end their worker: after three times they are held, and the others that went down with them are not.
import { randomBytes, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { startAttempt } from '../../../workers/deliveries/attempts/start.js'
import { startOnDemandAttempt } from '../../../workers/deliveries/attempts/on-demand.js'
import { recover } from '../../../workers/operate/recoveries.js'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { assistantTo, assistantUpdated, callCompleted, callsOf } from '../../support/events/call-events.js'
import { attempt, stands, deliveryRig, type Rig } from '../../support/workers/delivery-rig.js'
import { answers, receiver } from '../../support/receivers/receiver.js'

/** What has started and has no outcome is closed by the next pass, also where that is in the same millisecond. */
const rig = (t: Test) =>
  deliveryRig(t, { works: false, enqueues: false, schedule: [0, 3_600_000], abandonedAfterMs: -1_000 })

/** The attempts that have a slot start, and their worker ends. @returns their calls */
async function crash (r: Rig): Promise<string[]> {
  const queued = (await r.deliveries()).filter(({ queued_at: at }) => at !== null)
  for (const { id, attempt_count: attempts, job_number: jobNumber } of queued) {
    const job = { deliveryId: String(id), n: Number(attempts) + 1, jobNumber: Number(jobNumber) }
    if (!await startAttempt(r.pool, { job, token: randomUUID() })) throw new Error(`${String(id)} was not started`)
  }
  return queued.map(({ call_id: call }) => String(call))
}

async function crashTimes (r: Rig, times: number): Promise<void> {
  await r.reconcile()
  for (let time = 0; time < times; time++) {
    await crash(r)
    await r.reconcile()
  }
}

const crashCounts = async (r: Rig) => (await r.deliveries()).map(({ crash_count: count }) => count)
const notices = async (r: Rig) =>
  (await r.pool.query('SELECT user_id, type, delivery_id, reason FROM ledger.webhook_notices')).rows
const id = deliveryId('c-1')

t.test('the third crash in a row holds a delivery, which is told', async (t) => {
  const r = await rig(t)
  await r.tell(assistantTo('http://127.0.0.1:1/'), callCompleted('c-1'))
  await crashTimes(r, 2)
  t.same(await stands(r), [['c-1', 'scheduled', null]])
  t.same(await notices(r), [])
  await crash(r)
  t.match(await r.reconcile(), { unknown: 1, crashed: [id], queued: 0 })
  t.same(await stands(r), [['c-1', 'held', 'crashed']])
  t.same(await notices(r), [{ user_id: '1', type: 'delivery_exhausted', delivery_id: id, reason: 'crashed' }])
  t.match((await r.deliveries())[0], { failure_count: 0, queued_at: null, started_at: null, worker_token: null })
})

t.test('neither a new URL nor a webhook that is on again sends it, but a recovery does', async (t) => {
  const r = await rig(t)
  const hook = await receiver(t)
  await r.tell(assistantTo('http://127.0.0.1:1/'), callCompleted('c-1'))
  await crashTimes(r, 3)
  for (const change of [{ is_webhook_active: false }, { is_webhook_active: true }, { webhook_url: hook.url }]) {
    await r.tell(assistantUpdated(1, change))
    t.match(await r.reconcile(), { queued: 0 })
    t.same(await stands(r), [['c-1', 'held', 'crashed']], JSON.stringify(change))
  }
  const { signal } = new AbortController()
  t.match(await recover({ pool: r.pool, since: new Date(0), signal }), { scheduled: 1 })
  t.same(await crashCounts(r), [0])
  await attempt(r, 'c-1', 4)
  t.same(await stands(r), [['c-1', 'delivered', null]])
  t.equal(hook.received.length, 1)
})

t.test('a redelivery that ends its worker too is not repeated, and one that succeeds delivers', async (t) => {
  const r = await rig(t)
  const hook = await receiver(t)
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await crashTimes(r, 3)
  const job = (n: number) => ({ deliveryId: id, n, jobNumber: 1, trigger: 'manual' as const })
  await redeliver(r.pool, id)
  await r.reconcile()
  t.ok(await startOnDemandAttempt(r.pool, job(1), 'manual', randomUUID()))
  t.match(await r.reconcile(), { unknown: 1, crashed: [], queued: 0 })
  t.equal((await notices(r)).length, 1, 'it is told once')
  t.same(await stands(r), [['c-1', 'held', 'crashed']])
  await redeliver(r.pool, id)
  await r.reconcile()
  await r.deliver(job(2))
  t.same(await stands(r), [['c-1', 'delivered', null]])
})

t.test('redeliveries of what was delivered end at the third crash as well', async (t) => {
  const r = await rig(t)
  const hook = await receiver(t)
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await attempt(r, 'c-1')
  await redeliver(r.pool, id)
  for (const n of [1, 2, 3]) {
    await r.reconcile()
    t.ok(await startOnDemandAttempt(r.pool, { deliveryId: id, n, jobNumber: 1 }, 'manual', randomUUID()), `attempt ${n}`)
  }
  t.match(await r.reconcile(), { unknown: 1, crashed: [id], queued: 0 })
  t.same(await stands(r), [['c-1', 'delivered', null]])
  t.equal((await notices(r)).length, 1)
})

t.test('an attempt that has an outcome begins the count anew', async (t) => {
  const r = await rig(t)
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await crashTimes(r, 2)
  t.same(await crashCounts(r), [2])
  await attempt(r, 'c-1', 3)
  t.same(await crashCounts(r), [0])
})

t.test('of those that went down twice one at a time is attempted, and only the one that did it is held', async (t) => {
  const r = await rig(t)
  const users = ['1', '2']
  for (const [nth, user] of users.entries()) {
    await r.tell(assistantTo('http://127.0.0.1:1/', nth + 1, user), ...callsOf(nth + 1, 4))
  }
  await crashTimes(r, 2)
  t.same(await crashCounts(r), Array(8).fill(2))
  const alone = await crash(r)
  t.equal(alone.length, 1, 'of all users')
  await r.tell(...['a', 'b', 'c'].map((name) => callCompleted(`new-${name}`)))
  t.match(await r.reconcile(), { crashed: [deliveryId(alone[0] ?? '')] })
  const next = (await r.deliveries()).filter(({ queued_at: at }) => at !== null)
  t.same(next.map(({ crash_count: count }) => count).sort(), [0, 0, 0, 2], 'others do not wait for them')
  t.equal((await stands(r)).filter(([, status]) => status === 'held').length, 1)
})

t.test('what is our fault is tried again after a minute, two, four, and an hour at most', async (t) => {
  const r = await rig(t)
  await r.tell(assistantTo((await receiver(t)).url), callCompleted('c-1'))
  await r.pool.query(
    "INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed) VALUES ('1', 'lost', $1)", [randomBytes(60)]
  )
  const pauses: number[] = []
  for (let n = 1; n <= 8; n++) {
    await attempt(r, 'c-1', n)
    const { rows: [row] } = await r.pool.query(`
      SELECT round(extract(epoch FROM next_attempt_at - clock_timestamp()) / 60)::integer AS minutes
      FROM ledger.webhook_deliveries`)
    pauses.push(row.minutes)
  }
  t.same(pauses, [1, 2, 4, 8, 16, 32, 60, 60])
  t.same(await crashCounts(r), [0])
})
