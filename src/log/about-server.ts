// What an event store says of itself: its version, and which of its members lead and follow.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import type { EventStoreConnection } from './connection/connection.js'

export interface AboutServer {
  /** Such as `24.10.0`; of a member, not of the cluster. */
  version: string
  members: Member[]
}

export interface Member {
  address: string
  /** In small letters, such as `leader` or `follower`. */
  state: string
  isAlive: boolean
}

/** @throws what the client says */
export async function aboutServer ({ session: { client } }: EventStoreConnection): Promise<AboutServer> {
  const { serverVersion } = await client['capabilities'] // these doors are protected: hence brackets
  const info = await client['execute'](GossipClient, 'gossip', (service) =>
    new Promise<gossip.ClusterInfo>((resolve, reject) => {
      const [metadata, options] = client['callArguments']({})
      service.read(new shared.Empty(), metadata, options, (error, answer) => error ? reject(error) : resolve(answer))
    }))
  return { version: serverVersion, members: info.getMembersList().map(memberOf) }
}

const states = Object.entries(gossip.MemberInfo.VNodeState)

function memberOf (info: gossip.MemberInfo): Member {
  const at = info.getHttpEndPoint()
  const state = states.find(([, number]) => number === info.getState())?.[0] ?? 'unknown'
  return { address: `${at?.getAddress()}:${at?.getPort()}`, state: state.toLowerCase(), isAlive: info.getIsAlive() }
}
