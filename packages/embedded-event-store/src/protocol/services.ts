// Puts the handlers behind the services of the client's definitions; everything else is answered with where to find it.
import * as grpc from '@grpc/grpc-js'
import type { Feed } from '../feed/feed.js'
import type { EventLog } from '../log/log.js'
import { handleAppend } from './append.js'
import { type BatchCall, handleBatchAppend } from './batch-append.js'
import { decodeBatchChunk } from './batch-chunk.js'
import { handleDelete, handleTombstone } from './delete.js'
import { notHere, toServiceError } from './errors.js'
import { type features, type gossip, GossipService, ServerFeaturesService, type shared, type streams, StreamsService } from './generated.js'
import { clusterInfo, supportedMethods } from './node.js'
import { handleRead, type ReadCall } from './read.js'
import { sendAhead } from './send-ahead.js'
import { absentServices } from './absent.js'

export interface Deps {
  log: EventLog
  feed: Feed
  /** Aborted when the server closes: open calls end. */
  closing: AbortSignal
  address: () => { host: string, port: number }
}

/** A gRPC server with every service, not yet listening. */
export function createGrpcServer ({ log, feed, closing, address }: Deps): grpc.Server {
  const server = new grpc.Server({
    interceptors: [sendAhead],
    'grpc.max_receive_message_length': 17 * 1024 * 1024,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 10_000
  })
  // The busiest messages are decoded and encoded by hand.
  const encoded = (message: Buffer) => message
  const read = { ...StreamsService.read, responseSerialize: encoded }
  const batchAppend = { ...StreamsService.batchAppend, requestDeserialize: decodeBatchChunk, responseSerialize: encoded }
  server.addService({ ...StreamsService, read, batchAppend }, {
    read: (call: ReadCall) => { handleRead(log, feed, call, closing) },
    append: (call: grpc.ServerReadableStream<streams.AppendReq, streams.AppendResp>, reply: grpc.sendUnaryData<streams.AppendResp>) => { handleAppend(log, call, reply) },
    batchAppend: (call: BatchCall) => { handleBatchAppend(log, call, closing) },
    delete: (call: grpc.ServerUnaryCall<streams.DeleteReq, streams.DeleteResp>, reply: grpc.sendUnaryData<streams.DeleteResp>) => { handleDelete(log, call, reply) },
    tombstone: (call: grpc.ServerUnaryCall<streams.TombstoneReq, streams.TombstoneResp>, reply: grpc.sendUnaryData<streams.TombstoneResp>) => { handleTombstone(log, call, reply) }
  })
  server.addService(ServerFeaturesService, {
    getSupportedMethods: (_call: grpc.ServerUnaryCall<shared.Empty, features.SupportedMethods>, reply: grpc.sendUnaryData<features.SupportedMethods>) => { reply(null, supportedMethods()) }
  })
  server.addService(GossipService, {
    read: (_call: grpc.ServerUnaryCall<shared.Empty, gossip.ClusterInfo>, reply: grpc.sendUnaryData<gossip.ClusterInfo>) => { reply(null, clusterInfo(address().host, address().port)) }
  })
  for (const { name, service } of absentServices) addAbsent(server, name, service)
  return server
}

function addAbsent (server: grpc.Server, name: string, service: grpc.ServiceDefinition): void {
  const refuse = (method: grpc.MethodDefinition<unknown, unknown>) => (call: grpc.ServerWritableStream<unknown, unknown>, reply?: grpc.sendUnaryData<unknown>) => {
    const error = toServiceError(notHere(name))
    if (method.responseStream || reply === undefined) call.emit('error', error)
    else reply(error)
  }
  server.addService(service, Object.fromEntries(Object.entries(service).map(([key, method]) => [key, refuse(method)])))
}
