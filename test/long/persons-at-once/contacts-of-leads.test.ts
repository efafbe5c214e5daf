// A lead goes with its contact, and the contact is erased as well, before or after: of calls that name either by its
// id alone nothing is left then, whenever they came, also for a replay.
import t, { type Test } from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import { audit } from '../../../workers/operate/audit.js'
import { areFolds, gone } from './pairs.js'
import { eventually } from '../../support/eventually.js'
import { haveCome, hasNothingOf, toldOf, type Named } from '../../support/persons/persons.js'
import { testService } from '../../support/service.js'

t.setTimeout(180_000)
t.jobs = 4
const service = await testService(t, ['api', 'projector', 'worker'])
const { parts: { pool, streams } } = service
const told = await toldOf(t, service)
const third = '+15556000001'
let count = 0

const person = (): Named =>
  ({ phone_number: `+15557${String(++count).padStart(6, '0')}`, variables: { customer_name: gone.name, email: '' } })

async function erase ({ phone_number }: Named): Promise<void> {
  const { id } = await told.sent.dataOf('POST', '/user/person/erase', { phone_number })
  const status = async () => (await told.sent.dataOf('GET', `/user/person-request/${id}`)).status
  await eventually(async () => await status() === 'completed', 60_000)
}

/** Numbers of nobody who is erased. */
const callsOf = async (lead_id: number | undefined): Promise<string[]> => [
  await told.call({ from: 'anonymous', lead_id }),
  await told.call({ from: third, lead_id }),
  await told.plainCall({ from: third, lead_id })
]

async function areErasedAsTheyCome (t: Test, calls: string[]): Promise<void> {
  for (const id of calls) {
    await eventually(async () => (await told.sent.typesOf(callStream(id))).join() === 'CallErased', 60_000)
  }
  await told.areErased(t, { calls })
}

async function isRight (t: Test, isContactFirst: boolean): Promise<void> {
  const [one, two, beside] = [person(), person(), person()]
  const lead = await told.lead(one, [beside, two])
  const [ofBeside, ofContact] = lead.secondary_contacts.map(({ id }) => id)
  const calls = await callsOf(ofContact)
  const kept = await told.call({ from: 'anonymous', lead_id: ofBeside })
  await haveCome(service)
  await erase(isContactFirst ? two : one)
  const between = await callsOf(ofContact)
  await haveCome(service)
  const seen = await Promise.all([...calls, ...between, kept].map((id) => told.sent.dataOf('GET', `/user/call/${id}`)))
  t.strictSame(seen.map(({ erased = false }) => erased), [...Array(6).fill(isContactFirst), false], 'whose calls are kept')
  await erase(isContactFirst ? one : two)
  if (isContactFirst) await areErasedAsTheyCome(t, between)
  await told.areErased(t, { leads: [lead], calls: [...calls, ...between] })
  await areErasedAsTheyCome(t, [...await callsOf(ofContact), ...await callsOf(lead.id)])
  t.match(await told.sent.dataOf('GET', `/user/call/${kept}`), { from: 'anonymous' }, 'of a contact who was not asked for')
  await erase(beside)
  await told.areErased(t, { calls: [kept] })
}

const scenes = [false, true].map((isContactFirst) =>
  t.test(`the ${isContactFirst ? 'contact' : 'lead'} first`, { buffered: true }, (t) => isRight(t, isContactFirst)))
await Promise.all(scenes)

t.test('nothing of them is left, also for a replay', async (t) => {
  await haveCome(service)
  for (const text of [...Object.values(gone), third, 'anonymous']) await hasNothingOf(t, service, text)
  t.equal((await audit({ pool, streams, signal: new AbortController().signal })).unaccounted, 0)
  await areFolds(t, service)
})
