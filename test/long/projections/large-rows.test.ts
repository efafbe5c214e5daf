// A batch of small events may change many large rows: they are loaded in parts, by a read model and by the dispatcher;
// so are those that a verification compares.
import t from 'tap'
import { leads } from '../../../projections/leads.js'
import { eventually } from '../../support/eventually.js'
import { callCompleted, leadCreated } from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { mainProcess } from '../../support/ringledger.js'
import { emptyReadModels } from '../../support/projections/projected.js'
import { history, replayRig } from '../../support/replay/replay-rig.js'

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

t.test('a small heap outlives the verification of many calls of large leads', async (t) => {
  const rig = await replayRig(t)
  const ids = Array.from({ length: 120 }, (_, index) => 1_000 + index)
  await rig.append(history(3))
  for (const id of ids) {
    const { data, ...rest } = leadCreated(id, 10, [], '1')
    const variables = { customer_name: '', email: '', notes: 'x'.repeat(450 * 1024) }
    await rig.append([{ ...rest, data: { ...data, variables } }])
  }
  const head = await rig.append(ids.map((id) => callCompleted(`large-${id}`, { assistant_id: 1, lead_id: id })))
  const db = await rig.database(t)
  db.project(t, leads)
  await eventually(async () => (await db.passed(leads) ?? 0n) >= head, 60_000)
  const args = [db.databaseUrl, rig.eventStoreUrl]
  const { said, ended } = mainProcess<{ rows: number }>(t, new URL('./small-heap-main.js', import.meta.url), args, { heapMb: 64 })
  t.equal(await ended, 0)
  t.match(said, [{ differences: [] }])
  t.ok(Number(said[0]?.rows) > ids.length, `${said[0]?.rows} rows were compared`)
})
