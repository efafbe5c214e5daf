// The services of a member: streams, gossip and what it supports.
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type * as grpc from '@grpc/grpc-js'
import { forwardBatch } from './appends.js'
import type { Ways } from './ways.js'
import { forwardRead } from './reads.js'

export function serve (member: Ways, server: grpc.Server): void {
  const { read, batchAppend } = streamsService.StreamsService
  server.addService({ read, batchAppend }, {
    read: (call: Parameters<typeof forwardRead>[1]) => forwardRead(member, call),
    batchAppend: (call: Parameters<typeof forwardBatch>[1]) => forwardBatch(member, call)
  })
  server.addService({ read: gossipService.GossipService.read }, {
    read: (_call: unknown, answer: grpc.sendUnaryData<gossip.ClusterInfo>) => {
      member.taken.gossip += 1
      answer(null, new gossip.ClusterInfo().setMembersList(member.members.map(memberInfo)))
    }
  })
  server.addService({ getSupportedMethods: featuresService.ServerFeaturesService.getSupportedMethods }, {
    getSupportedMethods: (_call: unknown, answer: grpc.sendUnaryData<features.SupportedMethods>) => {
      answer(null, supportedMethods(member.version))
    }
  })
}

const { VNodeState } = gossip.MemberInfo
const states = { leader: VNodeState.LEADER, follower: VNodeState.FOLLOWER, none: VNodeState.UNKNOWN }

function memberInfo ({ role, isUp, port }: Ways): gossip.MemberInfo {
  return new gossip.MemberInfo()
    .setInstanceId(new shared.UUID().setString(`00000000-0000-4000-8000-${String(port).padStart(12, '0')}`))
    .setState(states[role])
    .setIsAlive(isUp)
    .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port))
}

function supportedMethods (version: string): features.SupportedMethods {
  const method = (name: string, feature: string) => new features.SupportedMethod()
    .setServiceName('event_store.client.streams.streams').setMethodName(name).setFeaturesList([feature])
  return new features.SupportedMethods().setEventStoreServerVersion(`${version}.0`)
    .setMethodsList([method('read', 'position'), method('batchappend', 'deadline_duration')])
}
