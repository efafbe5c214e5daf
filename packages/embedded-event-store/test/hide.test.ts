// Deletes that can be undone, and tombstones, which cannot.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  ANY, END, jsonEvent, NO_STREAM, STREAM_EXISTS, StreamDeletedError, StreamNotFoundError, UnknownError,
  WrongExpectedVersionError
} from '@eventstore/db-client'
import { collect, refused, scratchEventStore } from './support/scratch-event-store.js'
import { proposed, wireOf } from './support/wire.js'
import { eventually } from '@ringledger/embedded-postgres/testing'

const { client, store } = await scratchEventStore(t)
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

const { append } = wireOf(t, store.port)

/** Writes metadata byte by byte. */
const describe = (stream: string, json: string) =>
  append(`$$${stream}`, [proposed({ type: '$metadata', 'content-type': 'application/json' }, Buffer.from(json))])

t.test('one bad value voids all of the metadata; a number that is too small voids itself', async (t) => {
  const stream = await streamOf(4)
  const hides = async (json: string) => {
    await describe(stream, json)
    return (await revisions(stream)).length < 4
  }
  t.ok(await hides('{"$maxCount":1}'))
  const bad = [
    '"$maxAge":"x"', '"$maxAge":1.5', '"$tb":"1"', '"$cacheControl":null', '"$tmp":1',
    '"$acl":[]', '"$acl":{"$r":1}', '"$acl":{"$r":["a",1]}', '"$acl":{"other":"a"}'
  ]
  for (const member of bad) t.notOk(await hides(`{"$maxCount":1,${member}}`), member)
  const good = ['"$maxAge":-1', '"$tb":-1', '"$acl":{"$r":"a","$w":["b"]}', '"$tmp":true', '"other":[1.5,{"$tb":"}"}]']
  for (const member of good) t.ok(await hides(`{"$maxCount":1,${member}}`), member)
  t.notOk(await hides('{"$maxCount":0}'))
  t.notOk(await hides('[1]'))
  t.notOk(await hides('not JSON'))
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
