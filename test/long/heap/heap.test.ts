// In a small heap: more large bodies at once than it has room for, and a contact whose leads were created and deleted
// very many times, and who has as many as there may be.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { apiProcess, testService } from '../../support/service.js'
import { randomUUID } from 'node:crypto'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import { mainProcess } from '../../support/ringledger.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'

t.test('a process with a small heap outlives 500 large bodies at once, and answers others meanwhile', async (t) => {
  const service = await testService(t, ['projector'])
  const { call, process } = await apiProcess(t, service, { NODE_OPTIONS: '--max-old-space-size=160' })
  const large = JSON.stringify(newAssistant({ system_prompt: 'x'.repeat(500 * 1024) })) // once for all of them
  const sending = Array.from({ length: 500 }, () => call('POST', '/user/assistant', { body: large }))
  const token = await service.token('2')
  for (let n = 0; n < 5; n++) t.equal((await call('POST', '/user/assistant', { token, body: newAssistant() })).status, 201)
  const statuses = new Set((await Promise.all(sending)).map(({ status }) => status))
  t.ok(statuses.delete(201))
  t.strictSame([...statuses], [429])
  await eventually(async () => (await call('GET', '/health/ready')).status === 200)
  process.signal('SIGTERM')
  t.equal((await process.ended).code, 0)
})

const person = { phone_number: '+15551230001', variables: { customer_name: 'Ada', email: '', notes: 'x'.repeat(1_000) } }
const at = '2026-01-31T12:00:00Z'
const ids = (lead_id: number) => ({ lead_id, user_id: '1', campaign_id: 1 })
const created = (lead_id: number) => ({
  type: 'LeadCreated' as const,
  data: { ...ids(lead_id), ...person, secondary_contacts: [], created_at: at }
})
const deleted = (lead_id: number) => ({ type: 'LeadDeleted' as const, data: { ...ids(lead_id), deleted_at: at } })

const { connection, store } = await scratchEventStore(t)
const streams = new EventLog(connection)

t.test('a process with a small heap reads 50,000 events of a contact with 1,000 leads, and refuses one more', async (t) => {
  const contact = randomUUID()
  const former = Array.from({ length: 24_500 }, (_, index) => [created(index + 1), deleted(index + 1)]).flat()
  const present = Array.from({ length: 1_000 }, (_, index) => created(30_000 + index))
  const all = [...former, ...present].map((event) => ({ id: randomUUID(), ...event, metadata: {} }))
  for (let at = 0; at < all.length; at += 500) {
    await streams.append(`lead-1-${contact}`, all.slice(at, at + 500), at === 0 ? noStream : BigInt(at - 1))
  }
  const args = [store.url, contact]
  const { said, ended } = mainProcess(t, new URL('./one-more-lead-main.js', import.meta.url), args, { heapMb: 48 })
  t.equal(await ended, 0)
  const words = 'is a lead of this campaign 1000 times already, which is the most'
  t.strictSame(said, [{ refused: { phone_number: [words] } }])
})
