// However many deliveries are pending, a change of their webhook is a small transaction, and so is each that follows.
import t from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { continueMoves } from '../../../workers/deliveries/moves/moves.js'
import { resumeUrl, suspend } from '../../../workers/deliveries/endpoints.js'
import { assistantTo, assistantUpdated, callCompleted } from '../../support/events/call-events.js'
import { percentile } from '../../../bench/support/statistics.js'
import { eventually } from '../../support/eventually.js'
import { idleRig, type Rig } from '../../support/workers/delivery-rig.js'

const many = Number(process.env.PENDING ?? 3_500)
/** What a change of few takes says nothing. */
const isTimed = many > 100_000
const some = 3_500
const mostWithChange = 100
const url = 'https://hooks.example.com/1'

/** One user's assistant with so many deliveries that are due, and another user with an endpoint of the same kind. */
async function rigWithPending (pending: number): Promise<Rig> {
  const r = await idleRig(t)
  await r.tell(assistantTo(url), assistantTo(url, 2, 'another'))
  await r.tell(callCompleted('c-0'), callCompleted('c-another', { assistant_id: 2 }))
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries
      (id, call_id, type, user_id, assistant_id, position, last_position, endpoint_id, body, status, next_attempt_at)
    SELECT gen_random_uuid(), 'many-' || n, type, user_id, assistant_id, position, last_position, endpoint_id, body, status,
           now() - interval '1 day'
    FROM ledger.webhook_deliveries, generate_series(2, $1) AS n WHERE call_id = 'c-0'`, [pending])
  await r.pool.query('VACUUM ANALYZE ledger.webhook_deliveries')
  return r
}

const off = assistantUpdated(1, { is_webhook_active: false })
const on = assistantUpdated(1, { is_webhook_active: true })

async function countOf (r: Rig, where: string): Promise<number> {
  const { rows: [row] } = await r.pool.query<{ count: number }>(`
    SELECT count(*)::integer AS count FROM ledger.webhook_deliveries WHERE user_id = '1' AND ${where}`)
  return row?.count ?? NaN
}

/** Moves to the end; beside each batch slots are given, also another user's. @returns their p99, in milliseconds */
async function moveAll (r: Rig): Promise<number> {
  const taken: number[] = []
  const giveSlots = async () => {
    const from = performance.now()
    await r.enqueuer.enqueue(['1', 'another'])
    taken.push(performance.now() - from)
  }
  for (let goesOn = true; goesOn;) [goesOn] = await Promise.all([continueMoves(r.pool), giveSlots()])
  return percentile(taken, 0.99)
}

async function timed (title: string, work: () => Promise<unknown>): Promise<void> {
  const from = performance.now()
  await work()
  const ms = performance.now() - from
  t.comment(`${title}: ${ms.toFixed()} ms with ${many} pending`)
  if (isTimed) t.ok(ms < 100, `${title} takes less than 100 ms`)
}

const changes: [string, (r: Rig) => Promise<unknown>, string][] = [
  ['switching off', (r) => r.tell(off), "reason = 'webhook_off'"],
  ['switching on', (r) => r.tell(on), "status = 'scheduled'"],
  ['another URL', (r) => r.tell(assistantUpdated(1, { webhook_url: `${url}/new` })), 'endpoint_id = 3'],
  ['suspending', (r) => inTransaction(r.pool, (tx) => suspend(tx, '3', 'gone')), "reason = 'endpoint_suspended'"],
  ['resuming', (r) => inTransaction(r.pool, (tx) => resumeUrl(tx, '1', `${url}/new`)), "status = 'scheduled'"]
]

t.test('a change of a webhook moves few deliveries itself, and the others follow in batches', async (t) => {
  const r = await rigWithPending(many)
  for (const [title, change, moved] of changes) {
    await timed(title, () => change(r))
    t.equal(await countOf(r, moved), mostWithChange, `${title} moves few itself`)
    t.equal(await continueMoves(r.pool), true)
    t.equal(await countOf(r, moved), mostWithChange + 1_000, `${title}: a batch follows`)
    const from = performance.now()
    const p99 = await moveAll(r)
    t.comment(`${title}: the rest took ${(performance.now() - from).toFixed()} ms, slots ${p99.toFixed()} ms (p99)`)
    if (isTimed) t.ok(p99 < 1_000)
    t.equal(await countOf(r, moved), many, `${title}: at last all have followed`)
    await r.pool.query('UPDATE ledger.webhook_deliveries SET queued_at = NULL WHERE queued_at IS NOT NULL')
    await r.pool.query('VACUUM ledger.webhook_deliveries') // as autovacuum does, which tests have switched off
  }
})

t.test('nothing is sent to where a delivery must not go any more, also before it has moved', async (t) => {
  const r = await rigWithPending(some)
  const jobs = await r.enqueuer.enqueue(['1'])
  t.equal(jobs, 10)
  await r.tell(off)
  t.equal(await r.enqueuer.enqueue(['1']), 0, 'none of the many that are scheduled gets a slot')
  const { rows } = await r.pool.query(`
    SELECT id, job_number FROM ledger.webhook_deliveries WHERE user_id = '1' AND job_number = 1`)
  for (const { id, job_number: jobNumber } of rows) await r.deliver({ deliveryId: id, n: 1, jobNumber })
  t.equal((await r.attempts()).length, 0, 'nor does a job start that was queued before')
  await moveAll(r)
  t.equal(await countOf(r, 'queued_at IS NOT NULL'), 0, 'their slots are free')
})

t.test('a change begins a move anew that is under way', async (t) => {
  const r = await rigWithPending(some)
  await r.tell(off)
  await continueMoves(r.pool)
  await r.tell(on)
  await moveAll(r)
  t.equal(await countOf(r, "status = 'scheduled' AND reason IS NULL AND held_at IS NULL"), some)
  t.equal((await r.pool.query('SELECT FROM ledger.moving_assistants')).rowCount, 0)
})

t.test('a batch that waits for a change moves the deliveries that came with it', async (t) => {
  const r = await idleRig(t)
  await r.tell(assistantTo(url), callCompleted('c-0'))
  await r.pool.query('INSERT INTO ledger.moving_assistants (assistant_id, endpoint_id) VALUES (1, NULL)')
  const { moving } = await inTransaction(r.pool, async (tx) => {
    await tx.query('UPDATE ledger.moving_assistants SET endpoint_id = NULL')
    await tx.query(`
      INSERT INTO ledger.webhook_deliveries
        (id, call_id, type, user_id, assistant_id, position, last_position, endpoint_id, body, status, next_attempt_at)
      SELECT gen_random_uuid(), 'c-new', type, user_id, assistant_id, position, last_position, endpoint_id, body, status, now()
      FROM ledger.webhook_deliveries WHERE call_id = 'c-0'`)
    const moving = continueMoves(r.pool)
    await eventually(async () => (await r.pool.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")).rowCount === 1)
    return { moving }
  })
  await moving
  t.equal(await countOf(r, "reason = 'webhook_off'"), 2)
})
