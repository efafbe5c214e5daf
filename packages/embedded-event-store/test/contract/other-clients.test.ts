// What clients of other languages count on: texts that they take apart, and the places of a stream.
import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ServiceError } from '@grpc/grpc-js'
import t from 'tap'
import { scratchEventStore } from '../support/scratch-event-store.js'
import { proposed, type ReadFrom, wireOf } from '../support/wire.js'

const { client, store } = await scratchEventStore(t)
const { append, remove, tombstone, responses } = wireOf(t, store.port)
const events = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} }))

async function streamOf (count: number): Promise<string> {
  const stream = randomUUID()
  await client.appendToStream(stream, events(count))
  return stream
}

t.test('a delete or tombstone at a wrong revision is refused in words that clients of Python read', async (t) => {
  const stream = await streamOf(5)
  const text = `Delete failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: 77, Actual version: 4`
  for (const call of [remove, tombstone]) {
    const failure = await call(stream, '77').then(() => undefined, (error: ServiceError) => error)
    t.equal(failure?.details, text)
  }
})

t.test('the text of a unary append that is too large', async (t) => {
  const sent = append(randomUUID(), [proposed(undefined, new Uint8Array(2_000_000))])
  t.match(await sent.catch((error: ServiceError) => error), { details: 'Maximum Append Size of 1048576 Exceeded.' })
})

/** What a read answers, in short. */
async function told (stream: string, from: ReadFrom): Promise<string[]> {
  const short = (response: streams.ReadResp) => {
    if (response.hasFirstStreamPosition()) return `first ${response.getFirstStreamPosition()}`
    if (response.hasLastStreamPosition()) return `last ${response.getLastStreamPosition()}`
    return response.getEvent()?.getEvent()?.getStreamRevision() ?? 'not found'
  }
  return (await responses(stream, from)).map(short)
}

t.test('a reader that asks for it is told where the stream ends, and where it begins if it looked elsewhere', async (t) => {
  const stream = await streamOf(3)
  const compatibility = 1
  t.same(await told(stream, {}), ['0', '1', '2'], 'the client of Node does not ask')
  t.same(await told(stream, { compatibility }), ['0', '1', '2', 'last 2'])
  t.same(await told(stream, { compatibility, revision: 1, isBackward: true }), ['1', '0', 'last 2'])
  t.same(await told(stream, { compatibility, revision: 7 }), ['first 3', 'last 2'])
  t.same(await told(randomUUID(), { compatibility }), ['not found'])
  await client.setStreamMetadata(stream, { truncateBefore: 2 })
  t.same(await told(stream, { compatibility }), ['2', 'last 2'], 'not where the first look finds events')
  t.same(await told(stream, { compatibility, count: 1 }), ['first 2', '2', 'last 2'])
})
