// A read model that was filled while there was nothing is read by its indexes once it is large.
import t from 'tap'
import { findLead } from '../../../projections/find-leads.js'
import { leads } from '../../../projections/leads.js'
import { replay } from '../../../projections/engine/replay.js'
import { planOf } from '../../support/postgres/plan.js'
import { replayRig } from '../../support/replay/replay-rig.js'

t.test('how rows are found is not planned for an empty table, as the plan outlasts that', async (t) => {
  const { pool, options } = await (await replayRig(t)).database(t)
  await replay(leads, options())
  const nodes = await planOf(pool, (db) => findLead(db, '1', 20))
  t.ok(nodes.includes('Index Scan on leads'), nodes.join(', '))
  t.notOk(nodes.some((node) => node.startsWith('Seq Scan')), nodes.join(', '))
})
