// A replay takes rows that are created for new ones, without a look; where one is there, it goes on with a look.
import t from 'tap'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { replay } from '../../../projections/engine/replay.js'
import { callCompleted, leadCreated } from '../../support/events/call-events.js'
import { rowsOf } from '../../support/projections/projected.js'
import { replayRig } from '../../support/replay/replay-rig.js'

const rig = await replayRig(t)

t.test('what the log creates a second time is the same in a replay', { timeout: 120_000 }, async (t) => {
  const head = await rig.append([
    leadCreated(7_000, 10, [7_001]), callCompleted('twice', { lead_id: 7_000 }),
    leadCreated(7_010, 10), leadCreated(7_020, 10), // so that nothing of the first ones is in memory any more
    leadCreated(7_000, 10, [7_001]), callCompleted('twice', { lead_id: 7_001, duration: 9 })
  ])
  const db = await rig.database(t)
  db.project(t, leads, calls)
  for (const projection of [leads, calls]) {
    await db.reached(projection, head)
    const before = await rowsOf(db.pool, projection)
    t.equal(await replay(projection, db.options({ limits: { cacheBytes: 0, events: 1 } })), 2)
    t.strictSame(await rowsOf(db.pool, projection), before)
  }
})
