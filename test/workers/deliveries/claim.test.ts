// Claims of attempts: bounds, turns, rates, and what else keeps an attempt from being made.
import t from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { openPool } from '../../../src/postgres/pool.js'
import { answer, driving, ruleRig, type SenderRig } from '../../support/workers/sender-rig.js'
import { closeLost } from '../../../workers/deliveries/outcome.js'
import { beginAnew, cancelHeld } from '../../../workers/deliveries/pending.js'
import { findAgain, findWaiting } from '../../../workers/deliveries/reconcile.js'
import { dismiss, enlist, heartbeat, removeSilent } from '../../../workers/deliveries/workers.js'

const { r, rule } = await ruleRig(t)

const assistants = (count: number, first = 1) => Array.from({ length: count }, (_, nth) => first + nth)
const countOf = async (...asked: Parameters<SenderRig['claim']>) => (await r.claim(...asked)).attempts.length

rule('an assistant has ten attempts at a time, a user fifty, and beyond thirty an assistant its first two', async (t) => {
  for (const assistant of assistants(40)) await r.add(12, { assistant })
  t.equal(await countOf(r.worker, [1]), 10)
  t.equal(await countOf(r.worker, [2]), 10)
  t.equal(await countOf(r.worker, [3]), 10)
  t.equal(await countOf(r.worker, [1]), 0)
  t.equal(await countOf(r.worker, [4]), 2)
  t.equal(await countOf(r.worker, assistants(36, 5)), 18, 'in all fifty')
  t.equal(await countOf(r.worker, assistants(40)), 0)
})

rule('all assistants of a user get a first turn before any gets a second one', async (t) => {
  for (const assistant of assistants(45)) await r.add(12, { assistant })
  const { attempts } = await r.claim(r.worker, assistants(45))
  t.equal(attempts.length, 50)
  t.equal(new Set(attempts.map(({ assistant_id }) => assistant_id)).size, 45)
})

rule('a failing webhook gets one at a time until it succeeds', async (t) => {
  await r.add(30)
  const { attempts } = await r.claim(r.worker)
  await r.end(attempts, answer(500))
  const { attempts: [one, ...others] } = await r.claim(r.worker)
  t.ok(one)
  t.same(others, [])
  t.equal(await countOf(r.worker), 0)
  if (one) t.same((await r.end([one], answer(200))).next, ['1'])
  t.equal(await countOf(r.worker), 10)
})

rule('the room of a worker and its bytes bound a claim', async (t) => {
  for (const assistant of assistants(4)) await r.add(10, { assistant })
  const claim = await r.claim(r.worker, [1], { room: 3 })
  t.match([claim.attempts.length, claim.left], [3, ['1']])
  t.equal(await countOf(r.worker, [1], { bytes: 4 }), 2)
})

rule('a rate is kept, and the claim says when the next one may be sent', async (t) => {
  await r.add(20)
  await r.pool.query("UPDATE ledger.webhooks SET max_per_second = 4, tokens = 4, tokens_at = now() - interval '1 minute'")
  t.equal(await countOf(r.worker), 1, 'what was not used lets no more start in a second')
  const { attempts, later: [later] } = await r.claim(r.worker)
  t.same(attempts, [])
  t.ok(later && later.inMs > 100 && later.inMs <= 250)
  await r.pool.query("UPDATE ledger.webhooks SET tokens_at = tokens_at - interval '500 ms'")
  t.equal(await countOf(r.worker), 1)
})

rule('nothing is sent while the webhook is off, suspended or paused', async (t) => {
  await r.add(1)
  for (const state of ['off_since = now()', "off_since = NULL, suspended_at = now(), suspended_reason = 'gone'",
    "suspended_at = NULL, suspended_reason = NULL, paused_until = now() + interval '1 minute'"]) {
    await r.pool.query(`UPDATE ledger.webhooks SET ${state}`)
    t.equal(await countOf(r.worker), 0)
    t.same(await findWaiting(r.pool), [])
    t.same(await findAgain(r.pool, ['1']), [])
  }
  await r.pool.query('UPDATE ledger.webhooks SET paused_until = NULL')
  t.same(await findWaiting(r.pool), ['1'])
  t.same(await findAgain(r.pool, ['1', '2']), ['1'])
  t.equal(await countOf(r.worker), 1)
})

rule('a claim that does not get the lock of a user, or the row of a webhook, is told to ask again', async (t) => {
  await r.add(2)
  await r.add(1, { assistant: 2, user: '2' })
  await inTransaction(r.pool, async (tx) => {
    await tx.query('SELECT FROM ledger.webhooks WHERE assistant_id = 1 FOR NO KEY UPDATE')
    const { attempts, busy } = await r.claim(r.worker, [1, 2])
    t.match([attempts.length, busy], [1, ['1']])
    await tx.query("SELECT pg_advisory_xact_lock($1, hashtext('1'))", [0x77_68])
    t.same((await r.claim(r.worker, [1])).busy, ['1'])
  })
  t.equal(await countOf(r.worker), 2)
})

rule('a worker whose row is gone claims nothing, and what it had is made again', async (t) => {
  const [id = ''] = await r.add()
  const { attempts } = await r.claim(r.worker)
  await dismiss(r.pool, r.worker)
  t.equal(await heartbeat(r.pool, r.worker), false)
  await r.add()
  t.equal(await countOf(r.worker), 0)
  t.match(await closeLost(r.pool), { closed: 1, next: ['1'] })
  t.match(await closeLost(r.pool), { closed: 0 })
  t.match(await r.rows('webhook_attempts'), [{ outcome: 'unknown', error: 'the worker did not tell the outcome' }])
  const other = await enlist(r.pool, 'other')
  t.equal(await countOf(other), 2)
  t.same((await r.end(attempts, answer(500))).kept, [], 'a late failure changes nothing')
  t.match(await r.hook(), { failing_since: null })
  t.equal((await r.end(attempts, answer(200))).kept.length, 1)
  t.match(await r.delivery(id), { status: 'delivered' }, 'a late success counts')
})

rule('only a worker that was heard of all the while removes silent ones', async (t) => {
  const other = await enlist(r.pool, 'other')
  const age = (seconds: number, ...ids: string[]) => r.pool.query(`
    UPDATE ledger.webhook_workers SET beat_at = beat_at - $2 * interval '1 s', steady_since = steady_since - $2 * interval '1 s'
    WHERE id = ANY($1::bigint[])`, [ids, seconds])
  await age(60, r.worker, other)
  const both = await removeSilent(r.pool, r.worker)
  t.match(both, `${r.worker} ${other}`, 'Postgres froze: it was not heard of itself')
  await heartbeat(r.pool, r.worker)
  t.equal(await removeSilent(r.pool, r.worker), both, 'and has to be steady first')
  await r.pool.query("UPDATE ledger.webhook_workers SET steady_since = now() - interval '16 s' WHERE id = $1", [r.worker])
  t.not(await removeSilent(r.pool, r.worker), both)
  t.equal(await heartbeat(r.pool, other), false)
})

/** Its worker ends in the middle of all that it has. */
async function crash (): Promise<void> {
  await dismiss(r.pool, r.worker)
  await closeLost(r.pool)
  r.worker = await enlist(r.pool, 'test')
}

rule('three kills in a row hold no healthy delivery, and the one that crashes is held by its fourth', async (t) => {
  const ids = await r.add(5)
  for (let crashes = 0; crashes < 2; crashes++) {
    t.equal(await countOf(r.worker), 5)
    await crash()
  }
  t.equal(await countOf(r.worker), 0, 'one at a time from now on')
  await r.add(1, { assistant: 2 })
  t.equal(await countOf(r.worker, [2]), 1, 'beside others')
  t.match(await heartbeat(r.pool, r.worker), { suspects: ['1'] })
  const one = { suspects: true, room: 1 }
  t.equal(await countOf(r.worker, [1], one), 1)
  await crash()
  t.same(await r.rows('webhook_deliveries', "status <> 'scheduled'"), [], 'a third kill in a row')
  for (let left = ids.length; left > 1; left--) {
    const { attempts } = await r.claim(r.worker, [1], one)
    t.equal(attempts.length, 1)
    await r.end(attempts, answer(200))
  }
  await r.pool.query('UPDATE ledger.webhook_due SET crashes = 3 WHERE crashes = 2')
  t.equal(await countOf(r.worker, [1], one), 1)
  await crash()
  const statuses = (await r.rows('webhook_deliveries', 'assistant_id = 1')).map(({ status, reason }) => `${status} ${reason}`).sort()
  t.same(statuses, [...Array<string>(4).fill('delivered null'), 'held crashed'])
  t.same(await r.notices(), ['delivery_exhausted crashed'])
})

rule('claims and outcomes read no table whole, also where they were planned for an almost empty one', async (t) => {
  const pool = openPool(r.databaseUrl, { applicationName: 'test', max: 1, onError: () => {} })
  t.teardown(() => pool.end())
  const { add, claim, end } = driving(pool)
  const timesReadWhole = async (...tables: string[]) => {
    await pool.query('SELECT pg_stat_force_next_flush()')
    const found = await pool.query<{ sum: string }>('SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname = ANY($1)', [tables])
    return Number(found.rows[0]?.sum)
  }
  await pool.query('VACUUM ANALYZE ledger.webhook_due')
  for (let n = 0; n < 10; n++) { // Postgres keeps a plan from the sixth execution on
    await add()
    const before = await timesReadWhole('webhooks', 'webhook_deliveries')
    const dueBefore = await timesReadWhole('webhook_due')
    const { attempts } = await claim(r.worker)
    await findAgain(pool, ['1'])
    t.equal(await timesReadWhole('webhook_due'), dueBefore)
    await end(attempts, answer(200))
    t.equal(await timesReadWhole('webhooks', 'webhook_deliveries'), before)
  }
})

rule('claims look no further back than something may wait; what was committed late is found by the reconciler', async (t) => {
  const [late = ''] = await r.add(1)
  await r.pool.query("UPDATE ledger.webhook_due SET worker = 0, started_at = now(), due_at = now() - interval '5 minutes'")
  await r.add(1)
  t.equal(await countOf(r.worker), 1)
  t.ok(Date.now() - Number((await r.hook()).due_from) < 70_000)
  await r.pool.query('UPDATE ledger.webhook_due SET worker = NULL, started_at = NULL WHERE delivery_id = $1', [late])
  t.equal(await countOf(r.worker), 0)
  t.same(await findAgain(r.pool, ['1']), [])
  await findWaiting(r.pool)
  t.same(await findAgain(r.pool, ['1']), ['1'])
  t.equal(await countOf(r.worker), 1)
})

rule('a delivery that ended its workers is sent however long it has waited, also when an operator recovers it', async (t) => {
  const [late = ''] = await r.add(1)
  await r.pool.query("UPDATE ledger.webhook_due SET crashes = 2, due_at = now() - interval '1 hour'")
  await r.add(1)
  await r.end((await r.claim(r.worker)).attempts, answer(200))
  t.equal((await r.claim(r.worker, [1], { suspects: true })).attempts.length, 1)
  await r.pool.query('UPDATE ledger.webhook_due SET worker = NULL, started_at = NULL')
  await beginAnew(r.pool, [late])
  t.equal(await countOf(r.worker), 1)
})

rule('a delivery that is held for a deleted assistant, or for over 30 days, is cancelled', async (t) => {
  const [pending = ''] = await r.add(1)
  const [held = ''] = await r.add(1, { assistant: 2 })
  const [old = ''] = await r.add(1, { assistant: 3 })
  const [young = ''] = await r.add(1, { assistant: 4 })
  const [crashed = ''] = await r.add(1)
  await r.pool.query('DELETE FROM ledger.webhook_due WHERE delivery_id = $1', [crashed])
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'held', reason = 'crashed', finished_at = now() WHERE id = $1", [crashed])
  await r.change({ is_deleted: true }, { assistant_id: 2, is_on: false, is_deleted: true },
    { assistant_id: 3, is_on: false }, { assistant_id: 4, is_on: false })
  await r.pool.query("UPDATE ledger.webhooks SET off_since = off_since - interval '31 days' WHERE off_since IS NOT NULL")
  await r.pool.query("UPDATE ledger.webhook_due SET due_at = due_at - interval '31 days' WHERE delivery_id = $1", [old])
  t.equal(await cancelHeld(r.pool), 3)
  t.match(await r.delivery(pending), { status: 'scheduled' }, 'what is pending is sent')
  for (const id of [held, crashed]) t.match(await r.delivery(id), { status: 'cancelled', reason: 'assistant_deleted' })
  t.match(await r.delivery(old), { status: 'cancelled', reason: 'held_too_long' })
  t.match(await r.delivery(young), { status: 'scheduled' })
})
