// Readers are led back to a former generation while a person is erased who is in it alone: either it is dropped, or the
// erasure looks through it as well.
import t, { type Test } from 'tap'
import { leads } from '../../../projections/leads.js'
import { skipEvent } from '../../../projections/engine/parked.js'
import { newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { consumers } from '../consumers.js'
import { erasing, type Meanwhile } from '../../support/persons/erasing.js'
import { generationScene, type ReadPerson, generationsOf } from './generations.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

t.setTimeout(1_200_000)
const service = await testService(t, ['api'])
const { call, parts: { pool } } = service
const { start } = consumers(t, service)
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
