// A replay that is killed, wherever it is, is gone on with, and rows are the fold of the log.
import t, { type Test } from 'tap'
import { checkpointOf, generationsOf } from '../../projections/generations.js'
import { leads } from '../../projections/leads.js'
import { replay } from '../../projections/replay/replay.js'
import { readCheckpoint } from '../../src/consumer/checkpoint.js'
import { compiledMain } from '../support/compiled-main.js'
import { rowsOf } from '../support/projected.js'
import { history, replayRig } from '../support/replay-rig.js'

/** Every point of a replay without a projector, and how often it is passed before the kill. */
const points: Array<[at: string, nth: number]> = [
  ['replay: claimed', 1], ['replay: loaded', 1], ['replay: loaded', 4], ['replay: begun', 1], ['replay: begun', 3], ['replay: moved', 3], ['replay: saved', 3], ['replay: committed', 3],
  ['replay: level', 1], ['replay: verified', 1], ['replay: index', 2], ['replay: vacuum', 2],
  ['swap: begin', 1], ['swap: held', 1], ['swap: level', 1], ['swap: views', 1], ['swap: committed', 1]
]
const atOnce = 4

const rig = await replayRig(t)
const startReplay = compiledMain(t, 'replay-main')
const head = await rig.append(history(40))
const whole = await rig.database(t)
whole.project(t, leads)
await whole.reached(leads, head)

async function killAt (t: Test, at: string, nth: number): Promise<void> {
  const db = await rig.database(t)
  const live = db.project(t, leads)
  await db.reached(leads, head)
  await live.stop()
  const ended = await startReplay(db.databaseUrl, rig.eventStoreUrl, at, String(nth)).ended
  t.equal(ended, 'SIGKILL', `killed at ${at}, time ${nth}`)
  await db.pool.query("UPDATE ledger.leases SET expires_at = '-infinity'") // as it does within four seconds
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
  const left = [...points]
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let point = left.shift(); point; point = left.shift()) await killAt(t, ...point)
  }))
})
