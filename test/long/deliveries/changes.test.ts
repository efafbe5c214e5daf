// However many deliveries are pending, a change of their webhook is one row, and makes at most 1,000 due; and what one
// user has waiting does not keep another one's from being sent.
import t from 'tap'
import { answer, changeAs, senderRig, url, type SenderRig } from '../../support/workers/sender-rig.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import type { PoolClient } from 'pg'
import { percentile } from '../../../bench/support/statistics.js'
import { requestRecovery } from '../../../workers/operate/recoveries.js'
import { findWaiting } from '../../../workers/deliveries/reconcile.js'
import { continueHastening, endInterruption } from '../../../workers/deliveries/webhooks.js'

const many = Number(process.env.PENDING ?? 20_000)
/** What a change of few takes says nothing. */
const isTimed = many > 100_000

/** Deliveries of assistant 1: each has failed once, and waits for five hours. */
async function fill (r: SenderRig, count: number): Promise<void> {
  await r.change({})
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, status, body, failures, failures_from)
    SELECT gen_random_uuid(), n, 'call.completed', '1', 1, 'scheduled', repeat('x', 500), 1, now() - interval '1 hour'
    FROM generate_series(1, ${count}) n`)
  await r.pool.query(`
    INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at, n)
    SELECT id, 'schedule', 1, '1', now() + interval '5 hours', 2 FROM ledger.webhook_deliveries`)
  await r.pool.query('VACUUM ANALYZE ledger.webhooks, ledger.webhook_deliveries, ledger.webhook_due')
}

const suspending = (tx: PoolClient) => tx.query(`
  UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'gone', revision = revision + 1 WHERE assistant_id = 1`)

const changes: Array<[title: string, change: (tx: PoolClient) => Promise<unknown>, hastened: number]> = [
  ['switching off', (tx) => changeAs(tx, [{ is_on: false }]), 0],
  ['switching on', (tx) => changeAs(tx, [{}]), 1_000],
  ['another URL', (tx) => changeAs(tx, [{ url: `${url}/new` }]), 1_000],
  ['suspending', suspending, 0],
  ['resuming', (tx) => endInterruption(tx, '1'), 1_000]
]

t.test('a change of a webhook is one row, and makes 1,000 due', async (t) => {
  const r = await senderRig(t)
  await fill(r, many)
  const asked = { userId: '1', assistantId: 1, since: new Date(0).toISOString(), statuses: ['scheduled'] as const }
  const refused = await inTransaction(r.pool, (tx) => requestRecovery(tx, asked))
  if (isTimed) t.same(refused, { refused: 'too-many' }, 'more than 100,000 are not sent again at once')
  for (const [title, change, hastened] of changes) {
    const from = performance.now()
    const xid = await inTransaction(r.pool, async (tx) => {
      await change(tx)
      return (await tx.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid')).rows[0]?.xid
    })
    const ms = performance.now() - from
    const written = async (table: string) => (await r.pool.query(
      `SELECT FROM ledger.${table} WHERE xmin = (($1::text::bigint) % 4294967296)::text::xid`, [xid])).rowCount
    t.equal(await written('webhooks'), 1, title)
    t.equal(await written('webhook_due'), hastened, title)
    t.equal(await written('webhook_deliveries'), 0, title)
    t.comment(`${title}: ${ms.toFixed()} ms with ${many} pending`)
    if (isTimed) t.ok(ms < 250, `${title} takes less than 250 ms`)
  }
  const from = performance.now()
  for (let goesOn = true; goesOn;) goesOn = (await continueHastening(r.pool)).length > 0
  t.comment(`the rest took ${(performance.now() - from).toFixed()} ms`)
  const left = await r.rows('webhook_due', 'due_at > now() LIMIT 1')
  t.same(left, [], 'all that waited is due')

  await r.add(1, { assistant: 2, user: 'another' })
  t.equal((await findWaiting(r.pool)).length, 2)
  const taken: number[] = []
  for (let nth = 0; nth < 50; nth++) {
    await r.add(1, { assistant: 2, user: 'another' })
    const busy = r.claim(r.worker, [1]).then(({ attempts }) => r.end(attempts, answer(200)))
    const from = performance.now()
    await r.end((await r.claim(r.worker, [2])).attempts, answer(200))
    taken.push(performance.now() - from)
    await busy
  }
  t.comment(`another user's claim and outcome: p50 ${percentile(taken, 0.5).toFixed()} ms`)
  t.ok(percentile(taken, 0.5) < 1_000)
})
