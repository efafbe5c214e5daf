// After a scavenge what is left reads, subscribes, resumes and appends as before.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  ANY, type AllStreamSubscription, jsonEvent, NO_STREAM, START, StreamNotFoundError, WrongExpectedVersionError
} from '@eventstore/db-client'
import { collect, connect, refused, scratchEventStore } from '../support/scratch-event-store.js'
import { scavenge } from '../support/scavenge.js'
import { startEventStore } from '../../src/server.js'

const { client, store, postgres } = await scratchEventStore(t)
const events = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} }))
const revisions = async (stream: string, reader = client) => {
  const read = await collect(reader.readStream(stream))
  return read.map(({ event }) => Number(event?.revision))
}
async function streamOf (count: number) {
  const stream = randomUUID()
  const { position } = await client.appendToStream(stream, events(count))
  return { stream, last: position?.commit ?? 0n }
}

t.test('a stream begins in the middle, and is appended to at its revision', async (t) => {
  const { stream } = await streamOf(4)
  await client.setStreamMetadata(stream, { truncateBefore: 2 })
  await scavenge(store, client)
  t.same(await revisions(stream), [2, 3])
  await refused(t, client.appendToStream(stream, events(1), { expectedRevision: 1n }), WrongExpectedVersionError)
  await client.appendToStream(stream, events(1), { expectedRevision: 3n })
  await client.setStreamMetadata(stream, {})
  t.same(await revisions(stream), [2, 3, 4], 'what is gone does not come back with other metadata')
})

t.test('a deleted stream is created anew, and its revisions go on, after a restart as well', async (t) => {
  for (const expectedRevision of [NO_STREAM, 2n, ANY] as const) {
    const { stream } = await streamOf(3)
    await client.deleteStream(stream)
    await scavenge(store, client)
    await refused(t, collect(client.readStream(stream)), StreamNotFoundError)
    await client.appendToStream(stream, events(1), { expectedRevision })
    t.same(await revisions(stream), [3])
    await scavenge(store, client)
    t.same(await revisions(stream), [3])
  }
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

t.test('positions and their order stay, and a read may begin where nothing is left', async (t) => {
  const { stream, last } = await streamOf(5)
  const before = await collect(client.readAll({ fromPosition: START }))
  await client.setStreamMetadata(stream, { maxCount: 1 })
  await scavenge(store, client)
  const after = await collect(client.readAll({ fromPosition: START, maxCount: before.length }))
  const ids = new Set(after.map(({ event }) => event?.id))
  const kept = before.filter(({ event }) => ids.has(event?.id))
  t.equal(kept.length, before.length - 4)
  t.strictSame(after.slice(0, kept.length).map(placeOf), kept.map(placeOf))
  const from = { commit: last - 3n, prepare: last - 3n }
  const [found] = await collect(client.readAll({ fromPosition: from, maxCount: 1 }))
  t.match(found, { event: { streamId: stream, revision: 4n } })
  const [earlier] = await collect(client.readAll({ fromPosition: from, maxCount: 1, direction: 'backwards' }))
  t.not(earlier?.event?.streamId, stream)
})

const placeOf = ({ event }: { event?: { id: string, revision: bigint, position: { commit: bigint } } | undefined }) =>
  [event?.id, event?.revision, event?.position.commit]

/** What a subscription delivers until an event of this stream has come. */
async function delivered (subscription: AllStreamSubscription, until: string): Promise<string[]> {
  const streams: string[] = []
  for await (const { event } of subscription) {
    if (event?.streamId.startsWith('$') === false) streams.push(`${event.streamId}@${event.revision}`)
    if (event?.streamId === until) break
  }
  await subscription.unsubscribe()
  return streams
}

t.test('a subscription that was behind does not get what was removed, from memory or table, and resumes there', async (t) => {
  const { stream, last } = await streamOf(5)
  const end = await streamOf(1)
  await client.setStreamMetadata(stream, { truncateBefore: 4 })
  await scavenge(store, client)
  for (const position of [last - 4n, last - 2n, last - 1n]) {
    const fromPosition = { commit: position, prepare: position }
    const got = await delivered(client.subscribeToAll({ fromPosition }), end.stream)
    t.same(got, [`${stream}@4`, `${end.stream}@0`])
  }
})

t.test('after a restart the log goes on behind everything it ever had', async (t) => {
  const { stream, last } = await streamOf(2)
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
