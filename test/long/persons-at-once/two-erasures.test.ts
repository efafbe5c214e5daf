// Two persons are erased at once, in whatever order the steps of both come: nothing of either is left, both erasures
// end, and what stays is as before, also for a replay.
import t, { type Test } from 'tap'
import { audit } from '../../../workers/operate/audit.js'
import { seedOf, seeded } from '@ringledger/embedded-postgres/testing'
import { areFolds, dispatching, interleave, pointsOf, type Order, type Work, gone, pairs, type Pair } from './pairs.js'
import { workOn } from '../../support/persons/erasing.js'
import { hasNothingOf, toldOf } from '../../support/persons/persons.js'
import { testService } from '../../support/service.js'

t.setTimeout(2_400_000)
t.jobs = Object.keys(pairs).length
const service = await testService(t)
const { parts, parts: { pool, streams } } = service
const told = await toldOf(t, service)
const random = seeded(seedOf('CHAOS_SEED'))
const log = { debug () {}, info () {}, warn () {}, error () {} }
dispatching(t, service)

const warned = new Map<string, number>()
async function works ({ both }: Pair): Promise<{ ids: string[], works: [Work, Work] }> {
  const ids = await Promise.all(both.map(async ({ userId, phone_number }) =>
    (await told.sent.dataOf('POST', '/user/person/erase', { phone_number }, userId)).id))
  const warn = ({ err }: { err?: Error }) => {
    const message = String(err)
    warned.set(message, (warned.get(message) ?? 0) + 1)
  }
  const [one, two] = ids.map((id): Work => (pass) =>
    workOn({ connections: parts, log: { ...log, warn }, pass, withinMs: 60_000 }, id))
  if (!one || !two) throw new Error('there are two')
  return { ids, works: [one, two] }
}

interface Chosen extends Order { isSwapped: boolean }

/** Of each of both: where it stops after a step, and everywhere. */
async function ordersOf (known: () => Promise<Pair>): Promise<{ ofSteps: Chosen[], ofPoints: Chosen[] }> {
  const { works: [one, two] } = await works(await known())
  const points = [await pointsOf(one), await pointsOf(two)]
  const steps = points.map((passed) => passed.flatMap((at, nth) => at.startsWith('after what is kept') ? [nth + 1] : []))
  const all = points.map((passed) => passed.map((_, nth) => nth + 1))
  return { ofSteps: orders(steps), ofPoints: orders(all) }
}

function orders ([ofOne = [], ofTwo = []]: number[][]): Chosen[] {
  const between = (firsts: number[], seconds: Array<number | undefined>, given: Pick<Chosen, 'together' | 'isSwapped'>) =>
    firsts.flatMap((first) => seconds.map((second) => ({ first, second, ...given })))
  return [
    ...between(ofOne, [...ofTwo, undefined], { together: false, isSwapped: false }),
    ...between(ofTwo, [...ofOne, undefined], { together: false, isSwapped: true }),
    ...between(ofOne, ofTwo, { together: true, isSwapped: false })
  ]
}

const sample = <Item>(items: readonly Item[], count: number): Item[] =>
  Array.from({ length: count }, () => items[Math.floor(random() * items.length)]).filter((item) => item !== undefined)

async function isRight (t: Test, known: () => Promise<Pair>, { isSwapped, ...order }: Chosen): Promise<void> {
  const pair = await known()
  const { ids, works: [one, two] } = await works(pair)
  await interleave(isSwapped ? [two, one] : [one, two], order)
  for (const [nth, id] of ids.entries()) {
    const { status } = await told.sent.dataOf('GET', `/user/person-request/${id}`, undefined, pair.both[nth]?.userId)
    t.equal(status, 'completed')
  }
  await pair.isErased(t)
}

/** Mostly they wait. */
const atOnce = 4
/** Of the orders of steps in turn, of those of all steps, and of those of all that goes to the outside. */
const some = { inTurn: 40, ofSteps: 8, ofPoints: 8 }
const scenes = Object.entries(pairs).map(([title, pair]) => t.test(`persons ${title}`, { buffered: true }, async (t) => {
  t.jobs = atOnce
  const known = () => pair(told)
  const { ofSteps, ofPoints } = await ordersOf(known)
  const inTurn = ofSteps.filter(({ together }) => !together)
  const chosen = [...sample(inTurn, some.inTurn), ...sample(ofSteps, some.ofSteps), ...sample(ofPoints, some.ofPoints)]
  const beganAt = performance.now()
  await Promise.all(chosen.map((order) =>
    t.test(JSON.stringify(order), { buffered: true }, (t) => isRight(t, known, order))))
  const seconds = Math.round((performance.now() - beganAt) / 1_000)
  t.comment(`${chosen.length} of ${ofSteps.length} orders of steps and ${ofPoints.length} of all points, ${seconds} s`)
}))
await Promise.all(scenes)

t.test('nothing of them is left, and what is left is right, also for a replay', async (t) => {
  t.comment(JSON.stringify([...warned]))
  for (const text of Object.values(gone)) await hasNothingOf(t, service, text)
  t.equal((await pool.query('SELECT FROM ledger.parked_events')).rowCount, 0, 'nothing is parked')
  t.equal((await audit({ pool, streams, signal: new AbortController().signal })).unaccounted, 0, 'each call has its delivery')
  await areFolds(t, service)
})
