// Registers handlers for the services of the client's definitions; all other methods say where to find them.
import { randomUUID } from 'node:crypto'
import { MonitoringService } from '@eventstore/db-client/generated/monitoring_grpc_pb.js'
import { PersistentSubscriptionsService } from '@eventstore/db-client/generated/persistent_grpc_pb.js'
import { ProjectionsService } from '@eventstore/db-client/generated/projections_grpc_pb.js'
import { UsersService } from '@eventstore/db-client/generated/users_grpc_pb.js'
import * as grpc from '@grpc/grpc-js'
import type { Feed } from '../feed.js'
import type { EventLog } from '../log/log.js'
import { append, type AppendCall, remove, type RemoveCall } from './append.js'
import { type BatchCall, handleBatchAppend } from './batch-append.js'
import { decodeBatchChunk } from './batch-messages.js'
import { notHere, toServiceError, unavailable } from './errors.js'
import {
  features, gossip, GossipService, operations, OperationsService, ServerFeaturesService, shared, type streams,
  StreamsService
} from './generated.js'
import { handleRead } from './read.js'
import type { ReadCall } from './responses.js'

type Reply<Response> = grpc.sendUnaryData<Response>

interface Deps {
  log: EventLog
  feed: Feed
  /** Aborted when the server closes, which ends open calls. */
  closing: AbortSignal
  startScavenge: () => { id: string, isNew: boolean }
  address: () => { host: string, port: number }
}

/** A gRPC server with every service; it does not listen. */
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
  for (const [name, service] of Object.entries(absentServices)) addAbsent(server, name, service)
  return server
}

function addStreams (server: grpc.Server, { log, feed, closing }: Deps): void {
  // The most frequent messages are decoded and encoded by hand.
  const encoded = (message: Buffer) => message
  const read = { ...StreamsService.read, responseSerialize: encoded }
  const decoded = { requestDeserialize: decodeBatchChunk, responseSerialize: encoded }
  const batchAppend = { ...StreamsService.batchAppend, ...decoded }
  const tombstone = { ...StreamsService.tombstone, responseSerialize: StreamsService.delete.responseSerialize }
  server.addService({ ...StreamsService, read, batchAppend, tombstone }, {
    read: (call: ReadCall) => { handleRead({ log, feed }, call, closing) },
    append: (call: AppendCall, reply: Reply<streams.AppendResp>) => { answer(append(log, call), reply) },
    batchAppend: (call: BatchCall) => { handleBatchAppend(log, call, closing) },
    delete: (call: RemoveCall, reply: Reply<streams.DeleteResp>) => { answer(remove(log, 'delete', call), reply) },
    tombstone: (call: RemoveCall, reply: Reply<streams.DeleteResp>) => { answer(remove(log, 'tombstone', call), reply) }
  })
}

function answer<Response> (response: Promise<Response>, reply: Reply<Response>): void {
  response.then((sent) => { reply(null, sent) }, (error: unknown) => { reply(toServiceError(error)) })
}

function addNode (server: grpc.Server, { log, startScavenge, address }: Deps): void {
  server.addService({ startScavenge: OperationsService.startScavenge }, {
    /** Replies when a scavenge has begun, or with the running one. `$scavenges-<id>` in the log has its result. */
    startScavenge (_call: unknown, reply: Reply<operations.ScavengeResp>) {
      if (!log.writer.isAttached) return reply(toServiceError(unavailable()))
      const { id, isNew } = startScavenge()
      const { STARTED, INPROGRESS } = operations.ScavengeResp.ScavengeResult
      reply(null, new operations.ScavengeResp().setScavengeId(id).setScavengeResult(isNew ? STARTED : INPROGRESS))
    }
  })
  server.addService(ServerFeaturesService, {
    getSupportedMethods (_call: unknown, reply: Reply<features.SupportedMethods>) { reply(null, supportedMethods()) }
  })
  server.addService(GossipService, {
    read (_call: unknown, reply: Reply<gossip.ClusterInfo>) { reply(null, clusterInfo(address())) }
  })
}

/** The EventStoreDB release that this server imitates; clients derive features from it. */
const version = '24.10.0'

const methods: ReadonlyArray<readonly [service: string, method: string, features?: string[]]> = [
  ['streams.streams', 'append'],
  ['streams.streams', 'delete'],
  ['streams.streams', 'tombstone'],
  ['streams.streams', 'read', ['position', 'events']],
  ['streams.streams', 'batchappend', ['deadline_duration']],
  ['gossip.gossip', 'read'],
  ['server_features.serverfeatures', 'getsupportedmethods']
]

/** Does not advertise persistent subscriptions, which are not implemented. */
function supportedMethods (): features.SupportedMethods {
  const list = methods.map(([service, method, names = []]) => new features.SupportedMethod()
    .setServiceName(`event_store.client.${service}`)
    .setMethodName(method)
    .setFeaturesList(names))
  return new features.SupportedMethods().setEventStoreServerVersion(version).setMethodsList(list)
}

const instance = new shared.UUID().setString(randomUUID())

/** A cluster of one member, the leader. */
function clusterInfo ({ host, port }: ReturnType<Deps['address']>): gossip.ClusterInfo {
  const member = new gossip.MemberInfo()
    .setInstanceId(instance)
    .setTimeStamp(`${Date.now()}0000`)
    .setState(gossip.MemberInfo.VNodeState.LEADER)
    .setIsAlive(true)
    .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(port))
  return new gossip.ClusterInfo().setMembersList([member])
}

const { startScavenge: _isHere, ...otherOperations } = OperationsService

const absentServices: Record<string, grpc.ServiceDefinition> = {
  'Persistent subscriptions': { ...PersistentSubscriptionsService },
  Projections: { ...ProjectionsService },
  Users: { ...UsersService },
  Operations: otherOperations,
  Monitoring: { ...MonitoringService }
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

/** Bytes of one call that may be in flight; beyond that its writer waits, and `write` returns false. */
const window = 128 * 1024
/** Assumed size of a message that is not encoded yet. */
const assumedSize = 512

/**
 * Pipelines messages: grpc-js waits until each message reaches the socket before it takes the next. Here the next may
 * follow at once, so that many small messages share one write.
 */
class SendAheadCall extends grpc.ServerInterceptingCall {
  #underWay = 0
  #waiting: Array<() => void> = []

  override sendMessage (message: unknown, callback: () => void): void {
    const size = Buffer.isBuffer(message) ? message.length : assumedSize
    this.#underWay += size
    super.sendMessage(message, () => {
      this.#underWay -= size
      if (this.#underWay < window) for (const proceed of this.#waiting.splice(0)) proceed()
    })
    if (this.#underWay < window) callback()
    else this.#waiting.push(callback)
  }
}

const sendAhead: grpc.ServerInterceptor = (_method, call) => new SendAheadCall(call)
