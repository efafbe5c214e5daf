// Who looks for work at one moment is answered by one statement, each of its own tables.
import t from 'tap'
import { hasRows } from '../../../workers/passes/has-rows.js'
import { scratchLedger } from '../../support/postgres/ledger.js'

t.test('each is told of its own tables, and all by one statement', async (t) => {
  const { pool } = await scratchLedger(t)
  await pool.query('INSERT INTO ledger.moving_assistants (assistant_id) VALUES (1)')
  let statements = 0
  pool.on('acquire', () => { statements += 1 })
  t.same(await Promise.all([
    hasRows(pool, 'moving_assistants', 'moving_endpoints'),
    hasRows(pool, 'person_requests'),
    hasRows(pool, 'webhook_recoveries')
  ]), [true, false, false])
  t.equal(statements, 1)
  await pool.query('DELETE FROM ledger.moving_assistants')
  t.equal(await hasRows(pool, 'moving_assistants', 'moving_endpoints'), false, 'nothing is remembered')
})
