// The edges of the batch-append stream, where the client never goes by itself: spoken to directly.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import grpc from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { field } from '../src/protocol/protobuf.js'
import { collect, scratchEventStore } from '../src/testing/scratch-event-store.js'

// google-protobuf must be the client's own.
const require = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'))
const { Timestamp }: typeof import('google-protobuf/google/protobuf/timestamp_pb.js') = require('google-protobuf/google/protobuf/timestamp_pb.js')
const { Duration }: typeof import('google-protobuf/google/protobuf/duration_pb.js') = require('google-protobuf/google/protobuf/duration_pb.js')
const { Empty }: typeof import('google-protobuf/google/protobuf/empty_pb.js') = require('google-protobuf/google/protobuf/empty_pb.js')

const { client, store } = await scratchEventStore(t)
const stub = new StreamsClient(`127.0.0.1:${store.port}`, grpc.credentials.createInsecure())
t.teardown(() => stub.close())

function open (t: Test) {
  const call = stub.batchAppend()
  const replies: streams.BatchAppendResp[] = []
  call.on('data', (reply: streams.BatchAppendResp) => replies.push(reply))
  call.on('error', () => {})
  t.teardown(() => call.cancel())
  return {
    call,
    send: (chunk: streams.BatchAppendReq) => call.write(chunk),
    async replies (count: number) {
      while (replies.length < count) await once(call, 'data')
      return replies
    },
    async end () {
      call.end()
      await once(call, 'end')
      return replies
    }
  }
}

interface Chunk { id: string, stream?: string, events?: number, size?: number, isFinal?: boolean, deadline?: Date, eventId?: string, type?: string | null }

function chunk ({ id, stream, events = 1, size = 10, isFinal = true, deadline = new Date(Date.now() + 10_000), eventId, type = 'Happened' }: Chunk): streams.BatchAppendReq {
  const request = new streams.BatchAppendReq().setCorrelationId(new shared.UUID().setString(id)).setIsFinal(isFinal)
  if (stream !== undefined) {
    const options = new streams.BatchAppendReq.Options().setAny(new Empty()).setDeadline(Timestamp.fromDate(deadline))
    request.setOptions(options.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'))))
  }
  for (let n = 0; n < events; n++) {
    const message = new streams.BatchAppendReq.ProposedMessage().setId(new shared.UUID().setString(eventId ?? randomUUID())).setData(new Uint8Array(size))
    if (type !== null) message.getMetadataMap().set('type', type)
    message.getMetadataMap().set('content-type', 'application/octet-stream')
    request.addProposedMessages(message)
  }
  return request
}

const idOf = (reply: streams.BatchAppendResp | undefined) => reply?.getCorrelationId()?.getString()
const errorOf = (reply: streams.BatchAppendResp | undefined) => [reply?.getError()?.getCode(), reply?.getError()?.getDetails()?.getTypeName()]
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
  t.same((await batch.end()).map((reply) => [idOf(reply), reply.getSuccess()?.getCurrentRevision()]), [[b, '1'], [a, '3']])
})

t.test('chunks that belong to nothing get no reply', async (t) => {
  const batch = open(t)
  const [id, stream] = [randomUUID(), randomUUID()]
  batch.send(chunk({ id: randomUUID() }))
  batch.send(chunk({ id, stream }))
  t.same((await batch.end()).map(idOf), [id])
})

t.test('an append that is too large is refused once, at the chunk that makes it so, and its tail is dropped', async (t) => {
  const batch = open(t)
  const [id, stream] = [randomUUID(), randomUUID()]
  batch.send(chunk({ id, stream, size: 600_000, isFinal: false }))
  for (const isFinal of [false, false, true]) batch.send(chunk({ id, size: 600_000, isFinal }))
  const replies = await batch.end()
  t.same(replies.map(idOf), [id])
  t.same(errorOf(replies[0]), [3, 'event_store.client.MaximumAppendSizeExceeded'])
  await t.rejects(lengthOf(stream))
})

t.test('an append that is never finished times out by itself', async (t) => {
  const batch = open(t)
  const id = randomUUID()
  batch.send(chunk({ id, stream: randomUUID(), isFinal: false, deadline: new Date(Date.now() + 300) }))
  const replies = await batch.replies(1)
  t.same(errorOf(replies[0]), [4, 'event_store.client.Timeout'])
  batch.send(chunk({ id }))
  t.equal((await batch.end()).length, 1, 'its tail is dropped')
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
  batch.send(chunk({ id: randomUUID(), stream: randomUUID(), size: 2_000_000, isFinal: false, deadline: new Date(Date.now() - 1000) }))
  t.same(errorOf((await batch.replies(1))[0]), [4, 'event_store.client.Timeout'])
})

t.test('a deadline may also be how long there is, as the features say', async (t) => {
  const call = stub.makeBidiStreamRequest('/event_store.client.streams.Streams/BatchAppend', (bytes: Buffer) => bytes, (bytes) => streams.BatchAppendResp.deserializeBinary(bytes))
  const append = (stream: string, seconds: number) => {
    const options = new streams.BatchAppendReq.Options().setAny(new Empty()).setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
    const duration = field(7, new Duration().setSeconds(seconds).serializeBinary())
    call.write(Buffer.concat([chunk({ id: randomUUID() }).serializeBinary(), field(2, Buffer.concat([options.serializeBinary(), duration]))]))
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
