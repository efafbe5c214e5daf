// Dead rows of the delivery log are removed soon: they slow the giving of slots.
import t from 'tap'
import { scratchLedger } from '../../support/postgres/ledger.js'

t.test('a hundredth of dead rows, not a fifth, has the delivery log vacuumed, without rests', async (t) => {
  const { pool } = await scratchLedger(t)
  const { rows } = await pool.query(`
    SELECT relname, array_to_string(reloptions, ' ') AS options FROM pg_class
    WHERE relname IN ('webhook_deliveries', 'webhook_attempts_on_demand') AND relkind = 'r' ORDER BY 1`)
  t.equal(rows.length, 2)
  for (const { relname, options } of rows) {
    t.match(options, /autovacuum_vacuum_scale_factor=0.01\b/, relname)
    t.match(options, /autovacuum_vacuum_cost_delay=0\b/, relname)
  }
})
