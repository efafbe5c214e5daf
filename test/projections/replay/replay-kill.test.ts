// A replay that is killed, wherever it is, is gone on with, and rows are the fold of the log.
import t, { type Test } from 'tap'
import { checkpointOf, generationsOf } from '../../../projections/replay/generations.js'
import { leads } from '../../../projections/leads.js'
import { drop } from '../../../projections/replay/drop.js'
import { replay } from '../../../projections/replay/replay.js'
import { rollback } from '../../../projections/replay/rollback.js'
import { readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { dropPoints, replayPoints, rollbackPoints } from '../../support/fault-points.js'
import { rowsOf } from '../../support/projected.js'
import { history, replayRig, type ReplayDatabase } from '../../support/replay-rig.js'
import { replayProcesses } from '../../support/replay-process.js'

const atOnce = 4
t.setTimeout(300_000) // it starts many processes, and other tests run beside it

const rig = await replayRig(t)
const start = replayProcesses(t, rig.eventStoreUrl)
const head = await rig.append(history(40))
const whole = await rig.database(t)
whole.project(t, leads)
await whole.reached(leads, head)

/** Projected, and no projector runs any more. */
async function projected (t: Test): Promise<ReplayDatabase> {
  const db = await rig.database(t)
  const live = db.project(t, leads)
  await db.reached(leads, head)
  await live.stop()
  return db
}

/** As they do by themselves within four seconds. */
const expireLeases = ({ pool }: ReplayDatabase) => pool.query("UPDATE ledger.leases SET expires_at = '-infinity'")

async function killAt (t: Test, at: string, nth: number): Promise<void> {
  const db = await projected(t)
  t.equal(await start(db.databaseUrl, 'replay', 'SIGKILL', at, nth).ended, 'SIGKILL', `killed at ${at}, time ${nth}`)
  await expireLeases(db)
  const [active, next] = await generationsOf(db.pool, leads)
  const isSwapped = at === 'swap: committed'
  t.equal(active?.state, isSwapped ? 'retained' : 'active', 'readers see what they saw')
  const stood = next && next.state !== 'active' ? await readCheckpoint(db.pool, checkpointOf(leads, next.generation)) : 0n
  const options = db.options()
  t.equal(await replay(leads, options), isSwapped ? 3 : 2)
  if (stood > 0n && next?.state === 'building') t.match(options.said, [/Generation 2 of leads was begun earlier: going on with it/])
  const again = db.project(t, leads)
  await db.reached(leads, head)
  await again.stop()
  for (const { name } of leads.tables) t.strictSame(await rowsOf(db.pool, leads, name), await rowsOf(whole.pool, leads, name), `${name} after ${at}`)
}

t.test('killed at every point', async (t) => {
  const left = [...replayPoints]
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let point = left.shift(); point; point = left.shift()) await killAt(t, ...point)
  }))
})

t.test('a rollback that is killed is gone on with, and so is a drop', async (t) => {
  const db = await projected(t)
  await replay(leads, db.options())
  for (const at of rollbackPoints) {
    t.equal(await start(db.databaseUrl, 'rollback', 'SIGKILL', at).ended, 'SIGKILL', at)
    t.strictSame(await db.generations(leads), ['1 ready', '2 active'], 'readers see what they saw')
    await expireLeases(db)
    t.equal(await rollback(leads, db.options()), 1)
  }
  let newest = 2
  for (const at of dropPoints) {
    await expireLeases(db)
    t.equal(await start(db.databaseUrl, 'drop', 'SIGKILL', at).ended, 'SIGKILL', at)
    const left = (await db.generations(leads)).filter((each) => each !== '1 active')
    t.strictSame(left, at === 'drop: committed' ? [] : [`${newest} dropping`])
    if (left.length > 0) t.strictSame(await drop(leads, undefined, db.options()), [newest])
    t.equal((await db.pool.query("SELECT FROM pg_namespace WHERE nspname ~ '^read_leads_g' AND nspname <> 'read_leads_g1'")).rowCount, 0)
    newest = await replay(leads, db.options())
    await rollback(leads, db.options())
  }
})
