// What a client asks before it works: which methods there are, and which node leads.
import { randomUUID } from 'node:crypto'
import { features, gossip, shared } from './generated.js'

/** The release whose behaviour is followed; clients decide by it what they may ask. */
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

/** Persistent subscriptions are not there, so they are not advertised. */
export function supportedMethods (): features.SupportedMethods {
  const list = methods.map(([service, method, names = []]) => new features.SupportedMethod()
    .setServiceName(`event_store.client.${service}`)
    .setMethodName(method)
    .setFeaturesList(names))
  return new features.SupportedMethods().setEventStoreServerVersion(version).setMethodsList(list)
}

const instance = new shared.UUID().setString(randomUUID())

/** A cluster of one, which leads. */
export function clusterInfo (address: string, port: number): gossip.ClusterInfo {
  const member = new gossip.MemberInfo()
    .setInstanceId(instance)
    .setTimeStamp(`${Date.now()}0000`)
    .setState(gossip.MemberInfo.VNodeState.LEADER)
    .setIsAlive(true)
    .setHttpEndPoint(new gossip.EndPoint().setAddress(address).setPort(port))
  return new gossip.ClusterInfo().setMembersList([member])
}
