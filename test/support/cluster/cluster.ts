// Plays a cluster of EventStoreDB, of 23.10 or 24.10, before one embedded store, which is the log of all members.
import type { Teardown } from '../teardown.js'
import { Member } from './member.js'
import type { MemberOptions } from './ways.js'

export interface ClusterOptions extends MemberOptions {
  size?: number
}

export interface Cluster {
  members: readonly [Member, ...Member[]]
  /** Of all members. */
  url: string
  /** The member at this index leads from now on, and the others that are up follow it; without one nobody leads. */
  elect (index?: number): void
  /** Every member ends: connections are refused. */
  stop (): Promise<void>
  /** Every member is there again, with its ways. */
  start (): Promise<void>
}

/** The first member leads. */
export async function eventStoreCluster (
  t: Teardown, target: { port: number }, { size = 3, ...options }: ClusterOptions = {}
): Promise<Cluster> {
  const members: [Member, ...Member[]] = [await Member.start(t, target.port, options)]
  while (members.length < size) members.push(await Member.start(t, target.port, options))
  for (const member of members) member.members = members
  const elect = (index?: number) => {
    members.forEach(
      (member, at) => { member.role = index === undefined ? 'none' : at === index ? 'leader' : 'follower' }
    )
  }
  elect(0)
  const places = members.map(({ port }) => `127.0.0.1:${port}`).join(',')
  const login = options.login ? `${options.login}@` : ''
  return {
    members,
    url: `esdb://${login}${places}?tls=${String(options.tls !== undefined)}`,
    elect,
    async stop () { for (const member of members) await member.stop() },
    async start () { for (const member of members) await member.start() }
  }
}
