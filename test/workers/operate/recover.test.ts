// Recovery after an outage: all that was not delivered begins anew, however often the command is interrupted.
import t from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import {
  recoverable, recover, recoveries, recoveryKind, requestRecovery, type Recoverable
} from '../../../workers/operate/recoveries.js'
import { cancelRestored } from '../../../workers/deliveries/pending.js'
import { giveTurn } from '../../../workers/work/run.js'
import { keepingLog } from '../../support/postgres/ledger.js'
import { answer, ruleRig } from '../../support/workers/sender-rig.js'

const { signal } = new AbortController()
const epoch = new Date(0)
const sinceAnHour = () => new Date(Date.now() - 3_600_000)

const { r, rule } = await ruleRig(t)

const kinds = ['exhausted', 'cancelled', 'later', 'due', 'delivered', 'running', 'old'] as const

/** One row of each kind. */
async function afterOutage (): Promise<Record<typeof kinds[number], string>> {
  const ids = await r.add(kinds.length)
  const named = Object.fromEntries(kinds.map((kind, nth) => [kind, ids[nth] ?? ''])) as Record<typeof kinds[number], string>
  const set = (kind: typeof kinds[number], change: string) =>
    r.pool.query(`UPDATE ledger.webhook_deliveries SET ${change} WHERE id = $1`, [named[kind]])
  await r.pool.query(`UPDATE ledger.webhook_due SET due_at = now() + interval '1 day' WHERE delivery_id <> '${named.running}'`)
  await r.claim(r.worker)
  await set('exhausted', "status = 'exhausted', reason = 'attempts_used_up', failures = 10, attempt_count = 10, finished_at = now()")
  await set('cancelled', "status = 'cancelled', reason = 'gone', finished_at = now()")
  await set('later', 'failures = 8, attempt_count = 8')
  await set('delivered', "status = 'delivered', finished_at = now()")
  await set('old', "status = 'exhausted', created_at = now() - interval '1 day'")
  await r.pool.query(`UPDATE ledger.webhook_due SET due_at = now() WHERE delivery_id = '${named.due}'`)
  await r.pool.query(`
    DELETE FROM ledger.webhook_due WHERE delivery_id IN (SELECT id FROM ledger.webhook_deliveries WHERE status <> 'scheduled')`)
  return named
}

rule('each delivery that failed since then begins its schedule anew, and its attempts are counted on', async (t) => {
  const ids = await afterOutage()
  t.same(await recover({ pool: r.pool, since: epoch, signal, userId: '9' }), { scheduled: 0, held: 0, off: 0 }, 'of another user')
  t.same(await recover({ pool: r.pool, since: sinceAnHour(), signal }), { scheduled: 3, held: 0, off: 0 })
  t.match(await r.delivery(ids.exhausted), { status: 'scheduled', reason: null, attempt_count: 10, due_in: 0 })
  t.match(await r.delivery(ids.cancelled), { status: 'scheduled', due_in: 0 })
  t.match(await r.delivery(ids.later), { status: 'scheduled', attempt_count: 8, due_in: 0 })
  t.match(await r.delivery(ids.delivered), { status: 'delivered', due_in: null })
  t.match(await r.delivery(ids.old), { status: 'exhausted', due_in: null })
  t.same(await recover({ pool: r.pool, since: sinceAnHour(), signal }), { scheduled: 0, held: 0, off: 0 }, 'a second run finds nothing left')
  const { attempts } = await r.claim(r.worker)
  t.same(new Set(attempts.map(({ failures }) => failures)), new Set([0]), 'with all attempts before them')
})

/** Notes a recovery of assistant 1, and gives it turns until it has ended. @returns how many it found */
async function recoverAll (statuses: readonly Recoverable[], since = epoch): Promise<unknown> {
  const requested = await inTransaction(r.pool, (tx) =>
    requestRecovery(tx, { userId: '1', assistantId: 1, since: since.toISOString(), statuses }))
  const kind = { [recoveryKind]: recoveries({ pool: r.pool, streams: { read: async () => [] } }) }
  const turns = { pool: r.pool, kinds: kind, holder: 'test', turnMs: 2_000, retryMs: 10, signal, log: keepingLog() }
  for (const { id } of await r.rows('work', "state = 'accepted'")) await giveTurn(turns, String(id))
  return 'count' in requested ? requested.count : requested.refused
}

rule('users recover by the statuses that they see, also what waits for a retry', async (t) => {
  const ids = await afterOutage()
  t.equal(await recoverAll(['skipped', 'held']), 0)
  t.equal(await recoverAll(['cancelled']), 1)
  t.match(await r.delivery(ids.cancelled), { status: 'scheduled', due_in: 0 })
  t.match(await r.delivery(ids.exhausted), { status: 'exhausted' })
  t.equal(await recoverAll(['scheduled']), 1, 'what is due or runs needs nothing')
  t.match(await r.delivery(ids.later), { status: 'scheduled', due_in: 0 })
  await r.pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'gone'")
  t.equal(await recoverAll(['scheduled']), 0)
  t.equal(await recoverAll(['held'], sinceAnHour()), 4, 'of a suspended webhook what waits is held')
  t.equal(await recoverAll(recoverable), 6)
  t.match(await r.rows('work', "state <> 'completed'"), [])
})

rule('few at a time, so that calls of now need not wait behind them', async (t) => {
  await r.add(450)
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'exhausted'")
  await r.pool.query('DELETE FROM ledger.webhook_due')
  t.equal(await recoverAll(['exhausted']), 450)
  t.equal((await r.rows('webhook_due')).length, 200)
  t.match(await r.rows('work'), [{ state: 'accepted', progress: { waits_for: String } }])
  for (let rounds = 0; rounds < 30; rounds++) await r.end((await r.claim(r.worker)).attempts, answer(200))
  await r.pool.query('UPDATE ledger.work SET due_at = now()')
  t.equal(await recoverAll(['exhausted']), 250)
  t.ok((await r.rows('webhook_due')).length >= 200)
})

rule('after a restore what was pending is cancelled step by step, also what ran and what was asked for', async (t) => {
  await r.add(1_050)
  const { attempts } = await r.claim(r.worker)
  const [test] = (await r.pool.query<{ id: string }>(`
    INSERT INTO ledger.webhook_deliveries (id, type, user_id, assistant_id, body, status)
    VALUES (gen_random_uuid(), 'webhook.test', '1', 1, '{}', 'scheduled') RETURNING id`)).rows
  await r.ask(test?.id ?? '', 'test')
  await r.change({ is_on: false })
  const steps = [await cancelRestored(r.pool), await cancelRestored(r.pool), await cancelRestored(r.pool)]
  t.equal((steps[0] ?? 0) + (steps[1] ?? 0), 1_051)
  t.same([steps[2], await r.rows('webhook_due')], [undefined, []])
  t.equal((await r.rows('webhook_deliveries', "status = 'cancelled' AND reason = 'restored'")).length, 1_051)
  t.equal((await r.rows('webhook_attempts', "outcome = 'unknown'")).length, attempts.length)
})
