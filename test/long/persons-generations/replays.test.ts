// Generations of read models that were built before the key of a person ended, or in a step of the erasure: none has
// the person in the end, and readers that are led back to a former one do not see them either, even where the person is
// in that one alone.
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
const { person, isGone, isAsLogged } = await generationScene(service)
const { replayed, rolledBack } = generationsOf(t, service)
const erase = erasing(service)
let others = 5_000

async function isErased (t: Test, known: ReadPerson, meanwhile: Meanwhile): Promise<void> {
  await erase(known.gone, meanwhile)
  await isGone(t, known, 'once the erasure is done')
  t.comment((await rolledBack()).join('\n') || 'rolled back')
  await isGone(t, known, 'after a rollback')
}

const steps = [
  'settle', 'leads', 'named', 'calls', 'erase-calls', '2 key', '2 settle', '2 leads', '2 named', '2 calls', 'scavenge',
  'ledger', 'done'
] as const

const built: Record<string, Meanwhile> = {
  'before the erasure': {},
  ...Object.fromEntries(steps.map((step) => [`before the step ${step}`, { [step]: replayed }])),
  'in two rounds': { calls: replayed, '2 named': replayed },
  'and swapped in again when others were looked through': { settle: replayed, ledger: rolledBack }
}
for (const [when, meanwhile] of Object.entries(built)) {
  t.test(`built ${when}`, async (t) => {
    await replayed()
    await isErased(t, await person(), meanwhile)
    await isAsLogged(t, 'in the end')
  })
}

/** Who else has them as a contact is in the kept generation alone: the event was skipped, and rows were built anew. */
async function keptMore ({ gone }: ReadPerson): Promise<void> {
  const holding = newLead({ phone_number: numberOf(++others), secondary_contacts: [{ phone_number: gone }] })
  const { id } = (await call('POST', '/user/lead', holding)).body.data
  await eventually(async () => (await call('GET', `/user/lead/${id}`)).status === 200)
  const { rows: [{ stream }] } = await pool.query('SELECT stream FROM read_model.leads WHERE id = $1', [id])
  await skipEvent(service.parts, leads, stream, 0n, 'as a test has it')
  await replayed()
}

for (const step of ['leads', 'done'] as const) {
  t.test(`in the kept one alone, and led back to it before the step ${step}`, async (t) => {
    const known = await person()
    await keptMore(known)
    await isErased(t, known, { [step]: rolledBack })
  })
}
