// A stream whose metadata hides events decides nothing.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import { createRequest, handleOn, updateRequest } from '../../support/commands/handle-on.js'
import { eventually } from '../../support/eventually.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'

const { client, connection } = await scratchEventStore(t)
const streams = new EventLog(connection)

t.test('a command on a truncated stream is refused with the name of the stream, for every process', async (t) => {
  const remembers = handleOn(streams)
  await remembers(createRequest(7))
  for (const record_call of [true, false]) await remembers(updateRequest(7, { record_call }))
  await client.setStreamMetadata('assistant-7', { maxCount: 1 })
  const refusal = { name: 'StreamTruncated', message: /assistant-7 .*\$maxCount/ }
  await t.rejects(handleOn(streams)(updateRequest(7, { record_call: true })), refusal)
  await client.setStreamMetadata('assistant-7', {})
  t.match(await remembers(updateRequest(7, { record_call: true })), { revision: 3n })
})

const half = {
  'by $tb': { metadata: { truncateBefore: 2 }, named: '$tb' },
  'whole by $tb': { metadata: { truncateBefore: 7 }, named: '$tb' },
  'by $maxCount': { metadata: { maxCount: 2 }, named: '$maxCount' }
}
for (const [index, [way, { metadata, named }]] of Object.entries(half).entries()) {
  t.test(`an assistant that was truncated ${way} is not taken for one that is missing, by its owner or others`, async (t) => {
    const id = 20 + index
    await handleOn(streams)(createRequest(id))
    for (const record_call of [true, false]) await handleOn(streams)(updateRequest(id, { record_call }))
    await client.setStreamMetadata(`assistant-${id}`, metadata)
    const refusal = {
      name: 'StreamTruncated',
      message: `the stream assistant-${id} lacks its earlier events, as its ` +
      `metadata has ${named}: take that away, and restore a backup if they were scavenged`
    }
    await t.rejects(handleOn(streams)(updateRequest(id, { record_call: true })), refusal)
    await client.setStreamMetadata(`assistant-${id}`, {})
    t.match(await handleOn(streams)(updateRequest(id, { record_call: true })), { revision: 3n })
  })
}

t.test('a stream whose events are all too old is not taken for one that is missing', async (t) => {
  const stream = `test-${randomUUID()}`
  await streams.append(stream, [{ id: randomUUID(), type: 'Happened', data: {}, metadata: {} }], noStream)
  await client.setStreamMetadata(stream, { maxAge: 1 })
  const isOld = async () => await streams.read(stream).then(() => false, (error: Error) => error)
  t.match(await eventually(isOld), { name: 'StreamTruncated', message: /\$maxAge/ })
})

t.test('a stream that was deleted and written anew is none of these', async (t) => {
  const stream = `test-${randomUUID()}`
  const event = () => [{ id: randomUUID(), type: 'Happened', data: {}, metadata: {} }]
  await streams.append(stream, event(), noStream)
  await client.deleteStream(stream)
  await streams.append(stream, event(), noStream)
  let seen = 0
  t.ok(await streams.visit(stream, 0n, () => { seen += 1 }))
  t.equal(seen, 1)
})
