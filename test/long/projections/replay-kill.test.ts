// A replay that is killed, wherever it is, is gone on with, and rows are the fold of the log.
import t, { type Test } from 'tap'
import { checkpointOf, generationsOf } from '../../../projections/engine/generations.js'
import { leads } from '../../../projections/leads.js'
import { drop, rollback, replay } from '../../../projections/engine/operations.js'
import { readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { rowsOf } from '../../support/projections/projected.js'
import {
  type ReplayDatabase, history, replayRig, replayProcesses, type Command
} from '../../support/replay/replay-rig.js'
import { distinct, exactly } from '../../support/postgres/statements.js'

const atOnce = 4
t.setTimeout(2_400_000) // it starts many processes, and other tests run beside it

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

type Point = readonly [at: string, nth: number]

/** Every statement that a command sends when nothing disturbs it, and again some that it sends often by its work. */
async function everyPoint (t: Test, db: ReplayDatabase, command: Command): Promise<Point[]> {
  const { said, ended } = start(db.databaseUrl, command)
  t.equal(await ended, 0, command)
  const byWork = said.filter((statement) => !statement.startsWith('UPDATE ledger.leases')) // renewals come by time
  const often = distinct(byWork).filter((statement) => said.filter((other) => other === statement).length >= 6)
  return [
    ...distinct(said).map((statement) => [exactly(statement), 1] as const),
    ...often.map((statement) => [exactly(statement), 3] as const)
  ]
}

async function killAt (t: Test, at: string, nth: number): Promise<void> {
  const db = await projected(t)
  t.equal(
    await start(db.databaseUrl, 'replay', { signal: 'SIGKILL', at, nth }).ended,
    'SIGKILL',
    `killed before ${at}, time ${nth}`
  )
  await db.expireLeases()
  t.equal((await db.pool.query('SELECT FROM read_model.leads')).rowCount, 80, 'readers see every row')
  const generations = await generationsOf(db.pool, leads)
  t.equal(generations.filter(({ state }) => state === 'active').length, 1)
  const isSwapped = generations.some(({ generation, state }) => generation === 2 && state === 'active')
  const next = generations.find(({ state }) => state === 'building')
  const stood = next ? await readCheckpoint(db.pool, checkpointOf(leads, next.generation)) : 0n
  const options = db.options()
  t.equal(await replay(leads, options), isSwapped ? 3 : 2)
  if (stood > 0n) t.match(options.said, [/Generation 2 of leads was begun earlier: going on with it/])
  const again = db.project(t, leads)
  await db.reached(leads, head)
  await again.stop()
  for (const { name } of leads.tables) {
    t.strictSame(await rowsOf(db.pool, leads, name), await rowsOf(whole.pool, leads, name), `${name} after ${at}`)
  }
}

t.test('a replay that is killed before any statement is gone on with', async (t) => {
  const left = await everyPoint(t, await projected(t), 'replay')
  t.ok(left.length > 50, `${left.length} points`)
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let point = left.shift(); point; point = left.shift()) await killAt(t, ...point)
  }))
})

/** Two generations, of which readers see the second. */
async function replayed (t: Test): Promise<ReplayDatabase> {
  const db = await projected(t)
  await replay(leads, db.options())
  return db
}

t.test('a rollback that is killed before any statement is gone on with', async (t) => {
  for (const [at, nth] of await everyPoint(t, await replayed(t), 'rollback')) {
    const db = await replayed(t)
    t.equal(await start(db.databaseUrl, 'rollback', { signal: 'SIGKILL', at, nth }).ended, 'SIGKILL', at)
    await db.expireLeases()
    const [first] = await generationsOf(db.pool, leads)
    if (first?.state !== 'active') t.equal(await rollback(leads, db.options()), 1)
    t.strictSame(await db.generations(leads), ['1 active', '2 retained'])
  }
})

t.test('a drop that is killed before any statement is gone on with', async (t) => {
  for (const [at, nth] of await everyPoint(t, await replayed(t), 'drop')) {
    const db = await replayed(t)
    await db.expireLeases()
    t.equal(await start(db.databaseUrl, 'drop', { signal: 'SIGKILL', at, nth }).ended, 'SIGKILL', at)
    const left = (await db.generations(leads)).filter((each) => each !== '2 active')
    t.match(left, [/^1 (retained|dropping)$/])
    t.strictSame(await drop(leads, undefined, db.options()), [1])
    t.equal((await db.pool.query(`
      SELECT FROM pg_namespace WHERE nspname ~ '^read_leads_g' AND nspname <> 'read_leads_g2'`)).rowCount, 0)
  }
})
