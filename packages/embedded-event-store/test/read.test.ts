// Finite reads, row by row: where each of them begins, which way it goes, and what is not found; and what is hidden by
// deletes, which can be undone, by tombstones, which cannot, and by metadata.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  ANY, BACKWARDS, binaryEvent, END, FORWARDS, jsonEvent, NO_STREAM, START, STREAM_EXISTS, StreamDeletedError,
  StreamNotFoundError, UnknownError, WrongExpectedVersionError, type Direction, type ReadPosition, type ReadRevision,
  type ResolvedEvent
} from '@eventstore/db-client'
import { eventually } from '@ringledger/embedded-postgres/testing'
import { collect, refused, scratchEventStore } from './support/scratch-event-store.js'
import { proposed, wireOf } from './support/wire.js'

const { client, store } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })
const revisions = (read: readonly ResolvedEvent[]) => read.map(({ event }) => Number(event?.revision))

t.test('a stream is read from a revision, either way', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, [event(), event(), event(), event()])
  const read = async (direction: Direction, fromRevision: ReadRevision, maxCount = Number.MAX_SAFE_INTEGER) =>
    revisions(await collect(client.readStream(stream, { direction, fromRevision, maxCount })))
  t.same(await read(FORWARDS, START), [0, 1, 2, 3])
  t.same(await read(FORWARDS, 2n), [2, 3])
  await refused(t, read(FORWARDS, END), UnknownError)
  await refused(t, read(BACKWARDS, END, 0), UnknownError)
  t.same(await read(FORWARDS, 4n), [], 'past the end')
  t.same(await read(BACKWARDS, START), [0])
  t.same(await read(BACKWARDS, 2n), [2, 1, 0])
  t.same(await read(BACKWARDS, END), [3, 2, 1, 0])
  t.same(await read(BACKWARDS, 99n), [3, 2, 1, 0], 'from past the end it starts at the last event')
  t.same(await read(FORWARDS, 1n, 2), [1, 2])
  t.same(await read(BACKWARDS, END, 1), [3])
})

t.test('$all is read from a position, either way: forwards with it, backwards without it', async (t) => {
  const stream = randomUUID()
  const first = await client.appendToStream(stream, event())
  await client.appendToStream(stream, [event(), event()])
  const at = first.position ?? { commit: 0n, prepare: 0n }
  const read = async (direction: Direction, fromPosition: ReadPosition) => {
    const all = await collect(client.readAll({ direction, fromPosition }))
    return revisions(all.filter(({ event }) => event?.streamId === stream))
  }
  t.same(await read(FORWARDS, at), [0, 1, 2])
  t.same(await read(BACKWARDS, at), [])
  t.same(await read(BACKWARDS, { commit: at.commit + 1n, prepare: at.prepare + 1n }), [0])
  t.same(await read(BACKWARDS, END), [2, 1, 0])
  await refused(t, collect(client.readAll({ direction: FORWARDS, fromPosition: END })), UnknownError)
  await refused(t, collect(client.readAll({ maxCount: 0 })), UnknownError)
  t.same(await collect(client.readAll({ direction: BACKWARDS, fromPosition: START })), [])
  t.equal((await collect(client.readAll({ maxCount: 2 }))).length, 2)
  for (const fromPosition of [{ commit: 1n << 40n, prepare: 1n << 40n }, { ...at, prepare: at.prepare - 1n }]) {
    await refused(t, collect(client.readAll({ fromPosition })), UnknownError, { message: /InvalidPosition/ })
  }
})

t.test('$all still shows what its stream does not: events of deleted and truncated streams', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, [event('First'), event('Second')])
  await client.deleteStream(stream)
  const shown = (await collect(client.readAll())).filter(({ event }) => event?.streamId === stream)
  t.same(shown.map(({ event }) => event?.type), ['First', 'Second'])
})

const link = (to: string) => binaryEvent({ type: '$>', data: Buffer.from(to) })

t.test('links are followed when asked for, and shown alone when their target cannot be seen', async (t) => {
  const [target, links, gone] = [randomUUID(), randomUUID(), randomUUID()]
  await client.appendToStream(target, [event('Zero'), event('One')])
  await client.appendToStream(gone, event())
  await client.deleteStream(gone)
  const all = [`1@${target}`, `7@${target}`, `0@${gone}`, `-1@${target}`]
  await client.appendToStream(links, [...all.map(link), event('Plain')])
  const followed = await collect(client.readStream(links, { resolveLinkTos: true }))
  t.match(followed[0], {
    event: { type: 'One', streamId: target, revision: 1n },
    link: { type: '$>', streamId: links, revision: 0n }
  })
  t.equal(followed[0]?.commitPosition, followed[0]?.link?.position?.commit)
  const shownAlone = [undefined, '$>']
  const types = followed.map(({ event, link }) => [event?.type, link?.type])
  t.same(types, [['One', '$>'], shownAlone, shownAlone, shownAlone, ['Plain', undefined]])
  const plain = await collect(client.readStream(links))
  t.same(plain.map(({ event }) => event?.type), ['$>', '$>', '$>', '$>', 'Plain'])
})

const some = (count: number) => Array.from({ length: count }, () => event())
const shown = async (stream: string) => revisions(await collect(client.readStream(stream)))

async function streamOf (count: number) {
  const stream = randomUUID()
  await client.appendToStream(stream, some(count))
  return stream
}

t.test('a deleted stream is not found, and continues its revisions when it is written to again', async (t) => {
  for (const expectedRevision of [ANY, NO_STREAM, 2n] as const) {
    const stream = await streamOf(3)
    const { position } = await client.deleteStream(stream)
    t.ok(position)
    await refused(t, collect(client.readStream(stream)), StreamNotFoundError)
    await refused(t, client.appendToStream(stream, some(1), { expectedRevision: STREAM_EXISTS }), StreamDeletedError)
    t.equal((await client.appendToStream(stream, some(2), { expectedRevision })).nextExpectedRevision, 4n)
    t.same(await shown(stream), [3, 4])
    t.match(await client.getStreamMetadata(stream), { metadata: { truncateBefore: 3 } })
  }
})

t.test('a deleted stream counts as none for the next delete or tombstone', async (t) => {
  for (const next of ['deleteStream', 'tombstoneStream'] as const) {
    const stream = await streamOf(2)
    await client.deleteStream(stream)
    t.ok((await client[next](stream, { expectedRevision: NO_STREAM })).position)
  }
})

t.test('metadata set on a deleted stream bring it back without its events', async (t) => {
  const stream = await streamOf(3)
  await client.deleteStream(stream)
  await client.setStreamMetadata(stream, { maxCount: 2, colour: 'red' })
  t.same(await shown(stream), [], 'empty, not missing')
  t.match(await client.getStreamMetadata(stream), { metadata: { maxCount: 2, truncateBefore: 3, colour: 'red' } })
  await client.appendToStream(stream, some(1), { expectedRevision: STREAM_EXISTS })
  t.same(await shown(stream), [3])
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

const { append } = wireOf(t, store.port)

/** Writes metadata byte by byte. */
const describe = (stream: string, json: string) =>
  append(`$$${stream}`, [proposed({ type: '$metadata', 'content-type': 'application/json' }, Buffer.from(json))])

t.test('one bad value voids all of the metadata; a number that is too small voids itself', async (t) => {
  const stream = await streamOf(4)
  const hides = async (json: string) => {
    await describe(stream, json)
    return (await shown(stream)).length < 4
  }
  t.ok(await hides('{"$maxCount":1}'))
  for (const member of ['"$maxAge":"x"', '"$maxAge":1.5', '"$acl":{"$r":["a",1]}']) {
    t.notOk(await hides(`{"$maxCount":1,${member}}`), member)
  }
  for (const member of ['"$maxAge":-1', '"$acl":{"$r":"a","$w":["b"]}', '"other":[1.5,{"$tb":"}"}]']) {
    t.ok(await hides(`{"$maxCount":1,${member}}`), member)
  }
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
  t.same(await shown(stream), [4, 5])
  await client.appendToStream(stream, some(1))
  t.same(await shown(stream), [5, 6])
  await client.setStreamMetadata(stream, { truncateBefore: 3 })
  t.same(await shown(stream), [3, 4, 5, 6])
  const two = await collect(client.readStream(stream, { fromRevision: 1n, maxCount: 2 }))
  t.same(two.map(({ event }) => event?.revision), [3n, 4n])
  await client.setStreamMetadata(stream, { truncateBefore: 100 })
  t.same(await shown(stream), [], 'wholly truncated is empty, not missing')
})

t.test('$maxAge hides what is older', async () => {
  const stream = await streamOf(1)
  await client.setStreamMetadata(stream, { maxAge: 1 })
  await eventually(async () => (await shown(stream)).length === 0)
})

t.test('a repeat of what can be seen no more is not written anew, and answered without a position', async (t) => {
  const hide = [
    (stream: string) => client.deleteStream(stream),
    (stream: string) => client.setStreamMetadata(stream, { truncateBefore: 1 })
  ]
  for (const hidden of hide) {
    const [stream, batch] = [randomUUID(), some(1)]
    await client.appendToStream(stream, batch, { expectedRevision: NO_STREAM })
    await client.appendToStream(stream, some(1))
    await hidden(stream)
    for (const expectedRevision of [ANY, NO_STREAM] as const) {
      const again = await client.appendToStream(stream, batch, { expectedRevision })
      t.match(again, { nextExpectedRevision: 0n, position: undefined })
    }
  }
})

t.test('more events than a page, and larger than a page, arrive complete and in order', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, Array.from({ length: 1200 }, () => event()))
  const large = () => binaryEvent({ type: 'Large', data: new Uint8Array(900_000) })
  for (let n = 0; n < 6; n++) await client.appendToStream(stream, large())
  const expected = Array.from({ length: 1206 }, (_, index) => index)
  t.same(revisions(await collect(client.readStream(stream))), expected)
  const backwards = await collect(client.readStream(stream, { direction: BACKWARDS, fromRevision: END }))
  t.same(revisions(backwards), expected.reverse())
})
