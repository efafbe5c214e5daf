// What a scavenge removes: what nobody can read any more and never the last event of a stream.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { jsonEvent, START } from '@eventstore/db-client'
import { eventually } from '@ringledger/embedded-postgres/testing'
import { collect, scratchEventStore } from '../support/scratch-event-store.js'
import { scavenge } from '../support/scavenge.js'

const { client, store } = await scratchEventStore(t)
const events = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} }))
async function streamOf (count: number) {
  const stream = randomUUID()
  await client.appendToStream(stream, events(count))
  return stream
}

/** Of a stream, what $all shows. */
async function left (stream: string) {
  const all = await collect(client.readAll({ fromPosition: START }))
  return all.flatMap(({ event }) => event?.streamId === stream ? [event.revision] : [])
}

t.test('events before $tb are removed, and so is the metadata that another replaced', async (t) => {
  const stream = await streamOf(6)
  await client.setStreamMetadata(stream, { truncateBefore: 2 })
  await client.setStreamMetadata(stream, { truncateBefore: 4 })
  t.match(await scavenge(store, client), { result: 'Success', eventsRemoved: 5 })
  t.same(await left(stream), [4n, 5n])
  t.same(await left(`$$${stream}`), [1n])
})

t.test('events beyond $maxCount and older than $maxAge are removed', async (t) => {
  const counted = await streamOf(6)
  await client.setStreamMetadata(counted, { maxCount: 2 })
  const aged = await streamOf(3)
  await client.setStreamMetadata(aged, { maxAge: 1 })
  await eventually(async () => (await collect(client.readStream(aged))).length === 0)
  await client.appendToStream(aged, events(1))
  await scavenge(store, client)
  t.same(await left(counted), [4n, 5n])
  t.same(await left(aged), [3n])
})

t.test('the last event of a stream stays, whatever hides it', async (t) => {
  const hide = [
    (stream: string) => client.deleteStream(stream),
    (stream: string) => client.setStreamMetadata(stream, { truncateBefore: 100 }),
    (stream: string) => client.setStreamMetadata(stream, { maxAge: 1 })
  ]
  const streams = await Promise.all(hide.map(async (hidden) => {
    const stream = await streamOf(3)
    await hidden(stream)
    return stream
  }))
  await eventually(async () => (await collect(client.readStream(streams[2] ?? ''))).length === 0)
  await scavenge(store, client)
  for (const stream of streams) t.same(await left(stream), [2n])
})

t.test('of a stream that is gone for ever the tombstone alone stays, with and without metadata', async (t) => {
  const [plain, described] = [await streamOf(3), await streamOf(3)]
  await client.setStreamMetadata(described, { colour: 'red' })
  for (const stream of [plain, described]) await client.tombstoneStream(stream)
  await scavenge(store, client)
  for (const stream of [plain, described]) t.same(await left(stream), [2n ** 63n - 1n])
  t.same(await left(`$$${described}`), [])
  const later = await streamOf(3)
  await client.tombstoneStream(later)
  await scavenge(store, client)
  t.same(await left(later), [2n ** 63n - 1n], 'also one that was ended since the last scavenge')
})

t.test('what nothing hides stays, and a second scavenge finds nothing', async (t) => {
  const stream = await streamOf(3)
  await client.setStreamMetadata(stream, { colour: 'red' })
  t.match(await scavenge(store, client), { eventsRemoved: 0, spaceSaved: 0 })
  t.same(await left(stream), [0n, 1n, 2n])
  t.same(await left('$embedded-event-store'), [0n])
})

t.test('many streams and many events of one stream are removed, part by part', async (t) => {
  const long = await streamOf(3_000)
  await client.setStreamMetadata(long, { maxCount: 1 })
  const streams = await Promise.all(Array.from({ length: 700 }, async () => {
    const stream = await streamOf(2)
    await client.setStreamMetadata(stream, { truncateBefore: 1 })
    return stream
  }))
  t.match(await scavenge(store, client), { eventsRemoved: 2_999 + 700 })
  t.same(await left(long), [2_999n])
  t.same(await left(streams.at(-1) ?? ''), [1n])
})
