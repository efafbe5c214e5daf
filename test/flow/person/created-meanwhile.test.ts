// Leads that are created before, during each step of, and after the erasure of their person: in the end each is erased,
// or whole under a key that is there. The order is forced, not hoped for.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { openSealing } from '../../../src/services/connections.js'
import { digestOfNumbers } from '../../../src/services/complete-config.js'
import { leadStream } from '../../../src/features/leads/events.js'
import { EventLog } from '../../../src/log/event-log.js'
import { keyTrustedMs } from '../../../src/privacy/person-keys.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { newLead } from '../../support/bodies/bodies.js'
import { erasing } from '../../support/persons/erasing.js'
import { testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'])
const { call, config, parts, urls } = service
t.setTimeout(240_000)
const erase = erasing(service, {}, keyTrustedMs)
const digest = digestOfNumbers(config)
const connection = connectionTo(t, urls.eventStoreUrl)
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
const campaign = (await call('POST', '/user/campaign', { name: 'Other' })).body.data.id
const created = async (lead: object) => (await call('POST', '/user/lead', newLead(lead))).body.data.id

/** Another process, whose keys of persons are its own. */
const process = () => openSealing(new EventLog(connection), parts.pool, config).streams

let ids = 1_000_000
/** A creation of another process that has sealed its event, and whose append has not left. */
async function begun (phone_number: string): Promise<{ id: number, append: () => Promise<void> }> {
  let leave = () => {}
  const mayLeave = new Promise<void>((resolve) => { leave = resolve })
  let isSealed = () => {}
  const sealed = new Promise<void>((resolve) => { isSealed = resolve })
  const streams = process()
  const { codec } = streams
  streams.codec = codec && {
    ...codec,
    async seal (stream, events) {
      const sealed = await codec.seal(stream, events)
      if (!stream.startsWith('lead-')) return sealed // of a key
      isSealed()
      await mayLeave
      return sealed
    }
  }
  const id = ids += 10
  const created_at = new Date().toISOString()
  const whose = { lead_id: id, user_id: '1', campaign_id: campaign }
  const data = { ...whose, phone_number, variables, secondary_contacts: [], created_at }
  const event = { id: randomUUID(), type: 'LeadCreated', data, metadata: {} }
  const appended = streams.append(leadStream(campaign, digest(phone_number)), [event], -1n)
  await sealed
  return {
    id,
    append: async () => {
      leave()
      await appended
    }
  }
}

/** Erased, or whole: for callers, and for a process that knows no key. */
async function isOneOrTheOther (t: Test, what: string, id: number, stream: string): Promise<string> {
  await parts.positions.reached('leads', await parts.streams.head(), 10_000)
  const { status, body } = await call('GET', `/user/lead/${id}`)
  const events = await process().read(stream)
  const isReadable = events.some(({ type, data }) => type === 'LeadCreated' && Object(data).lead_id === id)
  t.equal(isReadable, status === 200, `${what}: the log can be read exactly where callers see the lead`)
  if (status === 200) t.match(body.data, { variables }, `${what}: it is whole`)
  else t.equal(status, 404, what)
  return status === 200 ? 'whole' : 'erased'
}

const steps = ['settle', 'leads', 'named', 'calls', 'key', 'ledger', 'scavenge', 'done']

t.test('in whatever step it comes', async (t) => {
  const outcomes = await Promise.all(steps.map(async (step, nth) => {
    const phone_number = `+1555876${String(nth).padStart(4, '0')}`
    const before = await created({ phone_number, variables })
    const other = await begun(phone_number)
    let during = 0
    const creations = async () => {
      await other.append()
      during = await created({ phone_number, variables, allow_dupplicate: true })
    }
    await erase(phone_number, { [step]: creations })
    const [stream, otherStream] = [leadStream(1, digest(phone_number)), leadStream(campaign, digest(phone_number))]
    t.equal((await call('GET', `/user/lead/${before}`)).status, 404, `${step}: the one of before is erased`)
    return [
      step,
      await isOneOrTheOther(t, `${step}, over HTTP`, during, stream),
      await isOneOrTheOther(t, `${step}, sealed before`, other.id, otherStream)
    ]
  }))
  t.comment(JSON.stringify(outcomes))
  t.ok(outcomes.every(([, , sealedBefore]) => sealedBefore === 'erased'), 'nobody reads what a dead key has sealed')
})
