// While somebody's snapshot is open (a backup, a standby), no vacuum removes what deliveries leave in the indexes: what
// ended a while ago costs a claim nothing.
import t from 'tap'
import type { Pool } from 'pg'
import { openPool } from '../../../src/postgres/pool.js'
import { findAgain } from '../../../workers/deliveries/reconcile.js'
import { answer, driving, senderRig, type SenderRig } from '../../support/workers/sender-rig.js'

const delivered = 200_000

/** What so many attempts leave that were due, ran and have ended, of assistants from the first on. */
async function leave (
  { pool, worker }: SenderRig, { first, count, user }: { first: number, count: number, user: string }
): Promise<void> {
  await pool.query(`
    INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at)
    SELECT gen_random_uuid(), 'schedule', $1 + n % $2, $3, now() - interval '1 hour' FROM generate_series(1, ${delivered}) n`,
  [first, count, user])
  await pool.query(`
    UPDATE ledger.webhook_due SET worker = $1, started_at = due_at WHERE due_at < now() - interval '1 minute'`, [worker])
  await pool.query('DELETE FROM ledger.webhook_due WHERE worker IS NOT NULL')
  await pool.query('VACUUM ANALYZE ledger.webhook_due')
}

/** How many pages of the delivery log it touches when it runs once more. */
async function pagesOf (pool: Pool, work: () => Promise<unknown>): Promise<number> {
  const touched = async () => {
    await pool.query('SELECT pg_stat_force_next_flush()')
    const { rows: [row] } = await pool.query<{ pages: number }>(`
      SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 AS pages
      FROM pg_statio_all_tables WHERE schemaname = 'ledger'`)
    return row?.pages ?? NaN
  }
  await work()
  const before = await touched()
  await work()
  return await touched() - before
}

const cases = {
  'of other users': { first: 2, count: 1_000, user: 'another' },
  'of other assistants': { first: 2, count: 1_000, user: '1' },
  'of the same assistant': { first: 1, count: 1, user: '1' }
}

for (const [whose, left] of Object.entries(cases)) {
  t.test(`${delivered} attempts ${whose} under an open snapshot`, async (t) => {
    const r = await senderRig(t)
    const pool = openPool(r.databaseUrl, { applicationName: 'test', max: 1, onError: () => {} })
    t.teardown(() => pool.end())
    const one = driving(pool)
    const steps: Record<string, () => Promise<unknown>> = {
      async 'an attempt' () {
        await one.add(1)
        await one.end((await one.claim(r.worker)).attempts, answer(200))
      },
      'a claim that finds nothing': () => one.claim(r.worker),
      'a look after a claim': () => findAgain(pool, ['1'])
    }
    const looked = async () => {
      const pages: Record<string, number> = {}
      for (const [step, work] of Object.entries(steps)) pages[step] = await pagesOf(pool, work)
      return pages
    }
    await one.add(1)
    const before = await looked()
    const snapshot = await r.pool.connect()
    await snapshot.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM ledger.webhook_due LIMIT 1')
    await leave(r, left)
    const under = await looked()
    t.comment(`pages that are read: ${JSON.stringify(under)}, without it ${JSON.stringify(before)}`)
    for (const step of Object.keys(steps)) t.ok((under[step] ?? NaN) <= 3 * (before[step] ?? NaN), step)
    await snapshot.query('ROLLBACK')
    snapshot.release()
  })
}
