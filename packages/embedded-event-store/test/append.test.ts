// The append decision, row by row, over both ways to append: batched, and one call per append.
import { randomUUID } from 'node:crypto'
import {
  jsonEvent, WrongExpectedVersionError, type AppendExpectedRevision, type EventData, type EventStoreDBClient, ANY,
  NO_STREAM, STREAM_EXISTS, StreamDeletedError, binaryEvent, MaxAppendSizeExceededError, UnknownError
} from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { collect, refused, scratchEventStore } from './support/scratch-event-store.js'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import * as grpc from '@grpc/grpc-js'
import { field } from '../src/protocol/protobuf.js'
import { scratchPostgres } from '@ringledger/embedded-postgres/testing'

const event = (type = 'Happened') => jsonEvent({ type, data: { at: 1 } })
const events = (count: number) => Array.from({ length: count }, () => event())

/** Credentials of its own make the client append by a call of its own. */
const ways = {
  batch: {},
  unary: { credentials: { username: 'anyone', password: 'anything' } }
}

type Events = Parameters<EventStoreDBClient['appendToStream']>[1]

/** Appends and reads of one way. */
function appending (client: EventStoreDBClient, name: keyof typeof ways) {
  return {
    stream: () => `${name}-${randomUUID()}`,
    append: (to: string, what: Events, expectedRevision: AppendExpectedRevision) =>
      client.appendToStream(to, what, { ...ways[name], expectedRevision }),
    idsOf: async (from: string) => (await collect(client.readStream(from))).map(({ event }) => event?.id)
  }
}

/** Asserts that an append is refused because its stream ends at `current`. */
async function wrong (
  t: Test, call: Promise<unknown>, current: bigint | 'no_stream', expected: AppendExpectedRevision
): Promise<void> {
  await refused(t, call, WrongExpectedVersionError, { actualVersion: current, expectedVersion: expected })
}

// google-protobuf must be the client's own.
const require = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'))
const { Timestamp }: typeof import('google-protobuf/google/protobuf/timestamp_pb.js') =
  require('google-protobuf/google/protobuf/timestamp_pb.js')
const { Duration }: typeof import('google-protobuf/google/protobuf/duration_pb.js') =
  require('google-protobuf/google/protobuf/duration_pb.js')
const { Empty }: typeof import('google-protobuf/google/protobuf/empty_pb.js') =
  require('google-protobuf/google/protobuf/empty_pb.js')

/** A call that is cancelled with the test. */
function openCall (t: Test, stub: StreamsClient) {
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

interface Chunk {
  /** The chunks of one append share it. */
  id: string
  stream?: string
  events?: number
  /** Each event has so much data. */
  size?: number
  isFinal?: boolean
  deadline?: Date
  eventId?: string
  /** null: none. */
  type?: string | null
}

function chunk (of: Chunk): streams.BatchAppendReq {
  const { id, stream, events = 1, isFinal = true, deadline = new Date(Date.now() + 10_000) } = of
  const request = new streams.BatchAppendReq().setCorrelationId(new shared.UUID().setString(id)).setIsFinal(isFinal)
  if (stream !== undefined) {
    const name = new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'))
    const options = new streams.BatchAppendReq.Options().setAny(new Empty()).setDeadline(Timestamp.fromDate(deadline))
    request.setOptions(options.setStreamIdentifier(name))
  }
  for (let n = 0; n < events; n++) request.addProposedMessages(proposed(of))
  return request
}

function proposed ({ size = 10, eventId, type = 'Happened' }: Chunk): streams.BatchAppendReq.ProposedMessage {
  const id = new shared.UUID().setString(eventId ?? randomUUID())
  const message = new streams.BatchAppendReq.ProposedMessage().setId(id).setData(new Uint8Array(size))
  if (type !== null) message.getMetadataMap().set('type', type)
  message.getMetadataMap().set('content-type', 'application/octet-stream')
  return message
}

function idOf (reply: streams.BatchAppendResp | undefined) {
  return reply?.getCorrelationId()?.getString()
}

/** Its code, and the type of its details. */
function errorOf (reply: streams.BatchAppendResp | undefined) {
  const error = reply?.getError()
  return [error?.getCode(), error?.getDetails()?.getTypeName()]
}

const { client, store } = await scratchEventStore(t)

/** Letters are events: those of a stream, then those that are sent to it. */
const decisions: Array<[before: string, sent: string, expected: AppendExpectedRevision, answer: bigint | 'wrong']> = [
  ['', 'a', 0n, 'wrong'], ['', 'a', STREAM_EXISTS, 'wrong'], ['', '', 3n, 'wrong'],
  ['abc', 'd', NO_STREAM, 'wrong'], ['abc', 'd', 1n, 'wrong'], ['abc', 'd', 5n, 'wrong'], ['abc', 'd', 2n, 3n],
  ['a', '', NO_STREAM, 'wrong'], ['a', '', 0n, 0n],
  ['ab', 'abc', NO_STREAM, 'wrong'], ['ab', 'ac', NO_STREAM, 'wrong'], ['ab', 'ac', ANY, 'wrong'],
  ['ab', 'ba', NO_STREAM, 'wrong'],
  ['a', 'a', 0n, 1n] // at the end of a stream ids are not looked at
]

for (const name of ['batch', 'unary'] as const) {
  const { stream, append, idsOf } = appending(client, name)

  t.test(`${name}: an append is decided by the end of its stream and the ids after its revision`, async (t) => {
    for (const [before, sent, expected, answer] of decisions) {
      const [to, known] = [stream(), new Map<string, EventData>()]
      const eventsOf = (letters: string) => [...letters].map((letter) => {
        const one = known.get(letter) ?? event()
        known.set(letter, one)
        return one
      })
      if (before !== '') await append(to, eventsOf(before), NO_STREAM)
      const call = append(to, eventsOf(sent), expected)
      if (answer === 'wrong') await wrong(t, call, before === '' ? 'no_stream' : BigInt(before.length - 1), expected)
      else t.equal((await call).nextExpectedRevision, answer, `${sent} at ${String(expected)} of ${before}`)
      const after = answer !== 'wrong' && Number(answer) === before.length - 1 + sent.length ? before + sent : before
      t.same(await idsOf(to).catch(() => []), eventsOf(after).map(({ id }) => id))
    }
  })

  t.test(`${name}: the same ids again at the revision of the first try answer its revision and position`, async (t) => {
    for (const expected of [ANY, NO_STREAM, 0n] as const) {
      const to = stream()
      if (expected === 0n) await append(to, event(), NO_STREAM)
      const batch = events(2)
      const first = await append(to, batch, expected)
      await append(to, event(), first.nextExpectedRevision)
      t.same(await append(to, batch, expected), first)
    }
  })

  t.test(`${name}: an id that another stream had first is new to this one, again and again`, async (t) => {
    const shared = event()
    await append(stream(), shared, ANY)
    const to = stream()
    t.equal((await append(to, shared, ANY)).nextExpectedRevision, 0n)
    t.equal((await append(to, shared, ANY)).nextExpectedRevision, 1n)
  })

  t.test(`${name}: what is larger than 1 MiB is refused with the limit`, async (t) => {
    const large = (bytes: number) => binaryEvent({ type: 'Large', data: new Uint8Array(bytes) })
    const limit = { maxAppendSize: 1024 * 1024 }
    await refused(t, append(stream(), [large(1024 * 1024 - 9)], ANY), MaxAppendSizeExceededError, limit)
    t.equal((await append(stream(), [large(1024 * 1024 - 10)], ANY)).success, true, 'data and twice the type just fit')
    await refused(t, append(stream(), [large(600_000), large(600_000)], ANY), MaxAppendSizeExceededError)
  })

  t.test(`${name}: data, metadata, type and kind come back as they were`, async (t) => {
    const to = stream()
    const bytes = new Uint8Array([0, 1, 254, 255])
    await append(to, [
      jsonEvent({ type: 'Jsön', data: { text: 'ü\u0000😀', nested: [1, null] }, metadata: { $correlationId: 'c' } }),
      binaryEvent({ type: 'Bytes', data: bytes, metadata: bytes })
    ], NO_STREAM)
    const [json, binary] = (await collect(client.readStream(to))).map(({ event }) => event)
    const data = { text: 'ü\u0000😀', nested: [1, null] }
    t.match(json, { type: 'Jsön', isJson: true, data, metadata: { $correlationId: 'c' } })
    t.match(binary, { type: 'Bytes', isJson: false })
    const found = [binary?.data, binary?.metadata].map((value) => Buffer.from(value as Uint8Array))
    t.same(found, [Buffer.from(bytes), Buffer.from(bytes)])
    t.ok(Math.abs((json?.created.getTime() ?? 0) - Date.now()) < 60_000)
  })
}

t.test('batched appends of one caller are decided in the order of the calls', async (t) => {
  const to = randomUUID()
  const batch = events(200)
  await Promise.all(batch.map(async (event, index) => {
    await client.appendToStream(to, event, { expectedRevision: index === 0 ? NO_STREAM : BigInt(index - 1) })
  }))
  t.same((await collect(client.readStream(to))).map(({ event }) => event?.id), batch.map(({ id }) => id))
})

t.test('an event id is a UUID in any case, but not the one of zeros', async (t) => {
  const [to, id] = [randomUUID(), randomUUID()]
  const append = (id: string) =>
    client.appendToStream(to, jsonEvent({ id, type: 'A', data: {} }), { expectedRevision: NO_STREAM })
  for (const same of [id.toUpperCase(), id]) await append(same)
  t.same((await collect(client.readStream(to))).map(({ event }) => event?.id), [id])
  await refused(t, append('00000000-0000-0000-0000-000000000000'), UnknownError)
})

t.test('stream names may be anything of at most 2,000 bytes', async (t) => {
  for (const name of ['日本語 "\'-1', 'a'.repeat(2000), '$all']) {
    await client.appendToStream(name, event())
    t.match(await collect(client.readStream(name)), [{ event: { streamId: name } }])
  }
  for (const name of ['a'.repeat(2001), '$$']) await refused(t, client.appendToStream(name, event()), UnknownError)
})

const stub = new StreamsClient(`127.0.0.1:${store.port}`, grpc.credentials.createInsecure())
t.teardown(() => stub.close())

const open = (t: Test) => openCall(t, stub)
const lengthOf = async (stream: string) => (await collect(client.readStream(stream))).length

t.test('an append in chunks is one append, and one reply; those of others come between, or belong to nothing', async (t) => {
  const batch = open(t)
  const [id, other, stream] = [randomUUID(), randomUUID(), randomUUID()]
  batch.send(chunk({ id, stream, events: 0, isFinal: false }))
  batch.send(chunk({ id: other, stream, isFinal: false }))
  batch.send(chunk({ id, events: 2, isFinal: false }))
  batch.send(chunk({ id: other }))
  batch.send(chunk({ id: randomUUID() }))
  batch.send(chunk({ id, events: 3 }))
  const replies = await batch.end()
  t.same(replies.map((reply) => [idOf(reply), reply.getSuccess()?.getCurrentRevision()]), [[other, '1'], [id, '6']])
  t.same(Buffer.from(replies[0]?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(), stream)
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

t.test('an append that is never finished times out, and so does a later one on the call', async (t) => {
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

t.test('an append whose deadline has passed is not written; a deadline may be an instant or how long there is', async (t) => {
  const [id, stream] = [randomUUID(), randomUUID()]
  const batch = open(t)
  batch.send(chunk({ id, stream, deadline: new Date(Date.now() - 1000) }))
  t.same(errorOf((await batch.end())[0]), [4, 'event_store.client.Timeout'])
  await t.rejects(lengthOf(stream))
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

t.test('a message that is no event is refused, and the stream of appends goes on', async (t) => {
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

t.test('streams of a former server are no new ones, alone and among new ones', async (t) => {
  const postgres = await scratchPostgres(t)
  const former = await scratchEventStore(t, { postgres })
  const known = events(2)
  for (const stream of ['filled', 'deleted', 'tombstoned']) await former.client.appendToStream(stream, known)
  await former.client.deleteStream('deleted')
  await former.client.tombstoneStream('tombstoned')
  await former.client.setStreamMetadata('described', { maxCount: 1 })
  await former.store.close()

  const { client } = await scratchEventStore(t, { postgres })
  const toNone = { expectedRevision: NO_STREAM } as const
  const [, , ...answers] = await Promise.all([
    wrong(t, client.appendToStream('filled', event(), toNone), 1n, NO_STREAM),
    refused(t, client.appendToStream('tombstoned', event(), toNone), StreamDeletedError),
    client.appendToStream('filled', known, toNone),
    client.appendToStream('deleted', event(), toNone),
    client.appendToStream('described', events(3), toNone),
    client.appendToStream('new', event(), toNone)
  ])
  t.same(answers.map(({ nextExpectedRevision }) => nextExpectedRevision), [1n, 2n, 2n, 0n])
  const lengths = ['filled', 'described', 'new'].map(async (stream) => (await collect(client.readStream(stream))).length)
  t.same(await Promise.all(lengths), [2, 1, 1])
})
