// What the official client may count on beyond the tables of appends, reads and subscriptions.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  binaryEvent, END, excludeSystemEvents, jsonEvent, MaxAppendSizeExceededError, NO_STREAM, START, StreamDeletedError,
  StreamNotFoundError, WrongExpectedVersionError
} from '@eventstore/db-client'
import t from 'tap'
import { collect, refused, scratchEventStore } from '../support/scratch-event-store.js'

const { client } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })

t.test('what is appended is read back, and reaches a subscriber in order', async (t) => {
  const first = jsonEvent({ type: 'A', data: { x: 1 } })
  const second = jsonEvent({ type: 'B', data: { y: 'ü' }, metadata: { m: 'é' } })
  const result = await client.appendToStream('a-1', [first, second])
  t.match(result, { success: true, nextExpectedRevision: 1n })

  const read = []
  for await (const { event } of client.readStream('a-1')) read.push(event)
  t.match(read, [
    { id: first.id, streamId: 'a-1', revision: 0n, type: 'A', data: { x: 1 }, isJson: true },
    { id: second.id, streamId: 'a-1', revision: 1n, type: 'B', data: { y: 'ü' }, metadata: { m: 'é' } }
  ])

  t.same(read[1]?.position, result.position)

  const subscription = client.subscribeToAll({ fromPosition: START, filter: excludeSystemEvents() })
  const seen: string[] = []
  for await (const { event } of subscription) {
    seen.push(`${event?.streamId} ${event?.revision}`)
    if (seen.length === 2) await client.appendToStream('a-2', jsonEvent({ type: 'A', data: {} }))
    if (seen.length === 3) break
  }
  await subscription.unsubscribe()
  t.same(seen, ['a-1 0', 'a-1 1', 'a-2 0'])
})

t.test('a fresh log is not empty: what it begins with is the system\'s, and filtered as such', async (t) => {
  const first = (await collect(client.readAll({ maxCount: 1 })))[0]
  t.match(first, { event: { type: /^\$/, streamId: /^\$/ } })
})

t.test('metadata are JSON, bytes or nothing, whatever the data are', async (t) => {
  const stream = randomUUID()
  const bytes = Buffer.from('no JSON')
  const metadata = [{ who: 'ü' }, bytes, Uint8Array.from(bytes), undefined]
  await client.appendToStream(stream, metadata.flatMap((metadata) => [
    jsonEvent({ type: 'J', data: 'a text', metadata }),
    binaryEvent({ type: 'B', data: bytes, metadata })
  ]))
  const read = (await collect(client.readStream(stream))).map(({ event }) => event)
  for (const [index, event] of read.entries()) {
    const wanted = metadata[Math.floor(index / 2)]
    const found = event?.metadata instanceof Uint8Array ? Buffer.from(event.metadata) : event?.metadata
    // Bytes of a JSON event that are not JSON come back as text.
    const expected = wanted instanceof Uint8Array ? Buffer.from(wanted) : wanted
    t.same(typeof found === 'string' ? Buffer.from(found) : found, expected)
  }
  t.same(read.filter((event) => event?.type === 'J').map((event) => event?.data), Array(4).fill('a text'))
})

t.test('every kind of stream metadata comes back as it was set, and an unknown key too', async (t) => {
  const stream = randomUUID()
  const roles = ['admin']
  const acl = { readRoles: roles, writeRoles: roles, deleteRoles: roles, metaReadRoles: roles, metaWriteRoles: roles }
  const metadata = { maxAge: 2, cacheControl: 15, truncateBefore: 1, maxCount: 12, acl, bird: '🦃' }
  await client.setStreamMetadata(stream, metadata)
  t.same((await client.getStreamMetadata(stream)).metadata, metadata)
})

t.test('a stream of metadata alone exists for a delete, and not for a tombstone at no stream', async (t) => {
  const [deleted, ended] = [randomUUID(), randomUUID()]
  for (const stream of [deleted, ended]) await client.setStreamMetadata(stream, { cacheControl: 10 })
  t.ok((await client.deleteStream(deleted, { expectedRevision: NO_STREAM })).position)
  await client.tombstoneStream(ended, { expectedRevision: NO_STREAM })
  await refused(t, collect(client.readStream(ended)), StreamDeletedError, { streamName: ended })
  const nothing = client.deleteStream(randomUUID(), { expectedRevision: NO_STREAM })
  await refused(t, nothing, WrongExpectedVersionError, { actualVersion: -1n })
})

t.test('a delete is an event of the metadata, in place of all that it said', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, event())
  await client.setStreamMetadata(stream, { maxCount: 7, colour: 'red' })
  const { position } = await client.deleteStream(stream)
  const last = (await collect(client.readAll({ direction: 'backwards', fromPosition: END, maxCount: 1 })))[0]
  t.match(last, { event: { streamId: `$$${stream}`, type: '$metadata', position } })
  t.same((await client.getStreamMetadata(stream)).metadata, { truncateBefore: Number(2n ** 63n - 1n) })
  await refused(t, collect(client.readStream(stream)), StreamNotFoundError)
})

t.test('an append larger than what gRPC takes by default is refused by its typed error', async (t) => {
  const large = binaryEvent({ type: 'Large', data: new Uint8Array(5 * 1024 * 1024) })
  for (const way of [{}, { credentials: { username: 'a', password: 'b' } }]) {
    const append = client.appendToStream(randomUUID(), large, way)
    await refused(t, append, MaxAppendSizeExceededError, { maxAppendSize: 1024 * 1024 })
  }
})

t.test('many appends at once are all written, in order, and in chunks smaller than an event too', async (t) => {
  const [flooded, chunked] = [randomUUID(), randomUUID()]
  const many = Array.from({ length: 1100 }, () => event())
  await Promise.all(many.map((one) => client.appendToStream(flooded, one)))
  t.same((await collect(client.readStream(flooded))).map(({ event }) => event?.id), many.map(({ id }) => id))
  t.equal((await client.appendToStream(chunked, many, { batchAppendSize: 64 })).nextExpectedRevision, 1099n)
})

t.test('a subscription ends without an error when it is let go', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, [event(), event()])
  const subscription = client.subscribeToStream(stream)
  const seen = []
  for await (const { event } of subscription) if (seen.push(event?.revision) === 2) await subscription.unsubscribe()
  t.same(seen, [0n, 1n])
})

t.test('a client that was disposed of goes on', async (t) => {
  const own = (await scratchEventStore(t)).client
  const stream = randomUUID()
  await own.appendToStream(stream, event())
  const subscription = own.subscribeToStream(stream)
  const ended = once(subscription, 'end')
  await once(subscription.on('data', () => {}), 'caughtUp')
  await own.dispose()
  await ended
  t.equal((await own.appendToStream(stream, event())).nextExpectedRevision, 1n)
})
