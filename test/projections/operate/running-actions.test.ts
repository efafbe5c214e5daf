// What operators see beside a projection is the action that runs, however many have ended since it began.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { beginAction, endAction, runningActions } from '../../../projections/engine/actions.js'
import { scratchLedger } from '../../support/postgres/ledger.js'

const { pool } = await scratchLedger(t)

t.test('an action that runs for long is found among those that have ended since', async (t) => {
  const long = { id: randomUUID(), action: 'replay', projection: 'calls' } as const
  t.ok(await beginAction(pool, long))
  for (let ended = 0; ended < 30; ended++) {
    const id = randomUUID()
    t.ok(await beginAction(pool, { id, action: 'pause', projection: 'leads' }))
    await endAction(pool, id, 'done', '')
  }
  t.match(await runningActions(pool), [{ ...long, state: 'running' }])
})

t.test('a process that says nothing any more runs nothing', async (t) => {
  await pool.query("UPDATE ledger.projection_actions SET told_at = now() - interval '16 seconds'")
  t.same(await runningActions(pool), [])
})
