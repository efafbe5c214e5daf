// What users are told of their webhooks, and the daily look whether a suspended one works again.
import t from 'tap'
import { listNotices } from '../../../workers/deliveries/read.js'
import { removeExpired } from '../../../workers/deliveries/retention.js'
import { probeSuspended } from '../../../workers/operate/upkeep.js'
import { answer, ruleRig } from '../../support/workers/sender-rig.js'

const { r, rule } = await ruleRig(t)

const notices = async (user = '1') => (await listNotices(r.pool, user, { page: 1, perPage: 100 })).items
/** The oldest first. */
const told = async () => (await notices()).map(({ type }) => type).reverse()
/** Adds a delivery and makes the attempt that is due longest, so many times. @returns its delivery */
async function attempt (status: number, times = 1): Promise<string> {
  let last = ''
  for (; times > 0; times--) {
    await r.add()
    const { attempts } = await r.claim(r.worker, [1], { room: 1 })
    await r.end(attempts, answer(status))
    last = attempts[0]?.deliveryId ?? ''
  }
  return last
}

rule('the third failure in a row is told, no further one until after a success, and the success is', async (t) => {
  await attempt(500, 2)
  t.same(await told(), [])
  const third = await attempt(500)
  t.match(await notices(), [{
    id: Number, type: 'endpoint_failing', assistant_id: 1, delivery_id: third, reason: 'failed_three_times', at: /^\d{4}-.*Z$/
  }])
  t.same(await notices('2'), [], 'another user is not told')
  await attempt(500, 2)
  t.equal((await told()).length, 1, 'not again')
  const success = await attempt(200)
  t.match((await notices())[0], { type: 'endpoint_recovered', delivery_id: success, reason: null })
  await attempt(500, 2)
  await attempt(200)
  t.same(await told(), ['endpoint_failing', 'endpoint_recovered'], 'two failures are told by nobody')
})

rule('a resumed webhook is told to fail again only after a success, and its five days begin anew', async (t) => {
  await attempt(500, 3)
  await r.pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'failing'")
  await r.resume()
  t.match(await r.hook(), { failures_in_row: 3, failing_since: null })
  await attempt(500)
  t.match(await r.hook(), { failures_in_row: 3, failing_since: Date })
  await attempt(200)
  await attempt(500, 3)
  t.same(await told(), ['endpoint_failing', 'endpoint_recovered', 'endpoint_failing'])
})

rule('notices are kept for 90 days', async (t) => {
  await r.pool.query(`
    INSERT INTO ledger.webhook_notices (user_id, type, at)
    SELECT '1', 'delivery_exhausted', now() - days * interval '1 day' FROM unnest(ARRAY[91, 89]) days`)
  t.match(await removeExpired(r.pool, 90), { notices: 1 })
  t.equal((await notices()).length, 1)
})

rule('a webhook that was suspended for failing is probed once a day, and a success resumes it', async (t) => {
  await attempt(500, 2)
  await r.add(1, { assistant: 2 })
  const suspended = (reason: string, ago: string) => r.pool.query(`
    UPDATE ledger.webhooks SET suspended_at = now() - $2::interval, suspended_reason = $1, probed_at = NULL`, [reason, ago])
  const probe = async (status: number) => {
    const { attempts } = await r.claim(r.worker, [1, 2])
    await r.end(attempts, answer(status))
    return attempts.map(({ trigger, assistantId, n }) => [trigger, assistantId, n])
  }
  await suspended('gone', '2 days')
  t.equal(await probeSuspended(r.pool), 0, 'not after a 410')
  await suspended('failing', '23 hours')
  t.equal(await probeSuspended(r.pool), 0, 'not before a day is over')
  await suspended('failing', '25 hours')
  await r.change({ assistant_id: 2, is_on: false })
  t.same([await probeSuspended(r.pool), await probeSuspended(r.pool)], [1, 0], 'one delivery, once a day, and none that is off')
  t.same(await probe(500), [['probe', '1', 1]])
  t.match(await r.hook(), { suspended_reason: 'failing' }, 'a failure changes nothing')
  await r.pool.query("UPDATE ledger.webhooks SET probed_at = now() - interval '25 hours'")
  t.equal(await probeSuspended(r.pool), 1)
  t.same(await probe(200), [['probe', '1', 2]])
  t.match(await r.hook(), { suspended_reason: null })
  t.equal((await r.rows('webhook_deliveries', "status = 'delivered'")).length, 1)
})
