// A replay that lost its lease unnoticed says nothing of a generation that has got the number of its own.
import t, { type Test } from 'tap'
import { generationsOf } from '../../../projections/engine/generations.js'
import { leads } from '../../../projections/leads.js'
import { drop } from '../../../projections/engine/operations.js'
import { replay } from '../../../projections/engine/replay.js'
import { Gate, watchedPool } from '../../support/postgres/statements.js'
import { type ReplayDatabase, history, replayRig } from '../../support/replay/replay-rig.js'

const rig = await replayRig(t)
const head = await rig.append(history(10))

/** A replay that waits before its first statement like this. */
function heldBefore (t: Test, db: ReplayDatabase, statement: RegExp) {
  const gate = new Gate()
  t.teardown(() => gate.open())
  const pool = watchedPool(db.pool, {
    before: async (sent) => {
      if (!statement.test(sent)) return
      gate.close()
      await gate.pass()
    }
  })
  return { gate, replaying: replay(leads, { ...db.options(), pool, consumerPool: pool }) }
}

for (const [says, statement] of [['verified', /SET verified/], ['ready', /SET (complete|state)/]] as const) {
  t.test(`it does not say that it is ${says}`, async (t) => {
    const db = await rig.database(t)
    const live = db.project(t, leads)
    await db.reached(leads, head)
    await live.stop()
    const former = heldBefore(t, db, statement)
    await former.gate.arrived
    await db.expireLeases()
    await drop(leads, 2, db.options())
    const next = heldBefore(t, db, /^WITH (moved|raised)/)
    await next.gate.arrived
    former.gate.open()
    await t.rejects(former.replaying, { name: 'BrokenOff' })
    t.match((await generationsOf(db.pool, leads)).at(-1), { generation: 2, state: 'building', verified: null, complete: false })
    next.gate.open()
    t.equal(await next.replaying, 2)
  })
}
