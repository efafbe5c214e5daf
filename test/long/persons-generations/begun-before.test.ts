// Replays that were begun before the key of a person ended, and go on when the erasure waits for them, or when it has
// given them up and is done: no generation has the person in the end, and they can be begun again.
import t, { type Test } from 'tap'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { erasing } from '../../support/persons/erasing.js'
import { generationScene, type ReadPerson, generationsOf, points, replaysHeld, type Point } from './generations.js'
import { testService } from '../../support/service.js'

t.setTimeout(1_200_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { person, isGone, isAsLogged } = await generationScene(service)
const { replayed } = generationsOf(t, service)
const held = replaysHeld(t, service)
const erase = erasing(service)

interface Order { at: Point, goesOn: 'waited for' | 'erased' | 'replayed' }

/** Both read models, each at the point. */
async function bothHeld ({ lead, calls: [call] }: ReadPerson, { at, goesOn }: Order) {
  const isFirst = ({ type, data }: StoredEvent) => {
    const { lead_id, call_id } = Object(data)
    return (type === 'LeadCreated' && lead_id === lead.id) || (type === 'CallCompleted' && call_id === call)
  }
  const both = await Promise.all([leads, calls].map((projection) =>
    held(projection, { at, isFrozen: goesOn !== 'waited for', isFirst })))
  return {
    goOn: () => Promise.all(both.map((each) => each.goOn())),
    ended: Promise.all(both.map((each) => each.ended))
  }
}

async function isForgotten (t: Test, order: Order): Promise<void> {
  const known = await person()
  const { goOn, ended } = await bothHeld(known, order)
  t.teardown(goOn)
  await erase(known.gone, order.goesOn === 'waited for' ? { waits: goOn } : {})
  if (order.goesOn === 'replayed') t.strictSame(await replayed(), [], 'another one is begun meanwhile')
  await goOn()
  for (const problem of await ended) t.match(problem ?? 'broke off', 'broke off')
  await isGone(t, known, 'once both have ended')
  await isAsLogged(t, 'once both have ended')
  if (order.goesOn !== 'replayed') t.strictSame(await replayed(), [], 'they can be begun again')
  await isGone(t, known, 'after another replay')
  await isAsLogged(t, 'after another replay')
}

const all: Order[] = [
  // Nobody waits for one that is ready: projectors feed it, and another replay waits for its swap.
  ...points.filter((at) => at !== 'ready').flatMap(
    (at): Order[] => [{ at, goesOn: 'waited for' }, { at, goesOn: 'replayed' }]),
  ...points.map((at): Order => ({ at, goesOn: 'erased' }))
]
for (const order of all) {
  t.test(`held at: ${order.at}, until: ${order.goesOn}`, async (t) => { await isForgotten(t, order) })
}
