// What becomes of a delivery and its webhook when attempts end, and what users are told of it.
import t from 'tap'
import { answer, endedAs, ruleRig, schedule, url } from '../../support/workers/sender-rig.js'
import { listNotices } from '../../../workers/deliveries/read.js'
import { keepMonths } from '../../../workers/deliveries/retention.js'
import { probeSuspended } from '../../../workers/operate/upkeep.js'
import { recordOutcomes } from '../../../workers/deliveries/outcome.js'
import { beginAnew } from '../../../workers/deliveries/pending.js'

const { r, rule } = await ruleRig(t)

/** Makes as if so much time had gone by since everything. */
const pass = async (interval: string) => {
  const columns = {
    webhooks: ['restarted_at', 'failing_since', 'failed_at', 'succeeded_at', 'paused_until', 'suspended_at', 'off_since', 'due_from'],
    webhook_deliveries: ['created_at', 'failures_from', 'recovered_at'],
    webhook_due: ['due_at']
  }
  for (const [table, names] of Object.entries(columns)) {
    await r.pool.query(`UPDATE ledger.${table} SET ${names.map((name) => `${name} = ${name} - interval '${interval}'`).join(', ')}`)
  }
}

const claimed = async () => (await r.claim(r.worker)).attempts

rule('failures follow the schedule until it is used up', async (t) => {
  const [id = ''] = await r.add()
  for (const due_in of schedule.slice(1).map((ms) => ms / 1_000)) {
    await r.end(await claimed(), answer(500))
    const found = await r.delivery(id)
    t.match(found, { status: 'scheduled', due_in })
    await pass('6 hours')
  }
  await r.end(await claimed(), answer(500))
  t.match(await r.delivery(id), { status: 'exhausted', reason: 'attempts_used_up', attempt_count: 4, failures: 4, due_in: null })
  t.same(await r.notices(), ['endpoint_failing failed_three_times', 'delivery_exhausted attempts_used_up'])
})

rule('a 410 suspends the webhook and cancels only the delivery that met it first', async (t) => {
  await r.change({})
  await r.add(10)
  const attempts = await claimed()
  t.equal(attempts.length, 10)
  await r.end(attempts.slice(0, 5), answer(410))
  await r.end(attempts.slice(5), answer(410))
  const statuses = (await r.rows('webhook_deliveries')).map(({ status, reason }) => `${status} ${reason}`).sort()
  t.same(statuses, ['cancelled gone', ...Array<string>(9).fill('scheduled null')])
  t.match(await r.hook(), { suspended_reason: 'gone', revision: '2' })
  t.same(await claimed(), [], 'nothing is sent to a suspended webhook')
  await r.change({ url: `${url}/new` })
  t.equal((await claimed()).length, 9, 'a new URL gets the others')
  t.same(await r.notices(), ['endpoint_suspended gone'])
})

rule('a last failure at a former URL exhausts and counts nothing, and a pause of it is over', async (t) => {
  const [id = ''] = await r.add()
  for (let failures = 1; failures < schedule.length; failures++) {
    await r.end(await claimed(), answer(500))
    await pass('6 hours')
  }
  const last = await claimed()
  await r.change({ url: `${url}/new` })
  await r.end(last, answer(410))
  t.match(await r.delivery(id), { status: 'scheduled', due_in: 0, attempt_count: 4 })
  t.match(await r.hook(), { suspended_at: null, failing_since: null, failures_in_row: 0 })
  const [again] = await claimed()
  t.match(again, { url: `${url}/new`, failures: 0, n: 5 }, 'its schedule has begun anew')
  t.equal((await r.rows('webhook_attempts')).length, 4)
  await r.change({ url })
  await r.end(again ? [again] : [], answer(429, '900'))
  t.match([await r.hook(), await r.delivery(id)], [{ paused_until: null }, { due_in: 0 }])
})

rule('a 429 pauses the webhook for what it says, and uses no attempt', async (t) => {
  const [id = ''] = await r.add()
  await r.end(await claimed(), answer(429, '8'), 0)
  const younger = await r.add()
  t.match(await r.delivery(id), { status: 'scheduled', failures: 0 })
  t.match(await r.hook(), { failing_since: null, pause_reason: 'too_many_requests' })
  const { attempts, later } = await r.claim(r.worker)
  t.same(attempts, [])
  const inMs = later[0]?.inMs ?? 0
  t.ok(inMs > 3_000 && inMs <= 8_000, 'the claim says when, from the end of the attempt on')
  await pass('8 seconds')
  const due = await claimed()
  t.same(due.map(({ delivery_id }) => delivery_id), [id, ...younger], 'the refused one comes before younger ones')
})

rule('the longest of several pauses holds, and without Retry-After it is a minute', async (t) => {
  await r.add(3)
  const [a, b, c] = await claimed()
  if (!a || !b || !c) throw new Error('three are due')
  await recordOutcomes(r.pool, [
    endedAs(a, answer(429, '20')), endedAs(b, answer(429)), endedAs(c, answer(503, '2'))
  ])
  const { rows: [row] } = await r.pool.query<{ s: number }>(
    'SELECT round(extract(epoch FROM paused_until - now()))::integer AS s FROM ledger.webhooks')
  t.equal(row?.s, 60)
  t.match(await r.hook(), { pause_reason: 'too_many_requests', failures_in_row: 1 }, 'a 503 fails, a 429 does not')
})

rule('only a 429 at 76 hours after the beginning of its schedule is expired', async (t) => {
  const [id = ''] = await r.add()
  await r.end(await claimed(), answer(500))
  await pass('4 days')
  await beginAnew(r.pool, [id])
  await r.end(await claimed(), answer(429, '1'))
  t.match(await r.delivery(id), { status: 'scheduled', failures: 1 }, 'it was recovered')
  await pass('4 days')
  await r.change({ is_on: false })
  await r.change({})
  await r.end(await claimed(), answer(429, '1'))
  t.match(await r.delivery(id), { status: 'scheduled' }, 'its webhook was switched off and on')
  await pass('4 days')
  await r.end(await claimed(), answer(429, '1'))
  t.match(await r.delivery(id), { status: 'exhausted', reason: 'expired' })
})

rule('a retry is due at once after a new URL, off and on, a resume and a recovery', async (t) => {
  const [id = ''] = await r.add()
  const waits = async () => {
    await r.end(await claimed(), answer(500))
    t.ok(Number((await r.delivery(id))?.due_in) > 0)
  }
  await waits()
  await r.change({ url: `${url}/new` })
  t.match(await r.delivery(id), { due_in: 0 }, 'a new URL')
  await waits()
  await r.change({ url: `${url}/new`, is_on: false })
  t.ok(Number((await r.delivery(id))?.due_in) > 0)
  await r.change({ url: `${url}/new` })
  t.match(await r.delivery(id), { due_in: 0 }, 'off and on')
  await waits()
  await r.pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'failing'")
  t.equal(await r.resume(), 1)
  t.match(await r.delivery(id), { due_in: 0 }, 'a resume')
  await waits()
  t.equal((await beginAnew(r.pool, [id])).length, 1)
  t.match(await r.delivery(id), { due_in: 0 }, 'a recovery')
  t.equal(await r.resume(), undefined, 'there is nothing to resume')
})

rule('only failures for five days suspend; a success begins anew', async (t) => {
  await r.add(1)
  const failAgain = async () => {
    await r.add(1)
    await pass('1 day')
    const attempts = await claimed()
    await r.end(attempts, answer(500))
  }
  for (let days = 0; days < 5; days++) await failAgain()
  t.match(await r.hook(), { suspended_at: null, failures_in_row: 3 })
  await pass('1 day')
  await r.end(await claimed(), answer(200))
  t.match(await r.hook(), { failing_since: null, failures_in_row: 0 })
  t.same(await r.notices(), ['endpoint_failing failed_three_times', 'endpoint_recovered null'])
  for (let days = 0; days < 6; days++) await failAgain()
  t.match(await r.hook(), { suspended_reason: 'failing' })
})

rule('results of one webhook count in the order in which they ended', async (t) => {
  await r.add(3)
  const [first, second, third] = await claimed()
  if (!first || !second || !third) throw new Error('three are due')
  await recordOutcomes(r.pool, [endedAs(second, answer(500), 900), endedAs(first, answer(200), 500)])
  t.match(await r.hook(), { failures_in_row: 1 }, 'the failure came after the success')
  await recordOutcomes(r.pool, [endedAs(third, answer(200), 700)])
  t.match(await r.hook(), { failures_in_row: 1 }, 'an earlier success that is recorded later ends no later failure')
  t.not((await r.hook()).failing_since, null)
})

rule('a test and a redelivery are made while the webhook is off, suspended or paused, and end no pause', async (t) => {
  const [id = ''] = await r.add()
  await r.end(await claimed(), answer(429, '600'))
  await r.ask(id)
  const [asked, ...others] = await claimed()
  t.match([asked, others], [{ trigger: 'manual', n: 1 }, []], 'nothing but it is sent')
  if (asked) await r.end([asked], answer(200))
  t.match(await r.delivery(id), { status: 'delivered', due_in: null })
  t.not((await r.hook()).paused_until, null)
  for (const change of [{ is_on: false }, {}]) {
    await r.change(change)
    await r.pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'failing' WHERE off_since IS NULL")
    await r.ask(id)
    const attempts = await claimed()
    t.match(attempts, [{ trigger: 'manual' }])
    await r.end(attempts, answer(410))
    t.match(await r.delivery(id), { status: 'delivered' }, 'a failure changes nothing')
  }
})

rule('a redelivery never disturbs the schedule', async (t) => {
  const [id = ''] = await r.add()
  await r.end(await claimed(), answer(500))
  const before = await r.delivery(id)
  await r.ask(id)
  await r.ask(id)
  for (const n of [1, 2]) {
    const attempts = await claimed()
    t.match(attempts, [{ trigger: 'manual', n }], 'asked for twice, it is made twice')
    await r.end(attempts, answer(500))
  }
  t.same(await r.delivery(id), before)
  t.same(await claimed(), [])
})

rule('a successful test ends a suspension, and a test delivery has one attempt', async (t) => {
  const [id = ''] = await r.add()
  await r.end(await claimed(), answer(410))
  await r.add()
  t.match(await r.delivery(id), { status: 'cancelled' })
  const test = async (status: number) => {
    const [test = ''] = await r.add()
    await r.pool.query('DELETE FROM ledger.webhook_due WHERE delivery_id = $1', [test])
    await r.pool.query("UPDATE ledger.webhook_deliveries SET call_id = NULL, type = 'webhook.test' WHERE id = $1", [test])
    await r.ask(test, 'test')
    await r.end(await claimed(), answer(status))
    return await r.delivery(test)
  }
  t.match(await test(410), { status: 'exhausted', reason: 'attempts_used_up' })
  t.match(await r.hook(), { suspended_reason: 'gone' })
  t.match(await test(200), { status: 'delivered' })
  t.match(await r.hook(), { suspended_at: null, revision: '3' })
  t.equal((await claimed()).length, 1, 'what was held is due')
})

rule('the text of an answer is stored whatever is in it', async (t) => {
  await r.add()
  const [attempt] = await claimed()
  if (!attempt) throw new Error('one is due')
  await recordOutcomes(r.pool, [{ ...endedAs(attempt, answer(500)), excerpt: 'a\0b\ud83d', error: '\\u0000' }])
  t.match(await r.rows('webhook_attempts'), [{ response_excerpt: 'ab\ufffd', error: '\\u0000' }])
})

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
    last = attempts[0]?.delivery_id ?? ''
  }
  return last
}

rule('the third failure in a row is told, no further one, also after a resume, until after a success, and the success is', async (t) => {
  await attempt(500, 2)
  t.same(await told(), [])
  const third = await attempt(500)
  t.match(await notices(), [{
    id: Number, type: 'endpoint_failing', assistant_id: 1, delivery_id: third, reason: 'failed_three_times', at: /^\d{4}-.*Z$/
  }])
  t.same(await notices('2'), [], 'another user is not told')
  await r.pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'failing'")
  await r.resume()
  t.match(await r.hook(), { failures_in_row: 3, failing_since: null }, 'its five days begin anew')
  await attempt(500)
  t.equal((await told()).length, 1, 'not again')
  const success = await attempt(200)
  t.match((await notices())[0], { type: 'endpoint_recovered', delivery_id: success, reason: null })
  await attempt(500, 2)
  await attempt(200)
  t.same(await told(), ['endpoint_failing', 'endpoint_recovered'], 'two failures are told by nobody')
})

rule('a webhook that was suspended for failing is probed once a day, and a success resumes it', async (t) => {
  await attempt(500, 2)
  await r.add(1, { assistant: 2 })
  const suspended = (reason: string, ago: string) => r.pool.query(`
    UPDATE ledger.webhooks SET suspended_at = now() - $2::interval, suspended_reason = $1, probed_at = NULL`, [reason, ago])
  const probe = async (status: number) => {
    const { attempts } = await r.claim(r.worker, [1, 2])
    await r.end(attempts, answer(status))
    return attempts.map(({ trigger, assistant_id, n }) => [trigger, assistant_id, n])
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

rule('attempts of a month have a table of their own, which goes when its time is over', async (t) => {
  t.same(await keepMonths(r.pool, 90), [])
  t.same(await keepMonths(r.pool, 90), [])
  const tables = async () => (await r.pool.query<{ n: number }>(`
    SELECT count(*)::integer AS n FROM pg_inherits WHERE inhparent = 'ledger.webhook_attempts'::regclass`)).rows[0]?.n
  t.equal(await tables(), 5)
  const [id = ''] = await r.add()
  await r.end(await claimed(), answer(200))
  t.same(await r.rows('webhook_attempts_rest'), [])
  t.ok((await keepMonths(r.pool, -40)).length > 0)
  t.match([await r.rows('webhook_attempts'), await r.delivery(id)], [[], { status: 'delivered' }])
})
