// Commands of one stream at the same time, in one process and in several, and after a lost answer.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { EventLog } from '../../src/log/event-log.js'
import { StreamBusy } from '../../src/commands/handle.js'
import { createRequest, handleOn, leadRequest, updateRequest, watched } from '../support/commands/handle-on.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const { connection } = await scratchEventStore(t)
const streams = new EventLog(connection)

let lastId = 0
const newId = () => {
  lastId += 1
  return lastId
}

t.test('commands of one stream queue up inside a process: no conflict among them', async (t) => {
  const { observed, appends } = watched(streams)
  const handle = handleOn(observed)
  const id = newId()
  await handle(createRequest(id))
  await Promise.all(Array.from({ length: 20 }, (_, index) =>
    handle(updateRequest(id, { max_call_duration: 20 + index }))))
  t.equal(appends(), 21)
  const stored = await streams.read(`assistant-${id}`)
  t.strictSame(
    stored.slice(1).map(({ data }) => Reflect.get(Reflect.get(data as object, 'changes'), 'max_call_duration')),
    Array.from({ length: 20 }, (_, index) => 20 + index)
  )
})

t.test('a refused command does not hold up the ones behind it', async (t) => {
  const handle = handleOn(streams)
  const id = newId()
  const outcomes = await Promise.allSettled([
    handle(createRequest(id)), handle(updateRequest(id, { timezone: 'UTC' })),
    handle(updateRequest(id, { record_call: true }))
  ])
  t.strictSame(outcomes.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled'])
})

t.test('a conflict with another process reads and decides again', async (t) => {
  const processes = Array.from({ length: 4 }, () => handleOn(streams))
  const contact = randomUUID()
  const outcomes = await Promise.all(processes.flatMap((handle) =>
    Array.from({ length: 5 }, () => handle(leadRequest(newId(), contact, true)))))
  t.equal((await streams.read(`lead-1-${contact}`)).length, 20)
  t.strictSame(
    outcomes.map(({ revision }) => Number(revision)).sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, index) => index)
  )
})

t.test('a command that stands already is the answer, wherever it is tried again', async (t) => {
  const [id, commandId] = [newId(), randomUUID()]
  const first = await handleOn(streams)(createRequest(id, {}, commandId))
  await handleOn(streams)(updateRequest(id, { record_call: true }))
  t.strictSame(await handleOn(streams)(createRequest(id, {}, commandId)), first)
  t.equal((await streams.read(`assistant-${id}`)).length, 2)
})

t.test('a stream that others keep writing to is given up after five seconds, with nothing written', async (t) => {
  const id = newId()
  await handleOn(streams)(createRequest(id))
  const overtaken = handleOn(streams)
  let others = 0
  const handle = handleOn({
    ...streams,
    async append (stream, events, expected) { // somebody is always faster
      others += 1
      await overtaken(updateRequest(id, { assistant_name: `Name ${others}` }))
      return await streams.append(stream, events, expected)
    }
  })
  await t.rejects(handle(updateRequest(id, { record_call: true })), StreamBusy)
  t.equal((await streams.read(`assistant-${id}`)).length, 1 + others)
})
