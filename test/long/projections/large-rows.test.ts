// A batch of small events may change many large rows: a read model and the dispatcher load them in parts.
import t from 'tap'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { mainProcess } from '../../support/ringledger.js'
import { emptyReadModels } from '../../support/projections/projected.js'

for (const [kind, table] of [
  ['assistants', "read_assistants_g1.assistants WHERE (settings->>'record_call')::boolean"],
  ['leads', "read_leads_g1.leads WHERE status = 'completed'"],
  ['dispatcher', 'ledger.webhook_deliveries']
] as const) {
  t.test(`a small heap outlives a batch that changes 120 rows of 450 KiB: ${kind}`, async (t) => {
    const { pool, databaseUrl } = await scratchLedger(t)
    await emptyReadModels(pool)
    const args = [databaseUrl, kind, '120', String(450 * 1024)]
    const { said, ended } = mainProcess(t, new URL('./large-rows-main.js', import.meta.url), args, { heapMb: 64 })
    t.equal(await ended, 0)
    t.strictSame(said, [{ changed: 120 }])
    const { rows: [found] } = await pool.query(`SELECT count(*)::integer AS count FROM ${table}`)
    t.equal(found.count, 120)
  })
}
