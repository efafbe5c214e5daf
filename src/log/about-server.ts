// Asks an event store for its version, and which of its members lead and follow.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import type { EventStoreConnection } from './connection.js'
import { AccessDeniedError, BACKWARDS, END, StreamNotFoundError } from '@eventstore/db-client'
import { readError } from './errors.js'
import { collect, unary } from './read.js'

export type AboutServer = Awaited<ReturnType<typeof aboutServer>>

/** @throws errors of the client */
export async function aboutServer ({ session: { client } }: EventStoreConnection) {
  const { serverVersion } = await client['capabilities'] // protected members, hence brackets
  const info = await client['execute'](GossipClient, 'gossip', (service) => unary<gossip.ClusterInfo>((done) =>
    service.read(new shared.Empty(), ...client['callArguments']({}), done)))
  // The version, such as `24.10.0`, is that of one member, not of the cluster.
  return { version: serverVersion, members: info.getMembersList().map(memberOf) }
}

const states = Object.entries(gossip.MemberInfo.VNodeState)

/** The state is in lower case, such as `leader` or `follower`. */
function memberOf (info: gossip.MemberInfo) {
  const at = info.getHttpEndPoint()
  const state = states.find(([, number]) => number === info.getState())?.[0] ?? 'unknown'
  return { address: `${at?.getAddress()}:${at?.getPort()}`, state: state.toLowerCase(), isAlive: info.getIsAlive() }
}

/** About the events of a hundred scavenges. */
const mostEvents = 1_000

/**
 * When the last successful scavenge of each member began, by the member's own name.
 * @returns undefined when the login may not read that; by default, a plain user may not
 * @throws EventStoreUnavailable
 */
export async function lastScavenges (
  connection: EventStoreConnection, answerWithinMs: number
): Promise<Map<string, Date> | undefined> {
  const options = { direction: BACKWARDS, fromRevision: END, maxCount: mostEvents, resolveLinkTos: true } as const
  try {
    const told = await connection.onLeader((session) =>
      collect(session, session.client.readStream('$scavenges', options), answerWithinMs))
    const succeeded = new Set<string>()
    const last = new Map<string, Date>()
    for (const { event } of told) { // newest first
      const { scavengeId, nodeEndpoint, result } = Object(event?.data)
      if (event?.type === '$scavengeCompleted' && result === 'Success') succeeded.add(String(scavengeId))
      const isLast = event?.type === '$scavengeStarted' && succeeded.has(String(scavengeId)) && !last.has(String(nodeEndpoint))
      if (isLast) last.set(String(nodeEndpoint), event.created)
    }
    return last
  } catch (error) {
    if (error instanceof StreamNotFoundError) return new Map()
    if (error instanceof AccessDeniedError) return undefined
    throw readError(error)
  }
}
