// What was changed and deleted is replayed to the same rows.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { openIds } from '../../../src/commands/ids.js'
import { replay } from '../../../projections/engine/operations.js'
import {
  assistantDeleted, assistantSwitched, assistantUpdated, callCompleted, type Told, leadDeleted, leadStatusChanged,
  leadUpdated
} from '../../support/events/call-events.js'
import { rowsOf } from '../../support/projections/projected.js'
import { history, replayRig } from '../../support/replay/replay-rig.js'

const count = 30
const rig = await replayRig(t)
await rig.append(history(count))

/** Of every lead that the history has: one contact more, or only another one; calls move what users moved before. */
const end = await rig.append(Array.from({ length: count }, (_, index): Told[] => {
  const [id, user, lead] = [index + 1, String(index % 3), index * 10 + 10]
  const contacts = index % 2 ? [lead + 2, lead + 1] : [lead + 3]
  const gone = index % 2 ? [] : [lead + 1]
  return [
    assistantSwitched(id, 'inactive', user),
    leadUpdated(lead, 10, contacts, gone, user),
    leadStatusChanged(lead, 10, 'blacklisted', null, user),
    leadStatusChanged(lead, 10, 'scheduled', lead + 2, user),
    callCompleted(`again-${index}`, { assistant_id: id, lead_id: lead + index % 4, lead_status: 'rescheduled' }),
    ...(index % 3 ? [leadDeleted(lead, 10, user), assistantDeleted(id, user)] : [assistantSwitched(id, 'active', user)]),
    ...(index % 5 ? [assistantUpdated(id, { assistant_name: `Later ${index}` }, user)] : []),
    callCompleted(`late-${index}`, { assistant_id: id, lead_id: lead })
  ]
}).flat())

t.test('rows of what was changed and deleted are the same after a replay', async (t) => {
  const db = await rig.database(t)
  db.project(t, assistants, leads, calls)
  for (const projection of [assistants, leads, calls]) {
    await db.reached(projection, end)
    const before = await rowsOf(db.pool, projection)
    t.equal(await replay(projection, db.options()), 2, `${projection.name} is replayed and verified`)
    t.strictSame(await rowsOf(db.pool, projection), before, projection.name)
  }
})

t.test('a fresh database gives out no id of a contact that came with an update', async (t) => {
  const db = await rig.database(t)
  db.project(t, leads)
  await db.reached(leads, end)
  const highest = Math.max(...Array.from({ length: count }, (_, index) => index * 10 + 10 + (index % 2 ? 2 : 3)))
  const [id = 0] = await openIds(db.pool, async () => true).take('lead')
  t.ok(id > highest, `${id} is beyond ${highest}`)
})
