// A contact with very many leads in one campaign, as a log may have it: read in little memory, and not added to.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import { mainProcess } from '../../support/ringledger.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'

const person = { phone_number: '+15551230001', variables: { customer_name: 'Ada', email: '', notes: 'x'.repeat(1_000) } }
const at = '2026-01-31T12:00:00Z'
const ids = (lead_id: number) => ({ lead_id, user_id: '1', campaign_id: 1 })
const created = (lead_id: number) => ({
  type: 'LeadCreated' as const,
  data: { ...ids(lead_id), ...person, secondary_contacts: [], created_at: at }
})

const { connection, store } = await scratchEventStore(t)
const streams = new EventLog(connection)

t.test('a process with a small heap reads 50,000 leads of a contact, and refuses one more', async (t) => {
  const contact = randomUUID()
  for (let made = 0; made < 50_000; made += 500) {
    const events = Array.from({ length: 500 }, (_, index) =>
      ({ id: randomUUID(), ...created(made + index + 1), metadata: {} }))
    await streams.append(`lead-1-${contact}`, events, made === 0 ? noStream : BigInt(made - 1))
  }
  const args = [store.url, contact]
  const { said, ended } = mainProcess(t, new URL('./one-more-lead-main.js', import.meta.url), args, { heapMb: 48 })
  t.equal(await ended, 0)
  const words = 'is a lead of this campaign 1000 times already, which is the most'
  t.strictSame(said, [{ refused: { phone_number: [words] } }])
})
