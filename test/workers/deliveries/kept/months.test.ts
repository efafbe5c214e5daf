// Attempts of the schedule stand in tables of a month each, which are dropped whole.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Pool } from 'pg'
import { addMonths, dropMonths } from '../../../../workers/deliveries/attempts/months.js'
import { scratchLedger } from '../../../support/postgres/ledger.js'

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
