// Attempts in one statement, while another transaction holds the row of one of them.
import t from 'tap'
import type { Pool, PoolClient } from 'pg'
import { endpointIds } from '../../../workers/deliveries/endpoints.js'
import { finishAttempts } from '../../../workers/deliveries/attempts/finish.js'
import { startAttempt, startAttempts, type Start } from '../../../workers/deliveries/attempts/start.js'
import { eventually } from '../../support/eventually.js'
import { url, queued, startOf, delivered } from './queued-attempts.js'

t.test('a row that is locked keeps only its own attempt waiting', async (t) => {
  const { pool } = await queued(t, 3)
  const starts = [startOf(0), startOf(1), startOf(2)]
  const [held, free] = [starts[0] ?? startOf(0), starts[1] ?? startOf(1)]
  const release = await hold(pool, held)
  const started = await startAttempts(pool, starts)
  t.same(starts.map((start) => started.has(start)), [false, true, true])
  const counted = await finishAttempts(pool, [delivered(held), delivered(free)])
  t.same([...counted.values()], [true])
  const waiting = startAttempt(pool, held)
  await isWaiting(pool)
  await release()
  t.match(await waiting, { token: held.token, url }, 'it starts when the row is free')
})

t.test('an attempt that waited for its row goes to the URL that the holder of the row wrote', async (t) => {
  const { pool } = await queued(t, 1)
  const start = startOf(0)
  const release = await hold(pool, start, async (tx) => {
    const [endpoint] = await endpointIds(tx, [{ user_id: '1', url: `${url}/new` }])
    await tx.query('UPDATE ledger.webhook_deliveries SET endpoint_id = $1', [endpoint])
  })
  const waiting = startAttempt(pool, start)
  await isWaiting(pool)
  await release()
  t.match(await waiting, { url: `${url}/new` })
})

/** Locks the row of a delivery, as a transaction that changes it does. @returns what releases it */
async function hold (
  pool: Pool, { job }: Start, work: (tx: PoolClient) => Promise<void> = async () => {}
): Promise<() => Promise<void>> {
  const holder = await pool.connect()
  await holder.query('BEGIN')
  await holder.query('UPDATE ledger.webhook_deliveries SET duplicates = duplicates WHERE id = $1', [job.deliveryId])
  await work(holder)
  return async () => {
    await holder.query('COMMIT')
    holder.release()
  }
}
const isWaiting = (pool: Pool) => eventually(async () => {
  const { rowCount } = await pool.query(`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  return rowCount === 1
})
