// Attempts of the schedule stand in tables of a month each, which are dropped whole.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Pool } from 'pg'
import { addMonths, dropMonths } from '../../../../workers/deliveries/attempts/months.js'
import { startAttempt } from '../../../../workers/deliveries/attempts/start.js'
import { deliveryId } from '../../../../workers/dispatch/delivery-id.js'
import { assistantTo, callCompleted } from '../../../support/events/call-events.js'
import { scratchLedger } from '../../../support/postgres/ledger.js'
import { deliveryRig, type Rig } from '../../../support/workers/delivery-rig.js'

const monthsOf = async (pool: Pool) => (await pool.query<{ name: string }>(`
  SELECT inhrelid::regclass::text AS name FROM pg_inherits
  WHERE inhparent = 'ledger.webhook_attempts'::regclass ORDER BY name`)).rows.map(({ name }) => name)

/** The table of the month that is so many months from now. */
const month = (from: number) => {
  const now = new Date()
  const { 0: year, 1: number } = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + from)).toISOString().split('-')
  return `ledger.webhook_attempts_${year}_${number}`
}
const monthsAgo = (count: number) => new Date(new Date().setUTCDate(1) - (count - 0.5) * 30.4 * 86_400_000)

const insertAttempt = (pool: Pool, at: Date) => pool.query(`
  INSERT INTO ledger.webhook_attempts (delivery_id, n, endpoint_id, worker_token, started_at, finished_at, outcome)
  VALUES ($1, 1, 1, $1, $2, $2, 'delivered')`, [randomUUID(), at])

t.test('the present month and the next three have their tables, however often they are added', async (t) => {
  const { pool } = await scratchLedger(t)
  const expected = [0, 1, 2, 3].map(month)
  t.same(await monthsOf(pool), expected)
  await Promise.all([addMonths(pool), addMonths(pool)])
  t.same(await monthsOf(pool), expected)
  await pool.query(`DROP TABLE ${expected.join(', ')}`)
  await Promise.all([addMonths(pool), addMonths(pool)])
  t.same(await monthsOf(pool), expected, 'also after a long time without a worker')
})

t.test('a month is dropped when the last of its attempts is kept long enough', async (t) => {
  const { pool } = await scratchLedger(t)
  await addMonths(pool, monthsAgo(6))
  await insertAttempt(pool, new Date())
  const [oldest = '', next = ''] = await monthsOf(pool)
  const lastDay = async (table: string) => (await pool.query<{ age: number }>(`
    SELECT extract(day FROM now() - (to_date(right($1, 7), 'YYYY_MM') + interval '1 month'))::integer AS age`, [table])).rows[0]?.age ?? 0
  await insertAttempt(pool, new Date(Date.now() - (await lastDay(next) + 2) * 86_400_000))
  t.same(await dropMonths(pool, await lastDay(oldest) + 1), [])
  t.same(await dropMonths(pool, await lastDay(next) + 1), [oldest.replace('ledger.', '')])
  t.equal((await pool.query('SELECT FROM ledger.webhook_attempts')).rowCount, 2)
  t.same(await dropMonths(pool, await lastDay(next) - 1), [next.replace('ledger.', '')])
  t.equal((await pool.query('SELECT FROM ledger.webhook_attempts')).rowCount, 1)
})

const url = 'https://hooks.example.com/1'

/** A worker that is killed half a year ago, in an attempt for user 1. */
async function killHalfAYearAgo (r: Rig): Promise<void> {
  await addMonths(r.pool, monthsAgo(8))
  await r.tell(assistantTo(url, 1, '1'), callCompleted('c-1'))
  await r.enqueuer.enqueue(['1'])
  const job = { deliveryId: deliveryId('c-1'), n: 1, jobNumber: 1 }
  t.ok(await startAttempt(r.pool, { job, token: randomUUID() }))
  await r.pool.query("UPDATE ledger.webhook_deliveries SET (started_at, queued_at) = (now() - interval '6 months', now() - interval '6 months')")
}

t.test('a month in which an attempt began that is still open is dropped after it was closed', async (t) => {
  const r = await deliveryRig(t, { works: false, enqueues: false })
  await killHalfAYearAgo(r)
  const dropped = await dropMonths(r.pool, 90)
  t.ok(dropped.length > 0 && !dropped.some((name) => `ledger.${name}` >= month(-6)), dropped.join())
  t.match(await r.reconcile(), { unknown: 1 })
  t.same((await r.attempts()).map(({ outcome }) => outcome), ['unknown'])
  t.ok((await dropMonths(r.pool, 90)).includes(month(-6).replace('ledger.', '')))
})

t.test('an attempt that cannot be closed keeps no other delivery from being queued', async (t) => {
  const r = await deliveryRig(t, { works: false, enqueues: false })
  await killHalfAYearAgo(r)
  await r.pool.query(`DROP TABLE ${month(-6)}`)
  await r.tell(assistantTo(`${url}/2`, 2, '2'), callCompleted('c-2', { assistant_id: 2 }))
  await t.rejects(r.reconcile(), /no partition/)
  t.ok([...await r.queue.ids()].some((id) => id.includes(deliveryId('c-2'))))
})
