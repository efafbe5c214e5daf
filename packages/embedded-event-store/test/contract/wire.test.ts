// What goes over the wire, said and read without the client's help: codes, trailers and positions.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { jsonEvent } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import * as grpc from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { collect, scratchEventStore } from '../support/scratch-event-store.js'
import { proposed, wireOf } from '../support/wire.js'

const { client, store } = await scratchEventStore(t)
const { append, remove, tombstone, read, responses, recorded } = wireOf(t, store.port)
const event = () => jsonEvent({ type: 'Happened', data: {} })

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

t.test('what is no request is refused without trailers', async (t) => {
  const refused = (name: string, call: () => Promise<unknown>, code: number): Refused => [name, call, code, {}]
  await allRefused(t, [
    refused('a name that is not ASCII', () => remove('fort-été'), UNKNOWN),
    refused('no name', () => responses(''), UNKNOWN),
    refused('an empty type', () => append('a', [proposed({ type: '', 'content-type': 'a' })]), UNKNOWN),
    refused('an id that is not a UUID', () => append('a', [proposed().setId(new shared.UUID().setString('x'))]), UNKNOWN),
    refused('no expected revision', () => append('a', [proposed()], 'unset'), INVALID_ARGUMENT),
    refused('delete, no expected revision', () => remove('a', 'unset'), INVALID_ARGUMENT),
    refused('tombstone, no expected revision', () => tombstone('a', 'unset'), INVALID_ARGUMENT),
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
    ['delete, any, of nothing', () => remove('nothing'), FAILED_PRECONDITION, wrong('nothing', '-2', '-1')],
    ['delete, exists, of nothing', () => remove('nothing', 'exists'), FAILED_PRECONDITION, wrong('nothing', '-4', '-1')],
    ['tombstone, exact', () => tombstone(there, '0'), FAILED_PRECONDITION, wrong(there, '0', '1')],
    ['tombstone, exists, of nothing', () => tombstone('nothing', 'exists'), FAILED_PRECONDITION, wrong('nothing', '-4', '-1')],
    ['tombstone, exists, of a deleted stream', () => tombstone(softly, 'exists'), FAILED_PRECONDITION, { ...deleted, 'stream-name': softly }],
    ['tombstone, no stream', () => tombstone(there, 'none'), FAILED_PRECONDITION, wrong(there, '-1', '1')],
    ['too large', () => append(there, [too(5 * 1024 * 1024)]), INVALID_ARGUMENT, tooLarge],
    ['no type, no content type', () => append(there, [proposed({})]), INVALID_ARGUMENT, incomplete]
  ])
  t.equal((await collect(client.readStream(there))).length, 2, 'and nothing was written')
})

t.test('a unary append that finds another revision is a reply, not a status', async (t) => {
  const name = randomUUID()
  const missing = (await append(name, [proposed()], 'exists')).getWrongExpectedVersion()
  t.same([missing?.hasCurrentNoStream(), missing?.hasExpectedStreamExists()], [true, true])
  t.same([missing?.hasNoStream2060(), missing?.hasStreamExists2060()], [true, true], 'for older clients as well')
  const success = (await append(name, [proposed(), proposed()])).getSuccess()
  t.equal(success?.getCurrentRevision(), '1')
  t.equal(success?.getPosition()?.getCommitPosition(), success?.getPosition()?.getPreparePosition())
  const behind = (await append(name, [proposed()], '0')).getWrongExpectedVersion()
  t.same([behind?.getCurrentRevision(), behind?.getExpectedRevision()], ['1', '0'])
  t.same([behind?.getCurrentRevision2060(), behind?.getExpectedRevision2060()], [1, 0])
  const nothing = (await append(randomUUID(), [])).getSuccess()
  t.same(
    [nothing?.hasNoStream(), nothing?.hasPosition()], [true, true], 'an append of nothing to nothing has a position'
  )
})

t.test('a client that logs in, names its connection or asks for the leader is served as any other', async (t) => {
  for (const authorization of [`Basic ${Buffer.from('admin:changeit').toString('base64')}`, 'Bearer a.b.c', 'nonsense']) {
    const headers = new grpc.Metadata()
    const asked = { authorization, 'requires-leader': 'true', 'connection-name': 'tests' }
    for (const [name, value] of Object.entries(asked)) headers.set(name, value)
    const name = randomUUID()
    t.equal((await collect<streams.ReadResp>(read(name, headers))).length, 1)
    t.ok((await tombstone(name, 'any', headers)).getPosition())
  }
})

t.test('a stream that is not there is one message and a good end', async (t) => {
  const call = read('never written')
  const ended = once(call, 'status')
  const messages = await collect<streams.ReadResp>(call)
  const identifiers = messages.map((message) => message.getStreamNotFound()?.getStreamIdentifier())
  t.same(identifiers.map((each) => Buffer.from(each?.getStreamName_asU8() ?? []).toString()), ['never written'])
  t.match(await ended, [{ code: grpc.status.OK }])
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
