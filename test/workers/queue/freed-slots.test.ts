// What the end of an attempt costs: a look whether anything else of its user is due, and no more while nothing is.
// And what is committed while slots are given is not passed over.
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import t from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import type { Job } from '../../../workers/deliveries/attempts/attempt.js'
import { finishAttempts } from '../../../workers/deliveries/attempts/finish.js'
import { startAttempts, type Start } from '../../../workers/deliveries/attempts/start.js'
import { acquireSlots } from '../../../workers/queue/slots.js'
import { assistantTo, callCompleted, callsOf } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { deliveryRig } from '../../support/workers/delivery-rig.js'
import { receiver } from '../../support/receivers/receiver.js'

const finish = { outcome: 'delivered', statusCode: 204, durationMs: 1, error: null, excerpt: null, truncated: false } as const

async function startAll (pool: Pool, jobs: Job[]): Promise<Start[]> {
  const starts = jobs.map((job) => ({ job, token: randomUUID() }))
  const started = await startAttempts(pool, starts)
  t.ok(starts.every((start) => started.get(start)?.attempt))
  return starts
}

/** @returns the users of whom something is due */
async function end (db: Pool | PoolClient, { job: { deliveryId, n }, token }: Start): Promise<string[]> {
  const users: string[] = []
  const { rows: [row] } = await db.query<{ endpoint_id: string }>(
    'SELECT endpoint_id FROM ledger.webhook_deliveries WHERE id = $1', [deliveryId])
  const attempt = { deliveryId, n, token, endpointId: row?.endpoint_id ?? '' }
  await finishAttempts(db, [{ attempt, finish, verdict: { status: 'delivered' } }], (user) => users.push(user))
  return users
}

t.test('what comes while the last attempt that holds a slot ends does not wait for the reconciler', async (t) => {
  const r = await deliveryRig(t, { works: false })
  const hook = await receiver(t)
  await r.tell(assistantTo(hook.url), ...callsOf(1, 10))
  await eventually(async () => (await r.queue.ids()).size === 10)
  const all = (await r.deliveries()).map(({ id }) => ({ deliveryId: String(id), n: 1, jobNumber: 1 }))
  const starts = await startAll(r.pool, all)
  await inTransaction(r.pool, async (tx) => {
    for (const start of starts) t.same(await end(tx, start), [], 'nothing else is there yet')
    await r.tell(callCompleted('late'))
    await eventually(async () => (await r.pool.query(`
      SELECT FROM pg_stat_activity WHERE query LIKE '%acquire_slots%' AND state = 'idle' AND pid <> pg_backend_pid()`)).rowCount)
  })
  await eventually(
    async () => (await r.deliveries()).some(({ call_id, job_number }) => call_id === 'late' && job_number === 1), 4_000
  )
})

t.test('what is committed behind the snapshot of the statement comes back with its slot', async (t) => {
  const r = await deliveryRig(t, { works: false, enqueues: false })
  const user = '1'
  await r.tell(assistantTo('http://127.0.0.1:1/', 1, user))
  const holder = await r.pool.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [0x77_68, user])
  const acquiring = acquireSlots(r.pool, [user])
  await eventually(async () => (await r.pool.query(
    "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%acquire_slots%'")).rowCount === 1)
  await r.tell(...callsOf(1, 1))
  await holder.query('COMMIT')
  holder.release()
  const { jobs } = await acquiring
  const { rows } = await r.pool.query('SELECT FROM ledger.webhook_deliveries WHERE queued_at IS NOT NULL')
  t.equal(rows.length, 1)
  t.equal(jobs.length, 1, 'a slot without a job would wait for the reconciler')
})
