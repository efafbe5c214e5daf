// The services of the event store, called without the official client's help.
import { randomUUID } from 'node:crypto'
import * as grpc from '@grpc/grpc-js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { Teardown } from '@ringledger/embedded-postgres/testing'
import { collect } from './scratch-event-store.js'

/** An exact revision, or what is known of the stream. */
export type Expected = 'any' | 'none' | 'exists' | 'unset' | `${number}`

interface Options<Self> {
  setAny (value: shared.Empty): Self
  setNoStream (value: shared.Empty): Self
  setStreamExists (value: shared.Empty): Self
  setRevision (value: string): Self
  setStreamIdentifier (value: shared.StreamIdentifier): Self
}

type Done<Reply> = (error: Error | null, reply: Reply) => void

export const credentials = grpc.credentials.createInsecure()
export const empty = () => new shared.Empty()
const identifier = (name: string) => new shared.StreamIdentifier().setStreamName(Buffer.from(name))
const usual = { type: 'Happened', 'content-type': 'application/json' }

/** One unary call, promised. */
export function asked<Reply> (call: (done: Done<Reply>) => unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    call((error, reply) => { if (error === null) resolve(reply); else reject(error) })
  })
}

/** An event of a unary append. */
export function proposed (properties: Record<string, string> = usual, data: Uint8Array = Buffer.from('{}')) {
  const id = new shared.UUID().setString(randomUUID())
  const message = new streams.AppendReq.ProposedMessage().setId(id).setData(data)
  for (const [key, value] of Object.entries(properties)) message.getMetadataMap().set(key, value)
  return message
}

/** The calls of the streams service, closed with the test. */
export function wireOf (t: Teardown, port: number) {
  const stub = new StreamsClient(`127.0.0.1:${port}`, credentials)
  t.teardown(() => stub.close())

  function append (name: string, messages: streams.AppendReq.ProposedMessage[], expected: Expected = 'any') {
    return asked<streams.AppendResp>((done) => {
      const call = stub.append(done)
      call.write(new streams.AppendReq().setOptions(optionsOf(new streams.AppendReq.Options(), name, expected)))
      for (const message of messages) call.write(new streams.AppendReq().setProposedMessage(message))
      call.end()
    })
  }

  function remove (name: string, expected: Expected = 'any') {
    const request = new streams.DeleteReq().setOptions(optionsOf(new streams.DeleteReq.Options(), name, expected))
    return asked<streams.DeleteResp>((done) => stub.delete(request, done))
  }

  function tombstone (name: string, expected: Expected = 'any') {
    const options = optionsOf(new streams.TombstoneReq.Options(), name, expected)
    const request = new streams.TombstoneReq().setOptions(options)
    return asked<streams.TombstoneResp>((done) => stub.tombstone(request, done))
  }

  function responses (name: string): Promise<streams.ReadResp[]> {
    return collect(stub.read(readOf(name)))
  }

  const recorded = async (name: string) => (await responses(name)).map((response) => response.getEvent()?.getEvent())
  return { append, remove, tombstone, responses, recorded }
}

function optionsOf<Self extends Options<Self>> (options: Self, name: string, expected: Expected): Self {
  const named = options.setStreamIdentifier(identifier(name))
  switch (expected) {
    case 'any': return named.setAny(empty())
    case 'none': return named.setNoStream(empty())
    case 'exists': return named.setStreamExists(empty())
    case 'unset': return named
    default: return named.setRevision(expected)
  }
}

/** Ten events from the start. */
function readOf (name: string): streams.ReadReq {
  const from = new streams.ReadReq.Options.StreamOptions().setStreamIdentifier(identifier(name)).setStart(empty())
  const uuid = new streams.ReadReq.Options.UUIDOption().setString(empty())
  return new streams.ReadReq().setOptions(new streams.ReadReq.Options().setStream(from).setCount('10')
    .setNoFilter(empty()).setUuidOption(uuid).setReadDirection(0))
}
