// A replay that is frozen past its lease: another one replaces it, and its late writes are refused.
import t, { type Test } from 'tap'
import { checkpointOf, generationsOf } from '../../../projections/engine/generations.js'
import { leads } from '../../../projections/leads.js'
import { replay } from '../../../projections/engine/operations.js'
import { readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { eventually } from '../../support/eventually.js'
import { rowsOf } from '../../support/projections/projected.js'
import { history, replayRig, replayProcesses } from '../../support/replay/replay-rig.js'

const rig = await replayRig(t)
const start = replayProcesses(t, rig.eventStoreUrl)
const head = await rig.append(history(40))

/** Before the first rows, before later ones, after the verification, and during the swap. */
const points = [
  ['^WITH raised AS', 1],
  ['^WITH moved AS .*INSERT INTO read_leads_g2.leads', 2],
  ['^UPDATE ledger.generations SET verified', 1],
  ['^CREATE OR REPLACE VIEW', 1]
] as const

async function freezeAt (t: Test, at: string, nth: number): Promise<void> {
  const db = await rig.database(t)
  const live = db.project(t, leads)
  await db.reached(leads, head)
  await live.stop()
  const rows = () => Promise.all(leads.tables.map(({ name }) => rowsOf(db.pool, leads, name)))
  const state = async () => ({
    rows: await rows(),
    generations: await generationsOf(db.pool, leads),
    position: await readCheckpoint(db.pool, checkpointOf(leads, 2))
  })
  const before = await rows()
  const frozen = start(db.databaseUrl, 'replay', { signal: 'SIGSTOP', at, nth })
  await eventually(() => frozen.said.length > 0)
  t.match(await db.generations(leads), [/1 active/, /2 (building|ready)/], 'readers see what they saw')
  await db.expireLeases()
  t.equal(await replay(leads, db.options()), 2, `another one goes on where it was frozen: ${at}`)
  const done = await state()
  t.strictSame(done.rows, before)
  frozen.signal('SIGCONT')
  t.equal(await frozen.ended, at.includes('VIEW') ? 0 : 1, frozen.said.join('\n'))
  t.strictSame(await state(), done, 'it changed nothing')
  if (!at.includes('VIEW')) {
    t.match(
      frozen.said[1],
      /^BrokenOff: The replay of leads broke off: .*(was lost|moved|terminat|no longer being built)/,
    `and says why: ${at}`
    )
  }
}

t.test('frozen anywhere it is replaced, and commits nothing more', async (t) => {
  await Promise.all(points.map(([at, nth]) => freezeAt(t, at, nth)))
})
