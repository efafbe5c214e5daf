// How deliveries are shown: held while their webhook is off or suspended, though nothing changed in their rows; and
// what operators read of them in numbers.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { findDelivery, findRequest, listDeliveries, type DeliveryFilter } from '../../../workers/deliveries/read.js'
import { endInterruption, findInterruption, troubledWebhooks } from '../../../workers/deliveries/webhooks.js'
import { countDue, countPending, queueStatus, webhookStats } from '../../../workers/operate/stats.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { answer, ruleRig, url } from '../../support/workers/sender-rig.js'

const { r, rule } = await ruleRig(t)

const listed = async (filter: DeliveryFilter) => (await listDeliveries(r.pool, { userId: '1', ...filter }, { page: 1, perPage: 10 })).items
const ids = async (filter: DeliveryFilter) => (await listed(filter)).map(({ id }) => id)
const shown = async (id: string) => {
  const { status, reason, next_attempt_at: next } = await findDelivery(r.pool, '1', id) ?? {}
  return [status, reason, next === null ? null : 'later']
}

rule('a delivery whose webhook is off or suspended shows as held, in lists, alone and in numbers', async (t) => {
  const [id = ''] = await r.add()
  const [of2 = ''] = await r.add(1, { assistant: 2 })
  const [ended = ''] = await r.add(1, { assistant: 3 })
  await r.end((await r.claim(r.worker, [3])).attempts, answer(200))
  const [crashed = ''] = await r.add(1, { assistant: 4 })
  await r.pool.query(`UPDATE ledger.webhook_deliveries SET status = 'held', reason = 'crashed' WHERE id = '${crashed}'`)
  await r.pool.query(`DELETE FROM ledger.webhook_due WHERE delivery_id = '${crashed}'`)
  const test = randomUUID()
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, type, user_id, assistant_id, body, status)
    VALUES ($1, 'webhook.test', '1', 1, '{}', 'scheduled')`, [test])
  await r.ask(test, 'test')
  t.same(await shown(id), ['scheduled', null, 'later'])
  t.same(await ids({ status: 'scheduled' }), [test, of2, id])
  t.same(await ids({ status: 'held' }), [crashed])
  await r.change({ is_on: false })
  await r.pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'gone' WHERE assistant_id = 2")
  t.same(await shown(id), ['held', 'webhook_off', null])
  t.same(await shown(of2), ['held', 'endpoint_suspended', null])
  t.same(await shown(test), ['scheduled', null, null], 'a test waits for nothing')
  t.match(await listed({ status: 'held' }), [
    { id: crashed, status: 'held', reason: 'crashed' },
    { id: of2, status: 'held', reason: 'endpoint_suspended', next_attempt_at: null },
    { id, status: 'held', reason: 'webhook_off' }
  ])
  t.same(await ids({ status: 'scheduled' }), [test])
  t.same(await ids({ status: 'delivered' }), [ended])
  for (const [reason, found] of [['webhook_off', id], ['crashed', crashed]] as const) t.same(await ids({ reason }), [found])
  t.match((await webhookStats(r.pool)).statuses, { scheduled: 1, held: 3, delivered: 1, exhausted: 0 })
  t.same(await countPending(r.pool), [{ status: 'held', count: 3 }, { status: 'scheduled', count: 1 }])
  t.match(await queueStatus(r.pool), { held: 3, suspended_endpoints: 1, due: 1 })
  await r.change({ is_on: true })
  t.same(await shown(id), ['scheduled', null, 'later'])
})

rule('the next attempt is when the retry is due, and not before a pause ends', async (t) => {
  const [id = ''] = await r.add()
  const next = async () => Date.parse(String((await findDelivery(r.pool, '1', id))?.next_attempt_at))
  await r.pool.query("UPDATE ledger.webhooks SET paused_until = now() + interval '10 min', pause_reason = 'unavailable'")
  t.ok(await next() > Date.now() + 500_000)
  t.equal(await findInterruption(r.pool, 1, `${url}/new`), undefined, 'of a former URL')
  t.match(await findInterruption(r.pool, 1, url), { state: 'paused', reason: 'unavailable', since: null, until: /Z$/ })
  await r.pool.query("UPDATE ledger.webhook_due SET due_at = now() + interval '1 hour'")
  t.ok(await next() > Date.now() + 3_500_000)
  t.equal((await countDue(r.pool)).oldest, null)
})

rule('a resume for another URL than the present one changes nothing', async (t) => {
  await r.add()
  await r.pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'gone'")
  const resume = (to: string) => inTransaction(r.pool, (tx) => endInterruption(tx, '1', '1', to))
  t.equal(await resume(`${url}/new`), undefined)
  t.equal(await resume(url), 1)
  t.equal(await resume(url), undefined)
})

rule('attempts that run or were asked for are shown before they end', async (t) => {
  const [id = ''] = await r.add()
  const attempts = async () => (await findDelivery(r.pool, '1', id))?.attempts
    .map(({ trigger, n, started_at: at, outcome }) => [trigger, n, at !== null, outcome])
  t.same(await attempts(), [])
  t.equal(await findRequest(r.pool, id, '1.0.0'), null)
  const { attempts: [first] } = await r.claim(r.worker)
  for (let times = 0; times < 3; times++) await r.ask(id)
  t.same(await attempts(), [['schedule', 1, true, null], ...[1, 2, 3].map((n) => ['manual', n, false, null])])
  t.match(await findRequest(r.pool, id, '1.0.0'), { method: 'POST', url, headers: { 'webhook-attempt': '1' }, body: '{}' })
  await r.end([first].flatMap((each) => each ?? []), answer(500))
  const { attempts: [asked] } = await r.claim(r.worker)
  t.match(asked, { trigger: 'manual', n: 1 })
  t.same(await attempts(), [
    ['schedule', 1, true, 'rejected'], ['manual', 1, true, null], ['manual', 2, false, null], ['manual', 3, false, null]
  ])
})

rule('operators see where a delivery went last, or will go, without its query', async (t) => {
  const [sent = ''] = await r.add(1, { to: `${url}?token=secret` })
  await r.end((await r.claim(r.worker)).attempts, answer(200))
  await r.change({ url: `${url}/new?token=secret` })
  const [waits = ''] = await r.add()
  t.match(await findDelivery(r.pool, undefined, sent), { user_id: '1', url })
  t.match(await findDelivery(r.pool, undefined, waits), { user_id: '1', url: `${url}/new` })
})

rule('only a delivery that a worker could send is late: a dead receiver and a user without room are not counted', async (t) => {
  const late = async () => {
    const { waiting, running, oldestSeconds, suspended, failing } = await countDue(r.pool)
    return { waiting, running, isLate: oldestSeconds > 60, suspended, failing }
  }
  const none = { waiting: 0, running: 0, isLate: false, suspended: 0, failing: 0 }
  t.same(await late(), none)
  await r.add(30)
  await r.add(30, { assistant: 2, user: '2' })
  await r.add(3, { assistant: 3, user: '3' })
  await r.pool.query("UPDATE ledger.webhook_due SET due_at = now() - interval '2 minutes'")
  t.same(await late(), { ...none, waiting: 23, isLate: true }, 'no more of an assistant than it may have at a time')
  t.equal((await r.claim(r.worker, [1])).attempts.length, 10)
  t.same(await late(), { ...none, waiting: 13, running: 10, isLate: true })
  const set = (assistant: number, change: string) => r.pool.query(`UPDATE ledger.webhooks SET ${change} WHERE assistant_id = $1`, [assistant])
  await set(2, 'failing_since = now(), failures_in_row = 3')
  t.same(await late(), { ...none, waiting: 4, running: 10, isLate: true, failing: 1 }, 'a failing one gets one at a time')
  t.equal((await r.claim(r.worker, [2])).attempts.length, 1)
  await set(3, "suspended_at = now(), suspended_reason = 'gone'")
  t.same(await late(), { ...none, running: 11, suspended: 1, failing: 1 })
  const gone = { assistant_id: 3, user_id: '3', url, state: 'suspended', reason: 'gone', until: null, waiting: 3 }
  t.match(await troubledWebhooks(r.pool, 10), [{ ...gone, last_error: 'the receiver answered 410' }, { assistant_id: 2, state: 'failing' }])
  await set(3, "suspended_at = NULL, suspended_reason = NULL, paused_until = now() + interval '1 min', pause_reason = 'unavailable'")
  t.same(await late(), { ...none, running: 11, failing: 1 })
  t.match(await troubledWebhooks(r.pool, 10, ['paused']), [{ assistant_id: 3, state: 'paused', since: null, until: /Z$/ }])
  await set(3, 'paused_until = NULL, pause_reason = NULL')
  const [manual = ''] = await r.add(1, { assistant: 1 })
  await r.ask(manual)
  await r.pool.query("UPDATE ledger.webhook_due SET due_at = now() - interval '2 minutes'")
  t.same(await late(), { ...none, waiting: 4, running: 11, isLate: true, failing: 1 }, 'a redelivery waits for a worker alone')
})
