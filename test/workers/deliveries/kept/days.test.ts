// Weeks of failures, by a clock that the test moves: suspended after five days, held for thirty, kept for ninety.
import t from 'tap'
import { defaultSchedule, parseSchedule } from '../../../../src/features/webhooks/outcome.js'
import { keepMonths } from '../../../../workers/deliveries/attempts/months.js'
import { removeExpired } from '../../../../workers/deliveries/retention.js'
import { assistantCreated, assistantUpdated, callCompleted } from '../../../support/events/call-events.js'
import { clockOf } from '../../../support/postgres/clock.js'
import { deliveryRig } from '../../../support/workers/delivery-rig.js'
import { eventually } from '../../../support/eventually.js'
import { answers, receiver } from '../../../support/receivers/receiver.js'

const r = await deliveryRig(t, { schedule: parseSchedule(defaultSchedule) })
const clock = await clockOf(r.pool)
const [failing, recovering] = [await receiver(t, answers(500)), await receiver(t, answers(503))]
const on = (webhook_url: string) => ({ is_webhook_active: true, webhook_url })
await r.tell(assistantCreated(1, on(failing.url)), assistantCreated(2, on(recovering.url)))
let hours = 0

/** Half a day in which each of the two has a call, and everything that is due is tried. */
async function halfADay (): Promise<void> {
  await r.tell(...[1, 2].map((assistant_id) => callCompleted(`${assistant_id}-after-${hours}`, { assistant_id })))
  await clock.pass('12 hours')
  hours += 12
  await allTried()
}
const allTried = () => eventually(async () => {
  await r.reconcile()
  return (await r.pool.query(`
    SELECT FROM ledger.webhook_deliveries
    WHERE started_at IS NOT NULL OR queued_at IS NOT NULL
      OR (status = 'scheduled' AND next_attempt_at <= clock_timestamp())`)).rowCount === 0
})
const suspended = async () => (await r.pool.query(`
  SELECT url, suspended_reason FROM ledger.webhook_endpoints
  WHERE suspended_at IS NOT NULL ORDER BY id`)).rows
const statusesOf = async (assistant: number) => {
  const rows = (await r.deliveries()).filter(({ assistant_id }) => Number(assistant_id) === assistant)
  return [...new Set(rows.map(({ status, reason }) => `${status} ${reason}`))].sort()
}

t.test('less than five days of failures suspend nobody', async (t) => {
  while (hours < 96) await halfADay()
  t.same(await suspended(), [])
  t.same([await statusesOf(1), await statusesOf(2)], [['scheduled null'], ['scheduled null']])
})

t.test('after five days without success an endpoint is suspended, once; a success begins them anew', async (t) => {
  recovering.answer = answers(200)
  await halfADay()
  recovering.answer = answers(503)
  while (hours < 156) await halfADay()
  t.same(await suspended(), [{ url: failing.url, suspended_reason: 'failing' }])
  t.same(await statusesOf(1), ['held endpoint_suspended'])
  t.equal(r.log.lines.filter(({ message }) => message.includes('suspended')).length, 1)
  const requests = failing.received.length
  while (hours < 204) await halfADay()
  t.equal(failing.received.length, requests, 'it is left in peace')
  t.equal((await suspended()).length, 1, 'the other one has failed for less than five days since')
  while (hours < 252) await halfADay()
  t.equal((await suspended()).length, 2)
})

t.test('a delivery is cancelled after thirty days; before, it is sent when the webhook is on again', async (t) => {
  await clock.pass('24 days')
  t.match(await removeExpired(r.pool, 90), { cancelled: 0 })
  await clock.pass('2 days')
  const { cancelled } = await removeExpired(r.pool, 90)
  t.ok(cancelled > 0, `${cancelled} of the first endpoint`)
  t.ok((await statusesOf(1)).includes('cancelled held_too_long'))
  t.notOk((await statusesOf(2)).includes('cancelled held_too_long'))
  for (const hook of [failing, recovering]) hook.answer = answers(200)
  await r.tell(...[1, 2].map((id) => assistantUpdated(id, { is_webhook_active: true })))
  await allTried()
  t.same([await suspended(), await statusesOf(1)], [[], ['cancelled held_too_long', 'delivered null']])
  const usedUp = 'exhausted attempts_used_up' // jitter decides whether one of the second endpoint got so far before
  t.same((await statusesOf(2)).filter((status) => status !== usedUp), ['delivered null'])
})

t.test('payloads are there for ninety days, and attempts until their month is over for as long', async (t) => {
  const kept = async () =>
    [(await r.deliveries()).filter(({ body }) => body !== null).length, (await r.attempts()).length]
  const all = await kept()
  await clock.pass('53 days')
  t.match(await removeExpired(r.pool, 90), { payloads: 0 })
  t.same(await kept(), all)
  await clock.pass('11 days')
  await removeExpired(r.pool, 90)
  await keepMonths(r.pool, 90)
  t.match(await kept(), [0, Number])
  await clock.pass('62 days') // the last of them were asked for long after the deliveries were made
  await keepMonths(r.pool, 90)
  t.same(await kept(), [0, 0])
})
