// Readers that were away while a person was reported and the key of the person ended: they come to what nobody can read
// any more. Nothing of the person stays with the others, who had read it, and nobody stands still.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { areBehind } from '../../../workers/persons/erasures.js'
import { callStream } from '../../../src/features/calls/events.js'
import type { LeadStatus } from '../../../src/features/leads/events.js'
import { EventLog } from '../../../src/log/event-log.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { call as reportedCall } from '../../support/events/call-events.js'
import { consumers } from '../consumers.js'
import { erasing } from '../../support/persons/erasing.js'
import { haveCome, readers, hasNothingOf, sender } from '../../support/persons/persons.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { newAssistant, testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: '1' })
const { call, parts: { pool, streams }, urls } = service
const { start, stop } = consumers(t, service)
const raw = new EventLog(connectionTo(t, urls.eventStoreUrl))
/** A reader that goes away just then is no longer waited for before the key ends. */
let hasEndedKey = false
const erase = erasing(service, {}, 50, { behind: async (of) => hasEndedKey ? await areBehind(of) : [] })
let count = 0

const webhook = { is_webhook_active: true, webhook_url: 'https://hooks.example.com/calls' }
for (const reader of readers) start(reader)
await haveCome(service, [...readers, 'assistants', 'catalog'])
const assistant = (await call('POST', '/user/assistant', { ...newAssistant, ...webhook })).body.data.id
await haveCome(service)
for (const reader of readers) await stop(reader)

const { dataOf } = await sender(service)
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }

/** A person in every way there is. Over HTTP a call names no lead that is not known: an engine appends it itself. */
async function reported (areLeadsKnown: boolean) {
  const [gone, holding, other] = [numberOf(++count), numberOf(++count), numberOf(++count)]
  const person = { phone_number: gone, variables }
  const lead = await dataOf('POST', '/user/lead', newLead(person))
  const holder = await dataOf('POST', '/user/lead', newLead({ phone_number: holding, secondary_contacts: [person] }))
  const answered = await dataOf('POST', '/user/lead', newLead({ phone_number: other }))
  const report = async (id: string, given: { lead_id?: number, from: string, lead_status?: LeadStatus }) => {
    if (given.lead_id === undefined || areLeadsKnown) {
      await dataOf('POST', `/engine/calls/${id}/completed`, callReport(assistant, given))
    } else {
      const data = reportedCall(id, { assistant_id: assistant, ...given })
      await streams.append(callStream(id), [{ id: randomUUID(), type: 'CallCompleted', metadata: {}, data }], -1n)
    }
    return id
  }
  const calls = [
    await report(`number-${count}`, { from: gone }),
    await report(`lead-${count}`, { from: gone, lead_id: lead.id }),
    await report(`contact-${count}`, { from: 'anonymous', lead_id: holder.secondary_contacts[0].id }),
    await report(`answered-${count}`, { from: gone, lead_id: answered.id, lead_status: 'rescheduled' })
  ]
  await dataOf('POST', '/user/blacklist', { phone_number: gone, reason: 'Ada Hidden asked' })
  return { gone, lead, holder, answered, calls }
}

async function isErased (t: Test, { gone, lead, holder, answered, calls }: Awaited<ReturnType<typeof reported>>) {
  t.equal((await call('GET', `/user/lead/${lead.id}`)).status, 404)
  t.strictSame((await call('GET', `/user/lead/${holder.id}`)).body.data.secondary_contacts, [])
  t.equal((await call('GET', `/user/lead/${answered.id}`)).body.data.status, 'rescheduled')
  for (const id of calls) {
    t.match((await call('GET', `/user/call/${id}`)).body.data, { erased: true, from: null, transcript: null }, id)
    t.strictSame((await raw.read(callStream(id))).map(({ type }) => type), ['CallErased'], id)
    const { rows } = await pool.query(`
      SELECT body, erased_at IS NOT NULL AS is_erased FROM ledger.webhook_deliveries WHERE call_id = $1`, [id])
    t.strictSame(rows, [{ body: null, is_erased: true }], id)
  }
  t.equal((await pool.query('SELECT FROM ledger.parked_events')).rowCount, 0, 'nothing is parked')
  await hasNothingOf(t, service, gone)
}

const away: Array<readonly string[]> = [['leads'], ['calls'], ['deliveries'], readers]

for (const absent of away) {
  t.test(`away: ${absent.join(' and ')}`, async (t) => {
    const late = [...absent]
    const present = readers.filter((reader) => !absent.includes(reader))
    for (const reader of present) start(reader)
    const person = await reported(present.includes('leads'))
    await haveCome(service, present)
    hasEndedKey = false
    await erase(person.gone, {
      settle: async () => { hasEndedKey = true },
      waits: async () => { for (const reader of late.splice(0)) start(reader) }
    })
    await haveCome(service)
    await isErased(t, person)
    for (const reader of readers) await stop(reader)
  })
}
