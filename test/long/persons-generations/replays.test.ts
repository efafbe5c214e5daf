// Generations of read models that were built before the key of a person ended, or in a step of the erasure: none has
// the person in the end, and readers that are led back to a former one do not see them either.
import t, { type Test } from 'tap'
import { erasing, type Meanwhile } from '../../support/persons/erasing.js'
import { generationScene, generationsOf } from './generations.js'
import { testService } from '../../support/service.js'

t.setTimeout(1_200_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { person, isGone, isAsLogged } = await generationScene(service)
const { replayed, rolledBack } = generationsOf(t, service)
const erase = erasing(service)

async function isErased (t: Test, meanwhile: Meanwhile): Promise<void> {
  const known = await person()
  await erase(known.gone, meanwhile)
  await isGone(t, known, 'once the erasure is done')
  await isAsLogged(t, 'once the erasure is done')
  t.comment((await rolledBack()).join('\n') || 'rolled back')
  await isGone(t, known, 'after a rollback')
  await isAsLogged(t, 'after a rollback')
}

t.test('kept from before the erasure', async (t) => {
  await replayed()
  await isErased(t, {})
})

const steps = [
  'settle', 'leads', 'named', 'calls', 'erase-calls', '2 key', '2 settle', '2 leads', '2 named', '2 calls', 'scavenge', 'ledger', 'done'
] as const

for (const step of steps) {
  t.test(`built before the step ${step}`, async (t) => { await isErased(t, { [step]: replayed }) })
}

t.test('built in two rounds', async (t) => { await isErased(t, { calls: replayed, '2 named': replayed }) })

t.test('swapped in again when others were looked through', async (t) => {
  await isErased(t, { settle: replayed, ledger: rolledBack })
})
