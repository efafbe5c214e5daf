// Whole streams are read for one user a few at a time: many retries, or many cold streams, hold up nobody else.
import t from 'tap'
import { commandHandler } from '../../src/commands/handle.js'
import { pastAssistants } from '../../src/commands/assistants.js'
import { EventLog, type Streams } from '../../src/log/event-log.js'
import { createRequest, handleOn, updateRequest } from '../support/commands/handle-on.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventually } from '../support/eventually.js'

const streams = new EventLog((await scratchEventStore(t)).connection)
const ids = Array.from({ length: 10 }, (_, index) => index + 1)
for (const id of ids) await handleOn(streams)(createRequest(id))

/** Reads that wait until they are let go. */
function held () {
  let begun = 0
  let letGo = () => {}
  const gone = new Promise<void>((resolve) => { letGo = resolve })
  const visit: Streams['visit'] = async (...args) => {
    begun += 1
    await gone
    return await streams.visit(...args)
  }
  return { streams: { ...streams, visit }, begun: () => begun, letGo }
}

t.test('three streams of a user that are not remembered are read at once, the others after them', async (t) => {
  const reads = held()
  const handle = commandHandler(reads.streams)
  const updating = ids.map((id) => handle(updateRequest(id, { record_call: true })))
  await eventually(() => reads.begun() === 3)
  const created = await handle(createRequest(1_000))
  t.equal(created.revision, 0n, 'a new stream is not read, and waits for none')
  t.equal(reads.begun(), 3)
  reads.letGo()
  await Promise.all(updating)
  t.equal(reads.begun(), ids.length)
})

t.test('so are assistants of before', async (t) => {
  const reads = held()
  const past = pastAssistants(reads.streams)
  const again = ids.map((id) => past('1', id, 0))
  await eventually(() => reads.begun() === 3)
  const other = past('2', 1, 0)
  await eventually(() => reads.begun() === 4)
  reads.letGo()
  const found = await Promise.all([...again, other])
  t.strictSame(found.map((past) => past?.revision), [...Array(10).fill(0), undefined])
})
