// A lead goes with its contact, and the contact is erased as well, before, after or in the middle of it: of calls that
// name either by its id alone nothing is left then, whenever they came, also for a replay.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import { EventLog } from '../../../src/log/event-log.js'
import { audit } from '../../../workers/operate/audit.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { call as reported } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { erasing } from '../../support/persons/erasing.js'
import { areFolds, haveCome, hasNothingOf, sender } from '../../support/persons/persons.js'
import { testService } from '../../support/service.js'

interface Person { phone_number: string, variables: object }
interface Lead { id: number, secondary_contacts: Array<{ id: number }> }

t.setTimeout(180_000)
t.jobs = 4
const service = await testService(t, ['api', 'projector', 'worker'])
const { parts: { pool, streams } } = service
const sent = await sender(service)
const raw = new EventLog(connectionTo(t, service.urls.eventStoreUrl))
const eraseHere = erasing(service)
const assistant_id: number = (await sent.dataOf('POST', '/user/assistant', newAssistant())).id
const [name, third] = ['Ada Hidden', '+15556000001']
let count = 0

const person = (): Person =>
  ({ phone_number: `+15557${String(++count).padStart(6, '0')}`, variables: { customer_name: name, email: '' } })

const leadOf = async (person: Person, secondary_contacts: Person[]): Promise<Lead> =>
  await sent.dataOf('POST', '/user/lead', newLead({ ...person, secondary_contacts }))

async function erase ({ phone_number }: Person): Promise<void> {
  const { id } = await sent.dataOf('POST', '/user/person/erase', { phone_number })
  const status = async () => (await sent.dataOf('GET', `/user/person-request/${id}`)).status
  await eventually(async () => await status() === 'completed', 60_000)
}

async function callOf (given: object): Promise<string> {
  const id = `http-${++count}`
  await sent.dataOf('POST', `/engine/calls/${id}/completed`, callReport(assistant_id, given))
  return id
}

/** As an engine appends it. */
async function plainCall (given: object): Promise<string> {
  const id = `event-${++count}`
  const data = reported(id, { assistant_id, ...given })
  await raw.append(callStream(id), [{ id: randomUUID(), type: 'CallCompleted', metadata: {}, data }], -1n)
  return id
}

/** Numbers of nobody who is erased. */
const callsOf = async (lead_id: number | undefined): Promise<string[]> => [
  await callOf({ from: 'anonymous', lead_id }), await callOf({ from: third, lead_id }), await plainCall({ from: third, lead_id })
]

const eventsOf = async (id: string) => (await streams.read(callStream(id))).map(({ type, revision }) => `${type}@${revision}`)
const once = ['CallErased@1'] // behind the report

async function areErased (t: Test, { leads = [], calls = [] }: { leads?: Lead[], calls?: string[] }): Promise<void> {
  await haveCome(service)
  for (const { id } of leads) t.equal((await service.call('GET', `/user/lead/${id}`)).status, 404, `lead ${id}`)
  for (const id of calls) {
    t.match(await sent.dataOf('GET', `/user/call/${id}`), { erased: true, from: null, to: null, transcript: null }, id)
    t.strictSame(await eventsOf(id), once, `${id} is erased once`)
    const { rows } = await pool.query('SELECT body FROM ledger.webhook_deliveries WHERE call_id = $1', [id])
    t.strictSame(rows, [{ body: null }], `${id} has one delivery, without a body`)
  }
}

async function areErasedAsTheyCome (t: Test, calls: string[]): Promise<void> {
  for (const id of calls) await eventually(async () => (await eventsOf(id)).join() === once.join(), 60_000)
  await areErased(t, { calls })
}

async function isRight (t: Test, isContactFirst: boolean): Promise<void> {
  const [one, two, beside] = [person(), person(), person()]
  const lead = await leadOf(one, [beside, two])
  const [ofBeside, ofContact] = lead.secondary_contacts.map(({ id }) => id)
  const calls = await callsOf(ofContact)
  const kept = await callOf({ from: 'anonymous', lead_id: ofBeside })
  await haveCome(service)
  await erase(isContactFirst ? two : one)
  const between = await callsOf(ofContact)
  await haveCome(service)
  const seen = await Promise.all([...calls, ...between, kept].map((id) => sent.dataOf('GET', `/user/call/${id}`)))
  t.strictSame(seen.map(({ erased = false }) => erased), [...Array(6).fill(isContactFirst), false], 'whose calls are kept')
  await erase(isContactFirst ? one : two)
  if (isContactFirst) await areErasedAsTheyCome(t, between)
  await areErased(t, { leads: [lead], calls: [...calls, ...between] })
  await areErasedAsTheyCome(t, [...await callsOf(ofContact), ...await callsOf(lead.id)])
  t.match(await sent.dataOf('GET', `/user/call/${kept}`), { from: 'anonymous' }, 'of a contact who was not asked for')
  await erase(beside)
  await areErased(t, { calls: [kept] })
}

const scenes = [false, true].map((isContactFirst) =>
  t.test(`the ${isContactFirst ? 'contact' : 'lead'} first`, { buffered: true }, (t) => isRight(t, isContactFirst)))
await Promise.all(scenes)

const steps = ['settle', 'leads', 'named', 'calls', 'erase-calls', '2 leads', '2 calls', 'ledger', 'scavenge', 'done'] as const

await t.test('in the middle of the other one, or asked for twice: both end, and who is beside them stays', async (t) => {
  for (const step of steps) {
    const [one, two, beside] = [person(), person(), { phone_number: `+1555600100${++count}`, variables: {} }]
    const lead = await leadOf(one, [two])
    const holder = await leadOf(beside, [one, two])
    const calls = [
      await callOf({ from: two.phone_number, to: one.phone_number, lead_id: lead.id }),
      await plainCall({ from: one.phone_number, to: two.phone_number, lead_id: holder.secondary_contacts[1]?.id })
    ]
    await haveCome(service)
    await eraseHere(one.phone_number, {
      [step]: async () => {
        await eraseHere(two.phone_number)
        await eraseHere(one.phone_number)
      }
    })
    await areErased(t, { leads: [lead], calls })
    t.match(await sent.dataOf('GET', `/user/lead/${holder.id}`), { ...beside, secondary_contacts: [] }, step)
  }
})

t.test('nothing of them is left, also for a replay', async (t) => {
  await haveCome(service)
  for (const text of ['+15557[0-9]{6}', name, third, 'anonymous']) await hasNothingOf(t, service, text)
  t.equal((await pool.query('SELECT FROM ledger.parked_events')).rowCount, 0, 'nothing is parked')
  t.equal((await audit({ pool, streams, signal: new AbortController().signal })).unaccounted, 0)
  await areFolds(t, service)
})
