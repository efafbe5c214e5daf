// Readers are led back to a former generation while a person is erased who is in it alone: either it is dropped, or the
// erasure looks through it as well.
import t, { type Test } from 'tap'
import { generationsOf as allGenerations } from '../../../projections/engine/generations.js'
import { leads } from '../../../projections/leads.js'
import { skipEvent } from '../../../projections/engine/reproject.js'
import { newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { Gate, watchedPool } from '../../support/postgres/statements.js'
import { consumers } from '../consumers.js'
import { erasing, type Meanwhile } from '../../support/persons/erasing.js'
import { generationScene, type ReadPerson, generationsOf, reading } from './generations.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

t.setTimeout(1_200_000)
const service = await testService(t, ['api'])
const { call, parts: { pool } } = service
let before: (statement: string) => unknown = () => {}
const { start } = consumers(t, service, watchedPool(pool, { before: (statement) => before(statement) }))
for (const reader of ['leads', 'calls', 'deliveries']) start(reader)
const { person, isGone } = await generationScene(service)
const { replayed, rolledBack } = generationsOf(t, service)
const erase = erasing(service)
let others = 5_000

/** Who else has them as a contact is in the kept generation alone: the event was skipped, and rows were built anew. */
async function keptMore ({ gone }: ReadPerson): Promise<void> {
  const holding = newLead({ phone_number: numberOf(++others), secondary_contacts: [{ phone_number: gone }] })
  const { id } = (await call('POST', '/user/lead', holding)).body.data
  await eventually(async () => (await call('GET', `/user/lead/${id}`)).status === 200)
  const { rows: [{ stream }] } = await pool.query('SELECT stream FROM read_model.leads WHERE id = $1', [id])
  await skipEvent(service.parts, leads, stream, 0n, 'as a test has it')
  await replayed()
}

async function isErased (t: Test, meanwhile: Meanwhile): Promise<void> {
  const known = await person()
  await keptMore(known)
  await erase(known.gone, meanwhile)
  await isGone(t, known, 'once the erasure is done')
  t.comment((await rolledBack()).join('\n') || 'rolled back')
  await isGone(t, known, 'after a rollback')
}

t.test('never', async (t) => { await isErased(t, {}) })

const steps = [
  'ledger', 'settle', 'leads', 'named', 'calls', 'erase-calls', '2 key', '2 settle', '2 leads', '2 named', '2 calls', 'scavenge', 'done'
] as const

for (const step of steps) {
  t.test(`before the step ${step}`, async (t) => { await isErased(t, { [step]: rolledBack }) })
}

const states = async () => (await allGenerations(pool, leads)).map(({ state }) => state)

t.test('asked for, and a reader keeps the others from being led back until the erasure is done', async (t) => {
  let end = () => Promise.resolve()
  let rolling: Promise<string[]> | undefined
  await isErased(t, {
    async calls () {
      end = await reading(pool, leads)
      t.teardown(end)
      rolling = rolledBack()
      await eventually(async () => (await states()).includes('ready'))
    },
    async done () { await end() }
  })
  t.match(await rolling, [/given up meanwhile/])
})

/**
 * When the erasure looks for other generations, the transactions that lead readers of leads and of calls back are both
 * at the statement.
 */
async function heldAt (t: Test, statement: string, isDue: () => Promise<unknown>): Promise<string[] | undefined> {
  const gate = new Gate()
  t.teardown(() => gate.open())
  let rolling: Promise<string[]> | undefined
  let opened: Promise<unknown> | undefined
  await isErased(t, {
    async ledger () {
      let awaited = 2
      const bothHaveCome = new Promise<void>((resolve) => {
        before = async (sent) => {
          if (!sent.startsWith(statement)) return
          awaited -= 1
          if (awaited === 0) resolve()
          gate.close()
          await gate.pass()
        }
      })
      rolling = rolledBack()
      await bothHaveCome
      opened = eventually(isDue).then(() => gate.open())
    }
  })
  await opened
  before = () => {}
  return await rolling
}

t.test('the generation is dropped before the transaction changes its state', async (t) => {
  const isDropping = async () => (await states()).includes('dropping')
  t.match(await heldAt(t, 'UPDATE ledger.generations SET state', isDropping), [/given up meanwhile/])
})

t.test('the transaction has changed its state before the generation is dropped', async (t) => {
  const waits = async () => {
    const { rowCount } = await pool.query(`
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%UPDATE ledger.generations%'`)
    return rowCount !== 0
  }
  t.strictSame(await heldAt(t, 'CREATE OR REPLACE VIEW', waits), [])
})
