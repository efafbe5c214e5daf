// A verification compares rows that are large in little memory.
import t from 'tap'
import { leads } from '../../../projections/leads.js'
import { eventually } from '../../support/eventually.js'
import { callCompleted, leadCreated, type Told } from '../../support/events/call-events.js'
import { mainProcess } from '../../support/ringledger.js'
import { history, replayRig } from '../../support/replay/replay-rig.js'

const count = 120
const rig = await replayRig(t)

function largeLead (id: number): Told {
  const { data, ...rest } = leadCreated(id, 10, [], '1')
  return { ...rest, data: { ...data, variables: { customer_name: '', email: '', notes: 'x'.repeat(450 * 1024) } } }
}

const ids = Array.from({ length: count }, (_, index) => 1_000 + index)
await rig.append(history(3))
for (const id of ids) await rig.append([largeLead(id)])
const head = await rig.append(ids.map((id) => callCompleted(`large-${id}`, { assistant_id: 1, lead_id: id })))
const db = await rig.database(t)
db.project(t, leads)
await eventually(async () => (await db.passed(leads) ?? 0n) >= head, 60_000)

t.test('a small heap outlives the verification of many calls of large leads', async (t) => {
  const args = [db.databaseUrl, rig.eventStoreUrl]
  const { said, ended } = mainProcess<{ rows: number }>(t, new URL('./small-heap-main.js', import.meta.url), args, { heapMb: 64 })
  t.equal(await ended, 0)
  t.match(said, [{ differences: [] }])
  t.ok(Number(said[0]?.rows) > count, `${said[0]?.rows} rows were compared`)
})
