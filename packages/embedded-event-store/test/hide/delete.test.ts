// Deletes that can be undone, and tombstones, which cannot.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  ANY, END, jsonEvent, NO_STREAM, STREAM_EXISTS, StreamDeletedError, StreamNotFoundError, UnknownError,
  WrongExpectedVersionError
} from '@eventstore/db-client'
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

t.test('a stream that is gone is named in the refusal, with spaces at its edges encoded', async (t) => {
  const names = [[' a', '%20a'], ['a  ', 'a%20%20'], [' ', '%20'], ['a b', 'a b']] as const
  for (const [name, told] of names) {
    await client.appendToStream(name, events(1))
    await client.tombstoneStream(name)
    await refused(t, collect(client.readStream(name)), StreamDeletedError, { streamName: told })
    await refused(t, client.deleteStream(name), StreamDeletedError, { streamName: told })
  }
})

t.test('a refusal whose trailer would not be ASCII says nothing', async (t) => {
  await client.tombstoneStream('ä ')
  await refused(t, collect(client.readStream('ä ')), UnknownError, { message: /thrown by handler/ })
  await refused(t, client.deleteStream('ä '), UnknownError)
  await refused(t, client.appendToStream('ä ', events(1)), StreamDeletedError, {}) // a reply, without trailers
})

t.test('a deleted stream is not found, and continues its revisions when it is written to again', async (t) => {
  for (const expectedRevision of [ANY, NO_STREAM, 2n] as const) {
    const stream = await streamOf(3)
    const { position } = await client.deleteStream(stream)
    t.ok(position)
    await refused(t, collect(client.readStream(stream)), StreamNotFoundError)
    await refused(t, client.appendToStream(stream, events(1), { expectedRevision: STREAM_EXISTS }), StreamDeletedError)
    t.equal((await client.appendToStream(stream, events(2), { expectedRevision })).nextExpectedRevision, 4n)
    t.same(await revisions(stream), [3, 4])
    t.match(await client.getStreamMetadata(stream), { metadata: { truncateBefore: 3 } })
  }
})

t.test('a delete at a revision that does not hold is refused', async (t) => {
  const stream = await streamOf(2)
  const wrong = { streamName: stream, expectedVersion: 0n, actualVersion: 1n }
  await refused(t, client.deleteStream(stream, { expectedRevision: 0n }), WrongExpectedVersionError, wrong)
  await refused(t, client.deleteStream(stream, { expectedRevision: NO_STREAM }), WrongExpectedVersionError)
  await refused(t, client.deleteStream('never-written'), WrongExpectedVersionError)
  await client.deleteStream(stream, { expectedRevision: 1n })
  await refused(t, collect(client.readStream(stream)), StreamNotFoundError)
})

t.test('a delete and a tombstone are decided as an append of a new event would be', async (t) => {
  const deleted = async () => {
    const stream = await streamOf(2)
    await client.deleteStream(stream)
    return stream
  }
  t.ok((await client.deleteStream(await deleted())).position, 'again')
  t.ok((await client.deleteStream(await deleted(), { expectedRevision: NO_STREAM })).position, 'a deleted stream counts as none')
  t.ok((await client.tombstoneStream(await deleted(), { expectedRevision: NO_STREAM })).position)
  t.ok((await client.tombstoneStream(await deleted(), { expectedRevision: 1n })).position)
  const tombstone = client.tombstoneStream(await deleted(), { expectedRevision: 0n })
  await refused(t, tombstone, WrongExpectedVersionError, { actualVersion: 1n })
})

t.test('metadata set on a deleted stream bring it back without its events', async (t) => {
  const stream = await streamOf(3)
  await client.deleteStream(stream)
  await client.setStreamMetadata(stream, { maxCount: 2, colour: 'red' })
  t.same(await revisions(stream), [], 'empty, not missing')
  t.match(await client.getStreamMetadata(stream), { metadata: { maxCount: 2, truncateBefore: 3, colour: 'red' } })
  await client.appendToStream(stream, events(1), { expectedRevision: STREAM_EXISTS })
  t.same(await revisions(stream), [3])
})

t.test('a tombstone cannot be undone, and hides the metadata too', async (t) => {
  const stream = await streamOf(2)
  const tombstone = client.tombstoneStream(stream, { expectedRevision: 0n })
  await refused(t, tombstone, WrongExpectedVersionError, { actualVersion: 1n })
  const { position } = await client.tombstoneStream(stream, { expectedRevision: 1n })
  t.ok(position)
  await refused(t, client.tombstoneStream(stream), StreamDeletedError)
  await refused(t, client.deleteStream(stream), StreamDeletedError)
  await refused(t, client.getStreamMetadata(stream), StreamDeletedError)
  const last = (await collect(client.readAll({ direction: 'backwards', fromPosition: END, maxCount: 1 })))[0]
  t.match(last, { event: { streamId: stream, type: '$streamDeleted', revision: 9223372036854775807n, position } })
  t.match(await client.setStreamMetadata(stream, {}), { success: true }, 'which can still be written')
})

t.test('metadata cannot be tombstoned: a real node would end when their stream is deleted', async (t) => {
  const stream = await streamOf(1)
  await refused(t, client.tombstoneStream(`$$${stream}`), UnknownError, { message: /cannot be tombstoned/ })
  await client.deleteStream(stream)
  t.match(await client.appendToStream(stream, events(1)), { nextExpectedRevision: 1n })
})

t.test('a stream that does not exist can be tombstoned', async (t) => {
  const stream = randomUUID()
  await client.tombstoneStream(stream, { expectedRevision: NO_STREAM })
  await refused(t, client.appendToStream(stream, events(1)), StreamDeletedError)
})

t.test('an append of no events brings a deleted stream back', async (t) => {
  const stream = await streamOf(2)
  await client.deleteStream(stream)
  const empty = await client.appendToStream(stream, [], { expectedRevision: ANY })
  t.match(empty, { nextExpectedRevision: 1n, position: { commit: /\d+/ } })
  t.same(await revisions(stream), [])
  t.match(await client.getStreamMetadata(stream), { metadata: { truncateBefore: 2 } })
})
