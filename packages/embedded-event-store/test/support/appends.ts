// Both ways to append, and what the tests of appends share.
import { randomUUID } from 'node:crypto'
import {
  jsonEvent, WrongExpectedVersionError, type AppendExpectedRevision, type EventStoreDBClient
} from '@eventstore/db-client'
import type { Test } from 'tap'
import { collect, refused } from './scratch-event-store.js'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'

export const event = (type = 'Happened') => jsonEvent({ type, data: { at: 1 } })
export const events = (count: number) => Array.from({ length: count }, () => event())

/** Credentials of its own make the client append by a call of its own. */
export const ways = {
  batch: {},
  unary: { credentials: { username: 'anyone', password: 'anything' } }
}

type Events = Parameters<EventStoreDBClient['appendToStream']>[1]

/** Appends and reads of one way. */
export function appending (client: EventStoreDBClient, name: keyof typeof ways) {
  return {
    stream: () => `${name}-${randomUUID()}`,
    append: (to: string, what: Events, expectedRevision: AppendExpectedRevision) =>
      client.appendToStream(to, what, { ...ways[name], expectedRevision }),
    idsOf: async (from: string) => (await collect(client.readStream(from))).map(({ event }) => event?.id)
  }
}

/** Asserts that an append is refused because its stream ends at `current`. */
export async function wrong (
  t: Test, call: Promise<unknown>, current: bigint | 'no_stream', expected: AppendExpectedRevision
): Promise<void> {
  await refused(t, call, WrongExpectedVersionError, { actualVersion: current, expectedVersion: expected })
}

// google-protobuf must be the client's own.
const require = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'))
const { Timestamp }: typeof import('google-protobuf/google/protobuf/timestamp_pb.js') =
  require('google-protobuf/google/protobuf/timestamp_pb.js')
export const { Duration }: typeof import('google-protobuf/google/protobuf/duration_pb.js') =
  require('google-protobuf/google/protobuf/duration_pb.js')
export const { Empty }: typeof import('google-protobuf/google/protobuf/empty_pb.js') =
  require('google-protobuf/google/protobuf/empty_pb.js')

/** A call that is cancelled with the test. */
export function openCall (t: Test, stub: StreamsClient) {
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

export interface Chunk {
  /** Of the append. */
  id: string
  stream?: string
  events?: number
  /** Of the data of each event. */
  size?: number
  isFinal?: boolean
  deadline?: Date
  eventId?: string
  /** null: none. */
  type?: string | null
}

export function chunk (of: Chunk): streams.BatchAppendReq {
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

export function idOf (reply: streams.BatchAppendResp | undefined) {
  return reply?.getCorrelationId()?.getString()
}

/** Its code, and the type of its details. */
export function errorOf (reply: streams.BatchAppendResp | undefined) {
  const error = reply?.getError()
  return [error?.getCode(), error?.getDetails()?.getTypeName()]
}
