// While a release is rolled out, projectors of the former one go on beside it, on generations of their own, which
// readers may still see: these, too, have nothing of a person who is erased meanwhile.
import t, { type Test } from 'tap'
import { calls } from '../../../projections/calls.js'
import { generationsOf as allGenerations, outdated } from '../../../projections/engine/generations.js'
import { leads } from '../../../projections/leads.js'
import { consumers } from '../consumers.js'
import { erasing, type Meanwhile } from '../../support/persons/erasing.js'
import { generationScene, generationsOf } from './generations.js'
import { testService } from '../../support/service.js'

t.setTimeout(600_000)
const service = await testService(t, ['api'])
const { parts: { pool } } = service
const { start, stop } = consumers(t, service)
for (const reader of ['leads', 'calls', 'deliveries']) start(reader)
const { person, isGone } = await generationScene(service)
const { replayed } = generationsOf(t, service)
const erase = erasing(service)
const former = [leads, calls].map((projection) => ({ ...projection, version: projection.version - 1 }))

const startFormer = () => former.forEach((projection) => start(`former ${projection.name}`, projection))
const stopFormer = () => Promise.all(former.map(({ name }) => stop(`former ${name}`)))

/** Those that readers see are of the former release, as before a roll-out; others are not there. */
async function rolledBack (): Promise<void> {
  await stopFormer()
  await pool.query("UPDATE ledger.generations SET state = 'dropping' WHERE state = 'retained'")
  for (const { name, version } of former) {
    await pool.query("UPDATE ledger.generations SET code_version = $2 WHERE projection = $1 AND state = 'active'", [name, version])
  }
  startFormer()
}

const ofFormer = async () => (await Promise.all(former.map(async (projection) =>
  (await allGenerations(pool, projection)).filter(({ codeVersion }) => codeVersion === projection.version)))).flat()

async function isErased (t: Test, states: string[], meanwhile: Meanwhile = {}): Promise<void> {
  const known = await person()
  await erase(known.gone, meanwhile)
  await isGone(t, known, 'once the erasure is done')
  t.strictSame((await ofFormer()).map(({ state }) => state), states, 'what is left of the former release')
}

/** Rows of a former release lack what an erasure looks for: it waits for these, however often it looks again. */
function replayedLater (t: Test): () => Promise<unknown> {
  let waited = 0
  return async () => {
    if (++waited < 20 || (await outdated(pool, [leads, calls])).length === 0) return
    for (const refusal of await replayed()) t.comment(refusal)
  }
}

t.test('readers see the one of the former release, until the erasure waits for another one', async (t) => {
  await rolledBack()
  await isErased(t, ['retained', 'retained'], { waits: replayedLater(t) })
})

for (const step of ['leads', '2 settle'] as const) {
  t.test(`readers are led back to one of the former release before the step ${step}`, async (t) => {
    await isErased(t, ['retained', 'retained'], { [step]: rolledBack, waits: replayedLater(t) })
  })
}

t.test('the former one was stopped for good: it is dropped', async (t) => {
  await rolledBack()
  await replayed()
  await isErased(t, [], { settle: stopFormer })
})
