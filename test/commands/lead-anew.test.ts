// A number that is deleted and created anew from several processes at once is a lead once, in every order.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { oneLeadDecider } from '../../src/features/leads/decide.js'
import { leadStream } from '../../src/features/leads/events.js'
import type { OneLeadState } from '../../src/features/leads/model.js'
import { EventLog } from '../../src/log/event-log.js'
import { handleOn, leadRequest } from '../support/commands/handle-on.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const { connection } = await scratchEventStore(t)
const streams = new EventLog(connection)

const deleteRequest = (id: number, contact: string) => {
  const decider = oneLeadDecider(id)
  const command = { type: 'delete' as const, ids: [], userId: '1', now: '2026-02-01T12:00:00.000Z' }
  return {
    aggregate: decider,
    stream: leadStream(1, contact),
    decide: (state: OneLeadState) => decider.decide(command, state),
    origin: { commandId: randomUUID(), userId: '1', correlationId: 'correlation-1' }
  }
}

const typesOf = async (contact: string) => (await streams.read(leadStream(1, contact))).map(({ type }) => type)

async function isRefused (t: Test, handling: Promise<unknown>, code: string): Promise<void> {
  await t.rejects(handling, { name: 'Rejection', code })
}

t.test('deletions and creations from four processes at once never leave two leads', async (t) => {
  const contact = randomUUID()
  const processes = Array.from({ length: 4 }, () => handleOn(streams))
  for (let round = 0, id = 100; round < 5; round++) {
    await Promise.allSettled(processes.map((handle) => handle(leadRequest(++id, contact))))
    const ids = Array.from({ length: 4 }, (_, index) => id - index)
    await Promise.allSettled(processes.flatMap((handle) => [
      ...ids.map((each) => handle(deleteRequest(each, contact))), handle(leadRequest(++id, contact))
    ]))
    let live = 0
    for (const type of await typesOf(contact)) {
      live += type === 'LeadCreated' ? 1 : -1
      t.ok(live === 0 || live === 1, `${live} leads after ${type}`)
    }
    const [last] = (await streams.read(leadStream(1, contact))).filter(({ type }) => type === 'LeadCreated').slice(-1)
    const lastId = Number(Reflect.get(Object(last?.data), 'lead_id'))
    await processes[0]?.(deleteRequest(lastId, contact)).catch(() => {})
  }
})

t.test('what one process remembers of the leads of a contact and of one of them are two things', async (t) => {
  const contact = randomUUID()
  const handle = handleOn(streams)
  await handle(leadRequest(1, contact))
  await handle(leadRequest(2, contact, true))
  t.match(await handle(deleteRequest(2, contact)), { state: { id: 2, isDeleted: true } })
  await isRefused(t, handle(leadRequest(3, contact)), 'invalid')
  t.match(await handle(deleteRequest(1, contact)), { state: { id: 1, isDeleted: true } })
  t.match(await handle(leadRequest(3, contact)), { state: { ids: [3], last: { id: 3 } } })
})
