// Recovery after an outage: all that was not delivered begins anew, however often the command is interrupted.
import t, { type Test } from 'tap'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { suspend } from '../../../workers/deliveries/endpoints.js'
import { recover } from '../../../workers/operate/recoveries.js'
import { assistantTo, assistantUpdated, callCompleted, callsOf } from '../../support/events/call-events.js'
import { deliveryRig, type Rig } from '../../support/workers/delivery-rig.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'

const { signal } = new AbortController()
const epoch = new Date(0)
const sinceAnHour = () => new Date(Date.now() - 3_600_000)

/** One row of each kind, by what its call is named. */
async function afterOutage (t: Test): Promise<Rig> {
  const r = await deliveryRig(t, { works: false, enqueues: false })
  await r.tell(
    assistantTo('https://hooks.example.com/1'),
    ...['exhausted', 'cancelled', 'later', 'due', 'delivered', 'running', 'old'].map((call) => callCompleted(call))
  )
  const set = (call: string, change: string) =>
    r.pool.query(`UPDATE ledger.webhook_deliveries SET ${change} WHERE call_id = $1`, [call])
  await set('exhausted', "status = 'exhausted', reason = 'attempts_used_up', failure_count = 10, attempt_count = 10")
  await set('exhausted', 'next_attempt_at = NULL, finished_at = now()')
  await set('cancelled', "status = 'cancelled', reason = 'gone', next_attempt_at = NULL, finished_at = now()")
  await set('later', "failure_count = 8, attempt_count = 8, next_attempt_at = now() + interval '1 day'")
  await set('delivered', "status = 'delivered', next_attempt_at = NULL")
  await set('running', 'started_at = now(), worker_token = gen_random_uuid(), queued_at = now()')
  await set('old', "status = 'exhausted', created_at = now() - interval '1 day'")
  return r
}
const stands = async (r: Rig) => Object.fromEntries((await r.deliveries()).map(
  ({ call_id, status, failure_count, attempt_count }) => [call_id, [status, failure_count, attempt_count]]
))

t.test('what is not delivered since then begins its schedule anew, its attempts are counted on', async (t) => {
  const r = await afterOutage(t)
  t.same(await recover({ pool: r.pool, since: sinceAnHour(), signal }), {
    scheduled: 3, held: 0, off: 0
  })
  t.same(await stands(r), {
    exhausted: ['scheduled', 0, 10],
    cancelled: ['scheduled', 0, 0],
    later: ['scheduled', 0, 8],
    due: ['scheduled', 0, 0],
    delivered: ['delivered', 0, 0],
    running: ['scheduled', 0, 0],
    old: ['exhausted', 0, 0]
  })
  t.same(await recover({ pool: r.pool, since: sinceAnHour(), signal }), {
    scheduled: 0, held: 0, off: 0
  }, 'a second run finds nothing left')
})

t.test('it goes to the present URL, is held for a suspended endpoint, and stays if the webhook is off', async (t) => {
  const r = await afterOutage(t)
  await r.tell(
    assistantTo('https://hooks.example.com/2', 2),
    callCompleted('suspended', { assistant_id: 2 }),
    assistantTo('https://hooks.example.com/3', 3),
    callCompleted('off', { assistant_id: 3 })
  )
  await r.tell(
    assistantUpdated(1, { webhook_url: 'https://hooks.example.com/new' }),
    assistantUpdated(3, { is_webhook_active: false })
  )
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'exhausted' WHERE call_id = 'suspended'")
  await inTransaction(r.pool, async (tx) => await suspend(
    tx, String((await tx.query("SELECT id FROM ledger.webhook_endpoints WHERE url LIKE '%/2'")).rows[0]?.id), 'gone'
  ))
  t.same(await recover({ pool: r.pool, since: epoch, signal, assistantId: 2 }), { scheduled: 0, held: 1, off: 0 })
  t.same(await recover({ pool: r.pool, since: epoch, signal, userId: '9' }), { scheduled: 0, held: 0, off: 0 })
  t.match(await recover({ pool: r.pool, since: epoch, signal, userId: '1' }), { scheduled: 4, off: 1 })
  const { rows } = await r.pool.query(`
    SELECT DISTINCT url FROM ledger.webhook_deliveries d
    JOIN ledger.webhook_endpoints e ON e.id = endpoint_id
    WHERE call_id IN ('exhausted', 'cancelled', 'old')`)
  t.same(rows, [{ url: 'https://hooks.example.com/new' }])
  t.match((await r.deliveries()).find(({ call_id }) => call_id === 'off'), { status: 'held', reason: 'webhook_off' })
})

t.test('broken off after any batch it goes on where it stopped, and every call arrives', async (t) => {
  const r = await deliveryRig(t, { schedule: [0] })
  const hook = await receiver(t, answers(500))
  await r.tell(
    assistantTo(hook.url), assistantTo(`${hook.url}/2`, 2, '2'), ...callsOf(1, 35), ...callsOf(2, 35)
  )
  await eventually(async () => (await r.deliveries()).every(({ status }) => status === 'exhausted'), 30_000)
  hook.answer = answers(200)
  hook.received.length = 0
  const told: number[][] = []
  for (let runs = 1; ; runs++) {
    const stopping = new AbortController()
    const ended = await recover({
      pool: r.pool,
      since: epoch,
      signal: stopping.signal,
      batchSize: 20,
      onProgress ({ done, total }) {
        told.push([done, total])
        stopping.abort(new Error('killed'))
      }
    })
      .then(() => true, (error: Error) => error.message !== 'killed' && Promise.reject(error))
    if (ended || runs > 10) break
    await r.reconcile()
  }
  t.same(await recover({ pool: r.pool, since: epoch, signal }), { scheduled: 0, held: 0, off: 0 })
  t.same(told[0], [20, 70])
  t.ok(told.length > 3, 'it was broken off more than once')
  await eventually(async () =>
    await r.reconcile() && (await r.deliveries()).every(({ status }) => status === 'delivered'), 30_000)
  t.equal(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size, 70)
  t.ok(hook.received.some(({ headers }) => headers['webhook-id'] === deliveryId('call-1-0')))
})
