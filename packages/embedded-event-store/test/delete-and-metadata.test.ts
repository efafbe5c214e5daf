// Deletes that can be undone, tombstones, and what metadata hides of a stream.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  ANY, END, jsonEvent, NO_STREAM, STREAM_EXISTS, StreamDeletedError, StreamNotFoundError, WrongExpectedVersionError
} from '@eventstore/db-client'
import { eventually } from '@ringledger/embedded-postgres/testing'
import { collect, refused, scratchEventStore } from '../src/testing/scratch-event-store.js'

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

t.test('a stream that is gone is named in the refusal; what a trailer cannot hold is encoded', async (t) => {
  const names = [[' a', '%20a'], ['a  ', 'a%20%20'], [' ', '%20'], ['a b', 'a b'], ['ä ', '%C3%A4%20']] as const
  for (const [name, told] of names) {
    await client.appendToStream(name, events(1))
    await client.tombstoneStream(name)
    await refused(t, collect(client.readStream(name)), StreamDeletedError, { streamName: told })
    await refused(t, client.deleteStream(name), StreamDeletedError, { streamName: told })
  }
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

t.test('a tombstone cannot be undone, and ends the metadata too', async (t) => {
  const stream = await streamOf(2)
  const tombstone = client.tombstoneStream(stream, { expectedRevision: 0n })
  await refused(t, tombstone, WrongExpectedVersionError, { actualVersion: 1n })
  const { position } = await client.tombstoneStream(stream, { expectedRevision: 1n })
  t.ok(position)
  await refused(t, client.tombstoneStream(stream), StreamDeletedError)
  await refused(t, client.deleteStream(stream), StreamDeletedError)
  await refused(t, client.getStreamMetadata(stream), StreamDeletedError)
  await refused(t, client.setStreamMetadata(stream, {}), StreamDeletedError)
  const last = (await collect(client.readAll({ direction: 'backwards', fromPosition: END, maxCount: 1 })))[0]
  t.match(last, { event: { streamId: stream, type: '$streamDeleted', revision: 9223372036854775807n, position } })
})

t.test('a stream that does not exist can be tombstoned', async (t) => {
  const stream = randomUUID()
  await client.tombstoneStream(stream, { expectedRevision: NO_STREAM })
  await refused(t, client.appendToStream(stream, events(1)), StreamDeletedError)
})

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

t.test('an id that was appended before a delete is repeated, not written anew', async (t) => {
  const stream = randomUUID()
  const batch = events(1)
  const first = await client.appendToStream(stream, batch, { expectedRevision: NO_STREAM })
  await client.deleteStream(stream)
  t.same(await client.appendToStream(stream, batch, { expectedRevision: NO_STREAM }), first)
})
