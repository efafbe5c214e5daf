// What metadata hide of a stream.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ANY, jsonEvent, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client'
import { eventually } from '@ringledger/embedded-postgres/testing'
import { collect, refused, scratchEventStore } from '../support/scratch-event-store.js'

const { client } = await scratchEventStore(t)
const events = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} }))
const revisions = async (stream: string) => {
  const read = await collect(client.readStream(stream))
  return read.map(({ event }) => Number(event?.revision))
}
async function streamOf (count: number) {
  const stream = randomUUID()
  await client.appendToStream(stream, events(count))
  return stream
}

t.test('metadata comes back as it was set, custom keys too; the last one counts', async (t) => {
  const stream = await streamOf(1)
  t.same(await client.getStreamMetadata(stream), { streamName: stream })
  await client.setStreamMetadata(stream, { maxCount: 5 }, { expectedRevision: NO_STREAM })
  await refused(t, client.setStreamMetadata(stream, {}, { expectedRevision: NO_STREAM }), WrongExpectedVersionError)
  const metadata = { maxAge: 3600, cacheControl: 7, acl: { readRoles: ['a'], writeRoles: ['b'] }, colour: 'red' }
  await client.setStreamMetadata(stream, metadata, { expectedRevision: 0n })
  t.match(await client.getStreamMetadata(stream), { metadata })
  t.equal((await collect(client.readStream(`$$${stream}`))).length, 1, 'a metadata stream shows its last event only')
})

t.test('$maxCount and $tb hide the oldest events', async (t) => {
  const stream = await streamOf(6)
  await client.setStreamMetadata(stream, { maxCount: 2 })
  t.same(await revisions(stream), [4, 5])
  await client.appendToStream(stream, events(1))
  t.same(await revisions(stream), [5, 6])
  await client.setStreamMetadata(stream, { truncateBefore: 3 })
  t.same(await revisions(stream), [3, 4, 5, 6])
  const two = await collect(client.readStream(stream, { fromRevision: 1n, maxCount: 2 }))
  t.same(two.map(({ event }) => event?.revision), [3n, 4n])
  await client.setStreamMetadata(stream, { truncateBefore: 100 })
  t.same(await revisions(stream), [], 'wholly truncated is empty, not missing')
})

t.test('$maxAge hides what is older, and malformed metadata hides nothing', async (t) => {
  const stream = await streamOf(1)
  await client.setStreamMetadata(stream, { maxAge: 1 })
  await eventually(async () => (await revisions(stream)).length === 0)
  const malformed = jsonEvent({ type: '$metadata', data: { $maxAge: 'x', $maxCount: -1, $tb: 0.5 } })
  await client.appendToStream(`$$${stream}`, malformed)
  t.same(await revisions(stream), [0])
})

t.test('a repeat of what can be seen no more is not written anew, and answered without a position', async (t) => {
  const hide = [
    (stream: string) => client.deleteStream(stream),
    (stream: string) => client.setStreamMetadata(stream, { truncateBefore: 1 }),
    (stream: string) => client.setStreamMetadata(stream, { maxCount: 1 })
  ]
  for (const hidden of hide) {
    const stream = randomUUID()
    const batch = events(1)
    const first = await client.appendToStream(stream, batch, { expectedRevision: NO_STREAM })
    await client.appendToStream(stream, events(1))
    for (const expectedRevision of [ANY, NO_STREAM] as const) {
      t.same(await client.appendToStream(stream, batch, { expectedRevision }), first)
    }
    await hidden(stream)
    for (const expectedRevision of [ANY, NO_STREAM] as const) {
      const again = await client.appendToStream(stream, batch, { expectedRevision })
      t.match(again, { nextExpectedRevision: 0n, position: undefined })
    }
  }
})
