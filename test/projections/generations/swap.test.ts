// Readers never notice a swap: no empty table, nothing that goes back, no error.
import t from 'tap'
import { findAssistant, assistants } from '../../../projections/assistants.js'
import { activeCheckpoint, activeGeneration, changeState } from '../../../projections/engine/generations.js'
import { drop, replay, rollback } from '../../../projections/engine/operations.js'
import { overview, ownedGenerations } from '../../../projections/engine/overview.js'
import { assistantCreated, assistantUpdated } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { history, replayRig } from '../../support/replay/replay-rig.js'

const rig = await replayRig(t)
const db = await rig.database(t)
const { pool } = db
const projector = db.project(t, assistants)
await db.reached(assistants, await rig.append([assistantCreated(1), ...history(20, 100)]))

/** Reads until `isOver`, and answers how often. @throws when something goes back, is gone, or fails */
async function read (isOver: () => boolean): Promise<number> {
  let seen = { revision: -1, position: -1n, count: 0 }
  let looks = 0
  for (; !isOver(); looks++) {
    const { rows: [all] } = await pool.query<{ count: string, position: string }>(`
      SELECT (SELECT count(*) FROM read_model.assistants) AS count, position FROM ${activeCheckpoint('assistants')}`)
    const one = await findAssistant(pool, '1', 1)
    const now = { revision: one?.revision ?? -1, position: BigInt(all?.position ?? -1), count: Number(all?.count) }
    if (now.revision < seen.revision || now.position < seen.position || now.count < seen.count) {
      throw new Error(`a reader saw ${Object.values(now)} after ${Object.values(seen)}`)
    }
    seen = now
  }
  return looks
}

t.test('through swaps and rollbacks under writes readers see only what is new', async (t) => {
  let isOver = false
  let writes = 0
  const writing = (async () => {
    for (; !isOver; writes++) {
      await rig.append([
        assistantUpdated(1, { assistant_name: `Name ${writes}` }), assistantCreated(1_000 + writes)
      ])
    }
  })()
  const reading = Array.from({ length: 2 }, () => read(() => isOver))
  const swapping = (async () => {
    await replay(assistants, db.options())
    await rollback(assistants, db.options())
  })()
  await Promise.race([swapping, ...reading, writing])
  isOver = true
  await writing
  const looks = await Promise.all(reading)
  t.strictSame(await db.generations(assistants), ['1 active', '2 retained'])
  t.ok(looks.every((count) => count > 20), `${looks.join(', ')} looks, ${writes} writes`)
})

t.test('a position that was reached is visible right after a swap', async (t) => {
  let isOver = false
  const swapping = rollback(assistants, db.options()).finally(() => { isOver = true })
  for (let name = 0; !isOver; name++) {
    const position = await rig.append([assistantUpdated(1, { assistant_name: `Swapped ${name}` })])
    await db.reached(assistants, position)
    const found = await findAssistant(pool, '1', 1)
    if (found?.settings.assistant_name !== `Swapped ${name}`) {
      t.fail(`told of ${position}, and found ${found?.settings.assistant_name}`)
    }
  }
  await swapping
  t.equal(await activeGeneration(pool, assistants), 2)
})

t.test('a reader that holds its locks holds up the swap, and is no victim', async (t) => {
  const reader = await pool.connect()
  await reader.query('BEGIN')
  await reader.query('SELECT FROM read_model.assistants')
  const swapping = rollback(assistants, db.options())
  await eventually(async () => (await db.generations(assistants)).includes('1 ready'))
  await Promise.all(Array.from({ length: 30 }, () => pool.query('SELECT count(*) FROM read_model.assistants')))
  t.equal(await activeGeneration(pool, assistants), 2)
  await reader.query('SELECT FROM read_model.assistants_checkpoint')
  await reader.query('COMMIT')
  reader.release()
  t.equal(await swapping, 1)
})

t.test('generations are dropped once no process feeds them, and the active one never is', async (t) => {
  const signal = new AbortController().signal
  await t.rejects(drop(assistants, 1, { pool, signal }), { name: 'ReplayRefused', message: /Readers see generation 1/ })
  await t.rejects(drop(assistants, 7, { pool, signal }), { name: 'ReplayRefused', message: /no generation 7/ })
  t.strictSame(await drop(assistants, undefined, { pool, signal }), [2])
  t.strictSame(await db.generations(assistants), ['1 active'])
  t.equal((await pool.query("SELECT FROM pg_namespace WHERE nspname = 'read_assistants_g2'")).rowCount, 0)
  await t.rejects(rollback(assistants, db.options()), { name: 'ReplayRefused', message: /no retained generation/ })
  await db.reached(assistants, await rig.append([assistantCreated(5_000)]))
})

t.test('without a projector a rollback is brought level first, and swapped by the command', async (t) => {
  await replay(assistants, db.options())
  await projector.stop()
  await pool.query('UPDATE read_assistants_g1.checkpoint SET epoch = epoch + 1') // whatever parked it is gone
  t.equal(await rollback(assistants, db.options()), 1)
})

t.test('a generation of other code is left, and a rollback to it is refused', async (t) => {
  const newer = { ...assistants, version: assistants.version + 1 }
  const older = db.project(t, assistants)
  await db.reached(assistants, await rig.append([assistantCreated(6_000)]))
  const stopping = new AbortController()
  const options = db.options({ signal: stopping.signal })
  const replaying = replay(newer, options)
  await eventually(() => options.said.some((line) => line.includes(`the first one with version ${newer.version} swaps`)))
  stopping.abort()
  await replaying.catch(() => {})
  t.equal(await activeGeneration(pool, assistants), 1, 'it is not swapped in while only older code could go on')
  await t.rejects(rollback(newer, db.options()), { name: 'ReplayRefused', message: /^Generation 3 of assistants is ready/ })

  const current = db.project(t, newer)
  await eventually(async () => await activeGeneration(pool, assistants) === 3)
  await db.reached(assistants, await rig.append([assistantCreated(6_001)]))
  const otherCode = `version ${assistants.version} of its code folded it, not version ${newer.version}; ` +
    'run the release that folded it, or replay'
  await t.rejects(rollback(newer, db.options()), {
    name: 'ReplayRefused', message: `Readers of assistants cannot go back to generation 1: ${otherCode}.`
  })
  t.match(await listed(newer), [
    { generation: 1, rollback: `no: ${otherCode}`, due: null }, { rollback: 'no: generation 1 comes first' }, { rollback: null }
  ])
  t.equal(await rollback(assistants, db.options()), 1, 'the release that feeds it goes back')
  t.equal(await rollback(newer, db.options()), 3)
  await older.stop()

  // A rollback of the older release that broke off: its generation waits for a projector that does not come.
  await changeState(pool, assistants, 1, 'retained', 'ready')
  const mend = 'ringledger projections drop assistants --generation 1'
  await eventually(async () => (await listed(newer))[0]?.due === mend)
  await t.rejects(replay(newer, db.options()), { name: 'ReplayRefused', message: new RegExp(`is ready, .*${mend}`) })
  t.strictSame(await drop(newer, 1, db.options()), [1])
  await current.stop()
})

async function listed (projection: typeof assistants) {
  return await overview(projection, await ownedGenerations(projection, pool), pool, 0n)
}
