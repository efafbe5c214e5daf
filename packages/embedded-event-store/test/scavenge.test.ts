// A scavenge removes what nobody can read any longer, and never the last event of a stream.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { jsonEvent, START, NO_STREAM, WrongExpectedVersionError, type EventStoreDBClient } from '@eventstore/db-client'
import { eventually } from '@ringledger/embedded-postgres/testing'
import { collect, scratchEventStore, connect, refused } from './support/scratch-event-store.js'
import { scavenge } from './support/scavenge.js'
import { startEventStore } from '../src/server.js'

const { client, store, postgres } = await scratchEventStore(t)
const events = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} }))
async function streamOf (count: number) {
  const stream = randomUUID()
  await client.appendToStream(stream, events(count))
  return stream
}

/** The revisions of a stream that $all shows. */
async function left (stream: string) {
  const all = await collect(client.readAll({ fromPosition: START }))
  return all.flatMap(({ event }) => event?.streamId === stream ? [event.revision] : [])
}

t.test('hidden events are removed, and never the last event of a stream or one that nothing hides', async (t) => {
  const forEver = 2n ** 63n - 1n
  type Metadata = Parameters<EventStoreDBClient['setStreamMetadata']>[1]
  const set = (metadata: Metadata) => (stream: string) => client.setStreamMetadata(stream, metadata)
  const ways: Array<[hide: (stream: string) => Promise<unknown>, left: bigint[]]> = [
    [set({ truncateBefore: 4 }), [4n, 5n]], [set({ maxCount: 2 }), [4n, 5n]], [set({ truncateBefore: 100 }), [5n]],
    [set({ maxAge: 1 }), [5n]], [(stream) => client.deleteStream(stream), [5n]],
    [(stream) => client.tombstoneStream(stream), [forEver]], [set({ colour: 'red' }), [0n, 1n, 2n, 3n, 4n, 5n]]
  ]
  const streams = await Promise.all(ways.map(async ([hide, left]) => {
    const stream = await streamOf(6)
    await hide(stream)
    return { stream, revisions: left }
  }))
  const [truncated, , , aged, , ended] = streams.map(({ stream }) => stream)
  await client.setStreamMetadata(truncated ?? '', { truncateBefore: 4 })
  await eventually(async () => (await collect(client.readStream(aged ?? ''))).length === 0)
  t.match(await scavenge(store, client), { result: 'Success', eventsRemoved: 4 + 1 + 4 + 5 + 5 + 5 + 6 })
  for (const { stream, revisions } of streams) t.same(await left(stream), revisions)
  t.same(await left(`$$${truncated}`), [1n], 'of metadata that others replaced nothing stays')
  t.match(await scavenge(store, client), { eventsRemoved: 0, spaceSaved: 0 }, 'a second one finds nothing')
  const described = await streamOf(3)
  await client.setStreamMetadata(described, { colour: 'red' })
  await client.tombstoneStream(described)
  await scavenge(store, client)
  t.same([await left(described), await left(`$$${described}`)], [[forEver], []], 'also one ended since the last scavenge')
  t.same(await left(ended ?? ''), [forEver])
  t.same(await left('$embedded-event-store'), [0n])
})

t.test('many streams and many events of one stream are removed, part by part', async (t) => {
  const long = await streamOf(1_200)
  await client.setStreamMetadata(long, { maxCount: 1 })
  const streams = await Promise.all(Array.from({ length: 510 }, async () => {
    const stream = await streamOf(2)
    await client.setStreamMetadata(stream, { truncateBefore: 1 })
    return stream
  }))
  t.match(await scavenge(store, client), { eventsRemoved: 1_199 + 510 })
  t.same(await left(long), [1_199n])
  t.same(await left(streams.at(-1) ?? ''), [1n])
})

const revisions = async (stream: string, reader = client) => {
  const read = await collect(reader.readStream(stream))
  return read.map(({ event }) => Number(event?.revision))
}
async function streamAndLast (count: number) {
  const stream = randomUUID()
  const { position } = await client.appendToStream(stream, events(count))
  return { stream, last: position?.commit ?? 0n }
}

t.test('a stream begins in the middle, and is appended to at its revision', async (t) => {
  const { stream } = await streamAndLast(4)
  await client.setStreamMetadata(stream, { truncateBefore: 2 })
  await scavenge(store, client)
  t.same(await revisions(stream), [2, 3])
  await refused(t, client.appendToStream(stream, events(1), { expectedRevision: 1n }), WrongExpectedVersionError)
  await client.appendToStream(stream, events(1), { expectedRevision: 3n })
  await client.setStreamMetadata(stream, {})
  t.same(await revisions(stream), [2, 3, 4], 'what is gone does not come back with other metadata')
})

t.test('a repeat is recognised by recent ids, and at an exact revision by what is left', async (t) => {
  const stream = randomUUID()
  const [first, second] = [events(1), events(1)]
  await client.appendToStream(stream, first, { expectedRevision: NO_STREAM })
  const appended = await client.appendToStream(stream, second, { expectedRevision: 0n })
  await client.setStreamMetadata(stream, { truncateBefore: 1 })
  await scavenge(store, client)
  t.match(await client.appendToStream(stream, first, { expectedRevision: NO_STREAM }), { position: undefined })
  t.same(await client.appendToStream(stream, second, { expectedRevision: 0n }), appended)
})

const url = `http://127.0.0.1:${store.port}/admin/scavenge`

const hasEnded = async (id: string) => (await collect(client.readStream(`$scavenges-${id}`))).length === 2

t.test('$scavenges tells when and how it ended', async (t) => {
  await client.appendToStream('a', events(3))
  await client.setStreamMetadata('a', { maxCount: 1 })
  const { scavengeId } = await scavenge(store, client)
  const told = await collect(client.readStream(`$scavenges-${scavengeId}`))
  t.match(told.map(({ event }) => [event?.type, event?.data]), [
    ['$scavengeStarted', { scavengeId, nodeEndpoint: `127.0.0.1:${store.port}` }],
    ['$scavengeCompleted', { scavengeId, result: 'Success', timeTaken: /^00:00:\d\d\.\d{3}$/, spaceSaved: Number, eventsRemoved: 2 }]
  ])
  const list = async () => (await collect(client.readStream('$scavenges', { resolveLinkTos: true })))
    .filter(({ event }) => Object(event?.data).scavengeId === scavengeId)
  await eventually(async () => (await list()).length === 2) // its link follows the event
  t.match(await client.getStreamMetadata('$scavenges'), { metadata: { maxAge: 30 * 24 * 3600 } })
})

t.test('a page in a browser starts none, and other operations are not here', async (t) => {
  for (const [name, value] of [['origin', 'http://evil.test'], ['sec-fetch-site', 'cross-site']] as const) {
    t.equal((await fetch(url, { method: 'POST', headers: { [name]: value } })).status, 403)
  }
  t.equal((await fetch(url)).status, 501)
  const shutdown = await fetch(`http://127.0.0.1:${store.port}/admin/shutdown`, { method: 'POST' })
  t.equal(shutdown.status, 501)
})

t.test('while one is under way another is not begun, and writers go on', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, events(2_000))
  await client.setStreamMetadata(stream, { maxCount: 1 })
  const [first, second] = await Promise.all([1, 2].map(() => fetch(url, { method: 'POST' })))
  t.same([first?.status, second?.status].sort(), [200, 400])
  const { scavengeId } = await first?.json() as { scavengeId: string }
  t.same(await second?.json(), { scavengeId })
  let written = 0
  for (; !await hasEnded(scavengeId).catch(() => false); written++) {
    await client.appendToStream(`beside-${scavengeId}`, events(1), { expectedRevision: written === 0 ? 'no_stream' : BigInt(written - 1) })
  }
  t.equal((await collect(client.readStream(`beside-${scavengeId}`))).length, written)
})

t.test('after a restart the log goes on behind everything it ever had', async (t) => {
  const { stream, last } = await streamAndLast(2)
  await client.tombstoneStream(stream)
  const marker = await scavenge(store, client)
  await store.close()
  const again = await startEventStore({ databaseUrl: postgres.url })
  t.teardown(() => again.close())
  const reader = connect(t, again.url)
  const { position } = await reader.appendToStream(randomUUID(), events(1))
  t.ok((position?.commit ?? 0n) > last + 1n)
  t.match((await collect(reader.readStream(`$scavenges-${marker.scavengeId}`))).length, 2)
})
