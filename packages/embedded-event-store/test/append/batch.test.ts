// The edges of the batch-append stream, where the client never goes by itself: spoken to directly.
import { randomUUID } from 'node:crypto'
import * as grpc from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { field } from '../../src/protocol/protobuf.js'
import { collect, scratchEventStore } from '../support/scratch-event-store.js'
import { chunk, Duration, Empty, errorOf, idOf, openCall } from '../support/batch-call.js'

const { client, store } = await scratchEventStore(t)
const stub = new StreamsClient(`127.0.0.1:${store.port}`, grpc.credentials.createInsecure())
t.teardown(() => stub.close())

const open = (t: Test) => openCall(t, stub)
const lengthOf = async (stream: string) => (await collect(client.readStream(stream))).length

t.test('an append in chunks is one append, and one reply', async (t) => {
  const batch = open(t)
  const [id, stream] = [randomUUID(), randomUUID()]
  batch.send(chunk({ id, stream, events: 0, isFinal: false }))
  batch.send(chunk({ id, events: 2, isFinal: false }))
  batch.send(chunk({ id, events: 3 }))
  const replies = await batch.end()
  t.same(replies.map(idOf), [id])
  t.equal(replies[0]?.getSuccess()?.getCurrentRevision(), '4')
  t.same(Buffer.from(replies[0]?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(), stream)
  t.equal(await lengthOf(stream), 5)
})

t.test('chunks of several appends may be mixed; each is complete by itself', async (t) => {
  const batch = open(t)
  const [a, b, stream] = [randomUUID(), randomUUID(), randomUUID()]
  batch.send(chunk({ id: a, stream, isFinal: false }))
  batch.send(chunk({ id: b, stream, isFinal: false }))
  batch.send(chunk({ id: b }))
  batch.send(chunk({ id: a }))
  const replies = await batch.end()
  t.same(replies.map((reply) => [idOf(reply), reply.getSuccess()?.getCurrentRevision()]), [[b, '1'], [a, '3']])
})

t.test('chunks that belong to nothing get no reply', async (t) => {
  const batch = open(t)
  const [id, stream] = [randomUUID(), randomUUID()]
  batch.send(chunk({ id: randomUUID() }))
  batch.send(chunk({ id, stream }))
  t.same((await batch.end()).map(idOf), [id])
})

t.test('an append that is too large is refused once, at the chunk that makes it so; its tail is dropped', async (t) => {
  const batch = open(t)
  const [id, stream] = [randomUUID(), randomUUID()]
  batch.send(chunk({ id, stream, size: 600_000, isFinal: false }))
  for (const isFinal of [false, false, true]) batch.send(chunk({ id, size: 600_000, isFinal }))
  const replies = await batch.end()
  t.same(replies.map(idOf), [id])
  t.same(errorOf(replies[0]), [3, 'event_store.client.MaximumAppendSizeExceeded'])
  await t.rejects(lengthOf(stream))
})

t.test('an append that is never finished times out by itself, and so does a later one on the call', async (t) => {
  const batch = open(t)
  for (const count of [1, 2]) {
    const id = randomUUID()
    batch.send(chunk({ id, stream: randomUUID(), isFinal: false, deadline: new Date(Date.now() + 300) }))
    const replies = await batch.replies(count)
    t.same(errorOf(replies[count - 1]), [4, 'event_store.client.Timeout'])
    batch.send(chunk({ id })) // its tail, which is dropped
  }
  t.equal((await batch.end()).length, 2)
})

t.test('an append whose deadline has passed is not written', async (t) => {
  const batch = open(t)
  const [id, stream] = [randomUUID(), randomUUID()]
  batch.send(chunk({ id, stream, deadline: new Date(Date.now() - 1000) }))
  t.same(errorOf((await batch.end())[0]), [4, 'event_store.client.Timeout'])
  await t.rejects(lengthOf(stream))
})

t.test('an append that is too late as well as too large is too late: for that its client waits', async (t) => {
  const batch = open(t)
  const [id, stream, deadline] = [randomUUID(), randomUUID(), new Date(Date.now() - 1000)]
  batch.send(chunk({ id, stream, size: 2_000_000, isFinal: false, deadline }))
  t.same(errorOf((await batch.replies(1))[0]), [4, 'event_store.client.Timeout'])
})

t.test('a deadline may also be how long there is, as the features say', async (t) => {
  const decode = (bytes: Uint8Array) => streams.BatchAppendResp.deserializeBinary(bytes)
  const path = '/event_store.client.streams.Streams/BatchAppend'
  const call = stub.makeBidiStreamRequest(path, (bytes: Buffer) => bytes, decode)
  const append = (stream: string, seconds: number) => {
    const name = new shared.StreamIdentifier().setStreamName(Buffer.from(stream))
    const options = new streams.BatchAppendReq.Options().setAny(new Empty()).setStreamIdentifier(name)
    const duration = field(7, new Duration().setSeconds(seconds).serializeBinary())
    const encoded = field(2, Buffer.concat([options.serializeBinary(), duration]))
    call.write(Buffer.concat([chunk({ id: randomUUID() }).serializeBinary(), encoded]))
  }
  const [late, timely] = [randomUUID(), randomUUID()]
  append(late, -1)
  append(timely, 10)
  call.end()
  const replies = await collect<streams.BatchAppendResp>(call)
  t.same(replies.map(errorOf), [[4, 'event_store.client.Timeout'], [undefined, undefined]])
  t.equal(await lengthOf(timely), 1)
  await t.rejects(lengthOf(late))
})

t.test('what is not an event is refused, and the stream of appends goes on', async (t) => {
  const batch = open(t)
  const ids = Array.from({ length: 4 }, () => randomUUID())
  const [noName, noId, noType, good] = ids as [string, string, string, string]
  batch.send(chunk({ id: noName, stream: '' }))
  batch.send(chunk({ id: noId, stream: 'a', eventId: 'nonsense' }))
  batch.send(chunk({ id: noType, stream: 'a', type: null }))
  batch.send(chunk({ id: good, stream: 'a' }))
  const replies = await batch.end()
  t.same(replies.map(idOf), ids)
  t.same(replies.map((reply) => reply.hasError()), [true, true, true, false])
  t.ok(replies.every((reply) => reply.hasStreamIdentifier()), 'every reply names the stream')
})

t.test('replies come in the order of the appends', async (t) => {
  const batch = open(t)
  const ids = Array.from({ length: 300 }, () => randomUUID())
  for (const id of ids) batch.send(chunk({ id, stream: `s-${ids.indexOf(id) % 7}` }))
  t.same((await batch.end()).map(idOf), ids)
})
