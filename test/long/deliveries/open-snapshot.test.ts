// While somebody's snapshot is open (a backup, a standby), no vacuum removes what deliveries leave in the indexes.
import t from 'tap'
import type { PoolClient } from 'pg'
import { acquireSlots } from '../../../workers/queue/slots.js'
import { passOverDue } from '../../../workers/queue/due.js'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { idleRig, type Rig } from '../../support/workers/delivery-rig.js'

const delivered = 200_000

/** Deliveries of two assistants of one user; each of them was due `age` ago. */
async function fill (r: Rig, count: number, age: string): Promise<void> {
  await r.pool.query(`
    INSERT INTO ledger.webhook_deliveries
      (id, call_id, type, user_id, assistant_id, position, last_position, endpoint_id, body, status, next_attempt_at)
    SELECT gen_random_uuid(), gen_random_uuid(), type, user_id, assistant_id, position, last_position, endpoint_id, body,
           'scheduled', clock_timestamp() - interval '${age}'
    FROM ledger.webhook_deliveries, generate_series(1, $1) WHERE call_id LIKE 'first-%'`, [count / 2])
}

/** What has become of all that was due, in transactions of its own, as slots are given and attempts end. */
async function deliverAll (r: Rig): Promise<void> {
  await r.pool.query(`
    UPDATE ledger.webhook_deliveries SET queued_at = clock_timestamp() - interval '50 minutes' WHERE call_id NOT LIKE 'first-%'`)
  await r.pool.query(`
    UPDATE ledger.webhook_deliveries SET status = 'delivered', queued_at = NULL, next_attempt_at = NULL, finished_at = now()
    WHERE queued_at IS NOT NULL`)
}

/** How many pages a statement touches, and nothing of it stays. */
async function pagesOf (r: Rig, statement: string): Promise<number> {
  const tx = await r.pool.connect()
  try {
    await tx.query('BEGIN')
    const pages = await explained(tx, statement)
    await tx.query('ROLLBACK')
    return pages
  } finally {
    tx.release()
  }
}

async function explained (tx: PoolClient, statement: string): Promise<number> {
  for (let warm = 0; warm < 2; warm++) await tx.query(`SAVEPOINT warm; ${statement}; ROLLBACK TO warm`)
  const { rows: [row] } = await tx.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`)
  const plan = row?.['QUERY PLAN'][0].Plan ?? {}
  return (plan['Shared Hit Blocks'] ?? NaN) + (plan['Shared Read Blocks'] ?? NaN)
}

const give = "SELECT * FROM ledger.acquire_slots(ARRAY['1'], 1, 10, 50, 40, '{}')"

for (const [waiting, age] of [['what is due waits for no time', '1 second'], ['what is due waits for long', '30 minutes']] as const) {
  t.test(`slots are given as soon as ever under an open snapshot, while ${waiting}`, async (t) => {
    const r = await idleRig(t)
    await r.tell(assistantTo('https://hooks.example.com/1', 1), assistantTo('https://hooks.example.com/2', 2))
    await r.tell(callCompleted('first-1'), callCompleted('first-2', { assistant_id: 2 }))
    await fill(r, 100, age)
    await r.pool.query('VACUUM ANALYZE ledger.webhook_deliveries')
    await passOverDue(r.pool)
    const before = await pagesOf(r, give)

    const snapshot = await r.pool.connect()
    await snapshot.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM ledger.webhook_deliveries LIMIT 1')
    await deliverAll(r)
    await fill(r, delivered, '1 hour')
    await deliverAll(r)
    await fill(r, 100, age)
    await r.pool.query('VACUUM ANALYZE ledger.webhook_deliveries')
    await passOverDue(r.pool)
    const under = await pagesOf(r, give)
    t.ok(under <= 2 * before, `${under} pages are read, not more than twice ${before}`)
    t.same((await r.pool.query("SELECT * FROM ledger.due_users(ARRAY['1'])")).rows, [{ due_users: '1' }])
    t.equal((await acquireSlots(r.pool, ['1'])).jobs.length, 20)
    await snapshot.query('ROLLBACK')
    snapshot.release()
  })
}
