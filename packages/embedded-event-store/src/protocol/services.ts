// Puts the handlers behind the services of the client's definitions; everything else is answered with where to find it.
import * as grpc from '@grpc/grpc-js'
import type { Feed } from '../feed/feed.js'
import type { EventLog } from '../log/log.js'
import { absentServices } from './absent.js'
import { type AppendCall, handleAppend } from './write/append.js'
import { type BatchCall, handleBatchAppend } from './write/batch-append.js'
import { decodeBatchChunk } from './write/batch-chunk.js'
import { type DeleteCall, handleDelete, handleTombstone, type TombstoneCall } from './write/delete.js'
import { notHere, toServiceError } from './errors.js'
import {
  type features, type gossip, GossipService, type operations, OperationsService, ServerFeaturesService,
  type streams, StreamsService
} from './generated.js'
import { clusterInfo, supportedMethods } from './node.js'
import { handleStartScavenge, type ScavengeCall } from './operations.js'
import { handleRead } from './read/read.js'
import type { ReadCall } from './read/responses.js'
import { sendAhead } from './send-ahead.js'

type Reply<Response> = grpc.sendUnaryData<Response>

export interface Deps {
  log: EventLog
  feed: Feed
  /** Aborted when the server closes: open calls end. */
  closing: AbortSignal
  address: () => { host: string, port: number }
}

/** A gRPC server with every service, not yet listening. */
export function createGrpcServer (deps: Deps): grpc.Server {
  const server = new grpc.Server({
    interceptors: [sendAhead],
    'grpc.max_receive_message_length': 17 * 1024 * 1024,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 10_000
  })
  addStreams(server, deps)
  addNode(server, deps)
  for (const { name, service } of absentServices) addAbsent(server, name, service)
  return server
}

function addStreams (server: grpc.Server, { log, feed, closing }: Deps): void {
  // The busiest messages are decoded and encoded by hand.
  const encoded = (message: Buffer) => message
  const read = { ...StreamsService.read, responseSerialize: encoded }
  const decoded = { requestDeserialize: decodeBatchChunk, responseSerialize: encoded }
  const batchAppend = { ...StreamsService.batchAppend, ...decoded }
  server.addService({ ...StreamsService, read, batchAppend }, {
    read: (call: ReadCall) => { handleRead({ log, feed }, call, closing) },
    append: (call: AppendCall, reply: Reply<streams.AppendResp>) => { handleAppend(log, call, reply) },
    batchAppend: (call: BatchCall) => { handleBatchAppend(log, call, closing) },
    delete: (call: DeleteCall, reply: Reply<streams.DeleteResp>) => { handleDelete(log, call, reply) },
    tombstone: (call: TombstoneCall, reply: Reply<streams.TombstoneResp>) => { handleTombstone(log, call, reply) }
  })
}

function addNode (server: grpc.Server, { log, address }: Deps): void {
  const { startScavenge } = OperationsService
  server.addService({ startScavenge }, {
    startScavenge (_call: ScavengeCall, reply: Reply<operations.ScavengeResp>) {
      handleStartScavenge(log, `${address().host}:${address().port}`, reply)
    }
  })
  server.addService(ServerFeaturesService, {
    getSupportedMethods (_call: unknown, reply: Reply<features.SupportedMethods>) { reply(null, supportedMethods()) }
  })
  server.addService(GossipService, {
    read (_call: unknown, reply: Reply<gossip.ClusterInfo>) { reply(null, clusterInfo(address().host, address().port)) }
  })
}

type AbsentCall = grpc.ServerWritableStream<unknown, unknown>
type AbsentMethod = grpc.MethodDefinition<unknown, unknown>

function addAbsent (server: grpc.Server, name: string, service: grpc.ServiceDefinition): void {
  const refuse = (method: AbsentMethod) => (call: AbsentCall, reply?: Reply<unknown>) => {
    const error = toServiceError(notHere(name))
    if (method.responseStream || reply === undefined) call.emit('error', error)
    else reply(error)
  }
  const handlers = Object.entries(service).map(([key, method]) => [key, refuse(method)])
  server.addService(service, Object.fromEntries(handlers))
}
