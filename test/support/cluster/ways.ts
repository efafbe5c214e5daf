// How a member of a cluster behaves, as its services and the rest of the cluster see it.
import type streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type * as grpc from '@grpc/grpc-js'

/** `none` knows no leader: it answers reads that need none, and nothing else. */
export type MemberRole = 'leader' | 'follower' | 'none'
export type CallKind = 'read' | 'subscribe' | 'append'

export interface MemberOptions {
  /** Where servers differ; 24.10 when not given. */
  version?: '23.10' | '24.10'
  /** Its key and certificate; without them it speaks in plain. */
  tls?: { key: string, cert: string }
  /** The one login that is let in, as `user:password`. */
  login?: string
}

export type Denial = 'PERMISSION_DENIED' | 'UNAUTHENTICATED'
export type OpenCall = grpc.ServerWritableStream<never, never> | grpc.ServerDuplexStream<never, never>

export interface Ways {
  /** The embedded store. */
  readonly target: InstanceType<typeof streamsService.StreamsClient>
  readonly version: '23.10' | '24.10'
  /** Of the cluster, this one included. */
  readonly members: readonly Ways[]
  readonly port: number
  readonly isUp: boolean
  readonly role: MemberRole
  /** The one login that is let in, as `user:password`. */
  readonly login: string | undefined
  /** What is refused, and how. */
  readonly denied: Partial<Record<CallKind, Denial>>
  /** Appends are written, and answered with Timeout, as by a leader that has just lost the others. */
  readonly timesOut: boolean
  /** How long an append that was written stays unanswered, in milliseconds. */
  readonly answersAfterMs: number
  /** Positions whose events were scavenged. */
  readonly goneAt: ReadonlySet<bigint>
  /** How many calls it took, by kind. */
  readonly taken: Record<CallKind | 'gossip', number>
  /** How many appends were dropped, as their ids were in flight. */
  metOwnLike: number
  /** Appends that were sent on and are not answered. */
  unanswered: number
  /** How many catch-ups ended without a checkpoint that says how far they looked. */
  saidNothing: number
  /** Whether it has what stands at this position: a leader has all. */
  sees (position: bigint): boolean
  onCatchUp (go: () => void): () => void
  /** Why it does not take a call, if so. */
  refusalOf (kind: CallKind, headers: grpc.Metadata): grpc.ServiceError | undefined
  /** A caller wants its first append: resolves when it is taken. */
  wantsToAppend (): Promise<void>
  /** Registers a call that is open. @returns what takes it back */
  opened (kind: CallKind, call: OpenCall): () => void
}
