// What the official client may count on beyond the tables of appends, reads and subscriptions; what the node says of
// itself, and of the parts of EventStoreDB that it does not have.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  END, jsonEvent, NO_STREAM, persistentSubscriptionToStreamSettingsFromDefaults, StreamDeletedError,
  StreamNotFoundError, UnknownError, WrongExpectedVersionError
} from '@eventstore/db-client'
import { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import t, { type Test } from 'tap'
import { eventStoreEntry, eventStoreProcess } from './support/event-store-process.js'
import { collect, connect, refused, scratchEventStore } from './support/scratch-event-store.js'
import * as grpc from '@grpc/grpc-js'
import { asked, credentials, empty, proposed, wireOf } from './support/wire.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { connect as connectSocket } from 'node:net'
import { scratchPostgres, seedOf } from '@ringledger/embedded-postgres/testing'
import fc from 'fast-check'

const { client, store } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })

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

const { append, remove, tombstone, responses, recorded } = wireOf(t, store.port)
const wrong = (name: string, expected: string, actual: string) => ({
  exception: 'wrong-expected-version', 'stream-name': name, 'expected-version': expected, 'actual-version': actual
})
const tooLarge = { exception: 'maximum-append-size-exceeded', 'maximum-append-size': '1048576' }
const incomplete = {
  exception: 'missing-required-metadata-property', 'required-metadata-properties': 'type,content-type'
}
const { FAILED_PRECONDITION, INVALID_ARGUMENT, UNKNOWN } = grpc.status
type Refused = [name: string, call: () => Promise<unknown>, code: number, trailers: Record<string, string>]

async function allRefused (t: Test, rows: readonly Refused[]): Promise<void> {
  for (const [name, call, code, trailers] of rows) {
    const failure = await call().then(() => undefined, (error: grpc.ServiceError) => error)
    const found = Object.fromEntries(Object.keys(trailers).map((key) => [key, failure?.metadata.get(key)[0]]))
    t.same([failure?.code, found], [code, trailers], name)
  }
}

t.test('a malformed request is refused without trailers', async (t) => {
  const refused = (name: string, call: () => Promise<unknown>, code: number): Refused => [name, call, code, {}]
  await allRefused(t, [
    refused('a name that is not ASCII', () => remove('fort-été'), UNKNOWN),
    refused('no name', () => responses(''), UNKNOWN),
    refused('an empty type', () => append('a', [proposed({ type: '', 'content-type': 'a' })]), UNKNOWN),
    refused('an id that is not a UUID', () => append('a', [proposed().setId(new shared.UUID().setString('x'))]), UNKNOWN),
    refused('no expected revision', () => append('a', [proposed()], 'unset'), INVALID_ARGUMENT),
    refused('delete, no expected revision', () => remove('a', 'unset'), INVALID_ARGUMENT),
    refused('tombstone of metadata', () => tombstone('$$a'), INVALID_ARGUMENT),
    refused('metadata of no name', () => append('$$', [proposed()]), INVALID_ARGUMENT)
  ])
  t.same(await responses('a').then(([only]) => only?.hasStreamNotFound()), true, 'and nothing was written')
})

t.test('every refusal that is a status has its code and the trailers that the client reads', async (t) => {
  const [gone, there, softly] = ['gone', 'there', 'softly']
  await client.tombstoneStream(gone)
  for (const name of [there, softly]) await client.appendToStream(name, [event(), event()])
  await client.deleteStream(softly)
  const deleted = { exception: 'stream-deleted', 'stream-name': gone }
  const too = (size: number) => proposed(undefined, new Uint8Array(size))
  await allRefused(t, [
    ['read of a tombstoned stream', () => responses(gone), FAILED_PRECONDITION, deleted],
    ['append to one', () => append(gone, [proposed()]), FAILED_PRECONDITION, deleted],
    ['delete of one', () => remove(gone), FAILED_PRECONDITION, deleted],
    ['tombstone of one', () => tombstone(gone), FAILED_PRECONDITION, deleted],
    ['delete, exact', () => remove(there, '7'), FAILED_PRECONDITION, wrong(there, '7', '1')],
    ['delete, no stream', () => remove(there, 'none'), FAILED_PRECONDITION, wrong(there, '-1', '1')],
    ['delete, exists, of nothing', () => remove('nothing', 'exists'), FAILED_PRECONDITION, wrong('nothing', '-4', '-1')],
    ['tombstone, exact', () => tombstone(there, '0'), FAILED_PRECONDITION, wrong(there, '0', '1')],
    ['tombstone, exists, of a deleted stream', () => tombstone(softly, 'exists'), FAILED_PRECONDITION, { ...deleted, 'stream-name': softly }],
    ['too large', () => append(there, [too(5 * 1024 * 1024)]), INVALID_ARGUMENT, tooLarge],
    ['no type, no content type', () => append(there, [proposed({})]), INVALID_ARGUMENT, incomplete]
  ])
  t.equal((await collect(client.readStream(there))).length, 2, 'and nothing was written')
})

t.test('a unary append that finds another revision is a reply, not a status', async (t) => {
  const name = randomUUID()
  const missing = (await append(name, [proposed()], 'exists')).getWrongExpectedVersion()
  t.same([missing?.hasCurrentNoStream(), missing?.hasExpectedStreamExists()], [true, true])
  const success = (await append(name, [proposed(), proposed()])).getSuccess()
  t.equal(success?.getCurrentRevision(), '1')
  t.equal(success?.getPosition()?.getCommitPosition(), success?.getPosition()?.getPreparePosition())
  const behind = (await append(name, [proposed()], '0')).getWrongExpectedVersion()
  t.same([behind?.getCurrentRevision(), behind?.getExpectedRevision()], ['1', '0'])
  const nothing = (await append(randomUUID(), [])).getSuccess()
  t.same(
    [nothing?.hasNoStream(), nothing?.hasPosition()], [true, true], 'an append of nothing to nothing has a position'
  )
})

t.test('only exactly application/json is JSON; data are never parsed; ids may come as two halves', async (t) => {
  const name = randomUUID()
  const id = '8f14e45f-ceea-467f-a6c1-0123456789ab'
  const signed = (half: bigint) => String(BigInt.asIntN(64, half))
  const halves = new shared.UUID.Structured()
    .setMostSignificantBits(signed(0x8f14e45fceea467fn))
    .setLeastSignificantBits(signed(0xa6c10123456789abn))
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

/** Sends `bytes` as they are. @returns all that comes back until the connection ends */
async function answerTo (bytes: string | Buffer): Promise<string> {
  const socket = connectSocket(store.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => { answer += chunk.toString('latin1') })
  socket.on('error', () => {}) // it may be reset: the end counts
  await once(socket, 'connect')
  socket.end(bytes)
  if (!socket.closed) await once(socket, 'close')
  return answer
}

const health = async () => (await fetch(`http://127.0.0.1:${store.port}/health/live`)).status

t.test('no bytes end the server', async (t) => {
  const word = fc.constantFrom(
    'GET', 'PRI', 'PRI * HTTP/2.0', 'CONNECT', 'HEAD', '/', '//', '*', 'http://[', 'a:b', '%', '?liveCode=999', '/streams',
    'HTTP/1.1', 'HTTP/9.9', '\r\n', '\n', '\0', 'Host: a', 'Upgrade: h2c', 'Connection: upgrade', 'Content-Length: -1',
    'Transfer-Encoding: chunked', 'Expect: 100-continue', 'SM\r\n\r\n'
  )
  const text = fc.array(fc.oneof(word, fc.string({ maxLength: 5 })), { maxLength: 12 })
    .chain((words) => fc.constantFrom(' ', '\r\n', '').map((between) => Buffer.from(words.join(between), 'latin1')))
  const noise = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes))
  await fc.assert(fc.asyncProperty(fc.oneof(text, noise), async (bytes) => { await answerTo(bytes) }), {
    seed: seedOf('FUZZ_SEED'), numRuns: 60
  })
  t.equal(await health(), 204)
})

const address = `127.0.0.1:${store.port}`

t.test('it follows release 24.10, and its features are those of a node without persistent subscriptions', async (t) => {
  const node = new ServerFeaturesClient(address, credentials)
  t.teardown(() => node.close())
  const supported = await asked<features.SupportedMethods>((done) => node.getSupportedMethods(empty(), done))
  const methods = supported.getMethodsList().map((method) => (
    [method.getServiceName(), method.getMethodName(), ...method.getFeaturesList()].join(' ')
  ))
  t.equal(supported.getEventStoreServerVersion(), '24.10.0')
  t.same(methods.sort(), [
    'event_store.client.gossip.gossip read',
    'event_store.client.server_features.serverfeatures getsupportedmethods',
    'event_store.client.streams.streams append',
    'event_store.client.streams.streams batchappend deadline_duration',
    'event_store.client.streams.streams delete',
    'event_store.client.streams.streams read position events',
    'event_store.client.streams.streams tombstone'
  ])
})

t.test('a client that discovers finds one member: itself, leading, where it can be reached', async (t) => {
  const discovering = connect(t, `esdb+discover://127.0.0.1:${store.port}?tls=false`)
  t.match(await discovering.appendToStream('discovered', jsonEvent({ type: 'A', data: {} })), { success: true })
})

t.test('it refuses what it does not have, and says where that is, also over HTTP', async (t) => {
  const settings = persistentSubscriptionToStreamSettingsFromDefaults()
  const created = client.createPersistentSubscriptionToStream('a', 'group', settings)
  await refused(t, created, Error, { code: 12, message: /EventStoreDB/ })
  const message = /single-machine event store.*EventStoreDB/
  await refused(t, client.listAllPersistentSubscriptions(), UnknownError, { message })
})

t.test('as a process of its own it goes when its stdin closes, and on SIGTERM ends open streams as cancelled', async (t) => {
  const postgres = await scratchPostgres(t)
  const server = await eventStoreProcess(t, postgres.url)
  const subscription = connect(t, `esdb://127.0.0.1:${server.port}?tls=false`).subscribeToAll()
  await once(subscription, 'caughtUp')
  const failed = once(subscription, 'error')
  server.process().kill('SIGTERM')
  t.match(await failed, [{ type: 'cancelled' }])
  t.equal(await server.exited(), 0)

  const child = spawn(process.execPath, [eventStoreEntry, '--port', '0'], {
    env: { ...process.env, DATABASE_URL: postgres.url, RINGLEDGER_STOP_ON_STDIN_CLOSE: '1' }, stdio: ['pipe', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  t.match(String(await once(child.stdout, 'data')), /^LISTENING \d+\n$/)
  child.stdin.end()
  t.same(await once(child, 'exit'), [0, null])
})
