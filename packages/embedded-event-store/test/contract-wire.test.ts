// What goes over the wire, said and read without the client's help: codes, trailers, positions, and what a node says of itself.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import grpc, { status } from '@grpc/grpc-js'
import t from 'tap'
import { jsonEvent } from '@eventstore/db-client'
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import type gossip from '@eventstore/db-client/generated/gossip_pb.js'
import { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { collect, scratchEventStore } from '../src/testing/scratch-event-store.js'

const { client, store } = await scratchEventStore(t)
const [address, credentials] = [`127.0.0.1:${store.port}`, grpc.credentials.createInsecure()]
const stub = new StreamsClient(address, credentials)
t.teardown(() => stub.close())

const event = () => jsonEvent({ type: 'Happened', data: {} })
const empty = () => new shared.Empty()
const identifier = (name: string) => new shared.StreamIdentifier().setStreamName(Buffer.from(name))
const proposed = (properties: Record<string, string> = { type: 'Happened', 'content-type': 'application/json' }, data: Uint8Array = Buffer.from('{}')) => {
  const message = new streams.AppendReq.ProposedMessage().setId(new shared.UUID().setString(randomUUID())).setData(data)
  for (const [key, value] of Object.entries(properties)) message.getMetadataMap().set(key, value)
  return message
}

/** One unary call, promised. */
const asked = <T>(call: (done: (error: Error | null, reply: T) => void) => unknown) => new Promise<T>((resolve, reject) => { call((error, reply) => { if (error === null) resolve(reply); else reject(error) }) })

const append = (name: string, messages: streams.AppendReq.ProposedMessage[], options = new streams.AppendReq.Options().setAny(empty())) => asked<streams.AppendResp>((done) => {
  const call = stub.append(done)
  call.write(new streams.AppendReq().setOptions(options.setStreamIdentifier(identifier(name))))
  for (const message of messages) call.write(new streams.AppendReq().setProposedMessage(message))
  call.end()
})
const remove = (name: string, options = new streams.DeleteReq.Options().setAny(empty())) => asked<streams.DeleteResp>((done) => stub.delete(new streams.DeleteReq().setOptions(options.setStreamIdentifier(identifier(name))), done))
const tombstone = (name: string, options = new streams.TombstoneReq.Options().setAny(empty())) => asked<streams.TombstoneResp>((done) => stub.tombstone(new streams.TombstoneReq().setOptions(options.setStreamIdentifier(identifier(name))), done))

function read (name: string, headers = new grpc.Metadata()) {
  const from = new streams.ReadReq.Options.StreamOptions().setStreamIdentifier(identifier(name)).setStart(empty())
  const uuid = new streams.ReadReq.Options.UUIDOption().setString(empty())
  return stub.read(new streams.ReadReq().setOptions(new streams.ReadReq.Options().setStream(from).setCount('10').setNoFilter(empty()).setUuidOption(uuid)), headers)
}
const responses = (name: string): Promise<streams.ReadResp[]> => collect(read(name))
const recorded = async (name: string) => (await responses(name)).map((response) => response.getEvent()?.getEvent())

t.test('every refusal that is a status has its code and the trailers that the client reads', async (t) => {
  const [gone, there, softly] = ['gone', 'there', 'softly']
  await client.tombstoneStream(gone)
  for (const name of [there, softly]) await client.appendToStream(name, [event(), event()])
  await client.deleteStream(softly)
  const wrong = (name: string, expected: string, actual: string) => ({ exception: 'wrong-expected-version', 'stream-name': name, 'expected-version': expected, 'actual-version': actual })
  const deleted = { exception: 'stream-deleted', 'stream-name': gone }
  const rows: Array<[string, () => Promise<unknown>, number, Record<string, string>]> = [
    ['read of a tombstoned stream', () => responses(gone), status.FAILED_PRECONDITION, deleted],
    ['append to one', () => append(gone, [proposed()]), status.FAILED_PRECONDITION, deleted],
    ['delete of one', () => remove(gone), status.FAILED_PRECONDITION, deleted],
    ['tombstone of one', () => tombstone(gone), status.FAILED_PRECONDITION, deleted],
    ['delete, exact', () => remove(there, new streams.DeleteReq.Options().setRevision('7')), status.FAILED_PRECONDITION, wrong(there, '7', '1')],
    ['delete, no stream', () => remove(there, new streams.DeleteReq.Options().setNoStream(empty())), status.FAILED_PRECONDITION, wrong(there, '-1', '1')],
    ['delete, any, of nothing', () => remove('nothing'), status.FAILED_PRECONDITION, wrong('nothing', '-2', '-1')],
    ['delete, exists, of nothing', () => remove('nothing', new streams.DeleteReq.Options().setStreamExists(empty())), status.FAILED_PRECONDITION, wrong('nothing', '-4', '-1')],
    ['tombstone, exact', () => tombstone(there, new streams.TombstoneReq.Options().setRevision('0')), status.FAILED_PRECONDITION, wrong(there, '0', '1')],
    ['tombstone, exists, of nothing', () => tombstone('nothing', new streams.TombstoneReq.Options().setStreamExists(empty())), status.FAILED_PRECONDITION, wrong('nothing', '-4', '-1')],
    ['tombstone, exists, of a deleted stream', () => tombstone(softly, new streams.TombstoneReq.Options().setStreamExists(empty())), status.FAILED_PRECONDITION, { ...deleted, 'stream-name': softly }],
    ['tombstone, no stream', () => tombstone(there, new streams.TombstoneReq.Options().setNoStream(empty())), status.FAILED_PRECONDITION, wrong(there, '-1', '1')],
    ['a name that is not ASCII', () => remove('fort-été'), status.FAILED_PRECONDITION, wrong('fort-%C3%A9t%C3%A9', '-2', '-1')],
    ['too large', () => append(there, [proposed(undefined, new Uint8Array(5 * 1024 * 1024))]), status.INVALID_ARGUMENT, { exception: 'maximum-append-size-exceeded', 'maximum-append-size': '1048576' }],
    ['no type, no content type', () => append(there, [proposed({})]), status.INVALID_ARGUMENT, { exception: 'missing-required-metadata-property', 'required-metadata-properties': 'type,content-type' }],
    ['append to $all', () => append('$all', [proposed()]), status.PERMISSION_DENIED, { exception: 'access-denied' }]
  ]
  for (const [name, call, code, trailers] of rows) {
    const failure = await call().then(() => undefined, (error: grpc.ServiceError) => error)
    const found = Object.fromEntries(Object.keys(trailers).map((key) => [key, failure?.metadata.get(key)[0]]))
    t.same([failure?.code, found], [code, trailers], name)
  }
  t.equal((await collect(client.readStream(there))).length, 2, 'and nothing was written')
})

t.test('a unary append that finds another revision is a reply, not a status', async (t) => {
  const options = () => new streams.AppendReq.Options()
  const name = randomUUID()
  const missing = (await append(name, [proposed()], options().setStreamExists(empty()))).getWrongExpectedVersion()
  t.same([missing?.hasCurrentNoStream(), missing?.hasExpectedStreamExists()], [true, true])
  const success = (await append(name, [proposed(), proposed()])).getSuccess()
  t.equal(success?.getCurrentRevision(), '1')
  t.equal(success?.getPosition()?.getCommitPosition(), success?.getPosition()?.getPreparePosition())
  const behind = (await append(name, [proposed()], options().setRevision('0'))).getWrongExpectedVersion()
  t.same([behind?.getCurrentRevision(), behind?.getExpectedRevision()], ['1', '0'])
  const nothing = (await append(randomUUID(), [])).getSuccess()
  t.same([nothing?.hasNoStream(), nothing?.hasNoPosition()], [true, true], 'an empty append to nothing is at no stream and at no position')
})

t.test('who logs in, names a connection or asks for the leader is served as anyone', async (t) => {
  for (const authorization of [`Basic ${Buffer.from('admin:changeit').toString('base64')}`, 'Bearer a.b.c', 'nonsense']) {
    const headers = new grpc.Metadata()
    for (const [name, value] of Object.entries({ authorization, 'requires-leader': 'true', 'connection-name': 'tests' })) headers.set(name, value)
    const name = randomUUID()
    const request = new streams.TombstoneReq().setOptions(new streams.TombstoneReq.Options().setAny(empty()).setStreamIdentifier(identifier(name)))
    t.equal((await collect<streams.ReadResp>(read(name, headers))).length, 1)
    t.ok((await asked<streams.TombstoneResp>((done) => stub.tombstone(request, headers, done))).getPosition())
  }
})

t.test('a stream that is not there is one message and a good end', async (t) => {
  const call = read('never written')
  const ended = once(call, 'status')
  const messages = await collect<streams.ReadResp>(call)
  t.same(messages.map((message) => Buffer.from(message.getStreamNotFound()?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()), ['never written'])
  t.match(await ended, [{ code: status.OK }])
})

t.test('only exactly application/json is JSON; data are never parsed; ids may come as two halves', async (t) => {
  const name = randomUUID()
  const id = '8f14e45f-ceea-467f-a6c1-0123456789ab'
  const halves = new shared.UUID.Structured().setMostSignificantBits(String(BigInt.asIntN(64, 0x8f14e45fceea467fn))).setLeastSignificantBits(String(BigInt.asIntN(64, 0xa6c10123456789abn)))
  await append(name, [
    proposed({ type: 'A', 'content-type': 'application/json; charset=utf-8' }),
    proposed({ type: 'B', 'content-type': 'application/json' }, Buffer.from('not JSON')).setId(new shared.UUID().setStructured(halves))
  ])
  const before = Date.now()
  const [other, broken] = await recorded(name)
  t.equal(other?.getMetadataMap().get('content-type'), 'application/octet-stream')
  t.equal(broken?.getMetadataMap().get('content-type'), 'application/json')
  t.equal(broken?.getId()?.getString(), id)
  t.equal(Buffer.from(broken?.getData_asU8() ?? []).toString(), 'not JSON')
  const created = broken?.getMetadataMap().get('created') ?? ''
  t.match(created, /^\d{13}0000$/, 'units of 100 ns since 1970')
  t.ok(Math.abs(Number(created) / 10_000 - before) < 60_000)
  t.equal(broken?.getCommitPosition(), broken?.getPreparePosition(), 'a position also in the read of a stream')
})

t.test('the features are those of a node without persistent subscriptions, in lower case', async (t) => {
  const node = new ServerFeaturesClient(address, credentials)
  t.teardown(() => node.close())
  const supported = await asked<features.SupportedMethods>((done) => node.getSupportedMethods(empty(), done))
  t.same(supported.getMethodsList().map((method) => [method.getServiceName(), method.getMethodName(), ...method.getFeaturesList()].join(' ')).sort(), [
    'event_store.client.gossip.gossip read',
    'event_store.client.server_features.serverfeatures getsupportedmethods',
    'event_store.client.streams.streams append',
    'event_store.client.streams.streams batchappend deadline_duration',
    'event_store.client.streams.streams delete',
    'event_store.client.streams.streams read position events',
    'event_store.client.streams.streams tombstone'
  ])
})

t.test('gossip names one member: itself, alive, leading, where it can be reached', async (t) => {
  const node = new GossipClient(address, credentials)
  t.teardown(() => node.close())
  const gossiped = async () => (await asked<gossip.ClusterInfo>((done) => node.read(empty(), done))).toObject().membersList
  const members = await gossiped()
  t.match(members, [{ state: 8, isAlive: true, httpEndPoint: { address: '127.0.0.1', port: store.port } }])
  t.equal(members.length, 1)
  t.same((await gossiped())[0]?.instanceId, members[0]?.instanceId, 'the same instance each time')
})
