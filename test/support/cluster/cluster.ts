// Plays a cluster of EventStoreDB, of 23.10 or 24.10, before one embedded store, which is the log of all members.
import type { Teardown } from '../teardown.js'
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import * as grpc from '@grpc/grpc-js'
import { freePort } from '@ringledger/embedded-postgres/testing'
import { TcpProxy } from '../back-ends/tcp-proxy.js'
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { createRequire } from 'node:module'
import type { Readable, Writable } from 'node:stream'
import status from '@eventstore/db-client/generated/status_pb.js'

/** The first member leads. */
export async function eventStoreCluster (
  t: Teardown, target: { port: number }, { size = 3, ...options }: MemberOptions & { size?: number } = {}
) {
  const members: [Member, ...Member[]] = [await Member.start(t, target.port, options)]
  while (members.length < size) members.push(await Member.start(t, target.port, options))
  for (const member of members) member.members = members
  /** The member at this index leads from now on, and the others that are up follow it; without one nobody leads. */
  const elect = (index?: number) => members.forEach((member, at) => {
    member.role = index === undefined ? 'none' : at === index ? 'leader' : 'follower'
  })
  elect(0)
  const places = members.map(({ port }) => `127.0.0.1:${port}`).join(',')
  const login = options.login ? `${options.login}@` : ''
  return {
    members,
    url: `esdb://${login}${places}?tls=${String(options.tls !== undefined)}`,
    elect,
    /** Every member ends: connections are refused. */
    async stop () { for (const member of members) await member.stop() },
    /** Every member is back, with the same settings. */
    async start () { for (const member of members) await member.start() }
  }
}

/** `none` knows no leader: it answers reads that need none, and nothing else. */
type MemberRole = 'leader' | 'follower' | 'none'
type CallKind = 'read' | 'subscribe' | 'append'

interface MemberOptions {
  /** Where servers differ; 24.10 when not given. */
  version?: '23.10' | '24.10'
  /** Its key and certificate; without them it speaks in plain. */
  tls?: { key: string, cert: string }
  /** The one login that is let in, as `user:password`. */
  login?: string
}

// A read through a member, which may be behind, lack what it scavenged, and send checkpoints of its own.
type Call = grpc.ServerWritableStream<streams.ReadReq, streams.ReadResp>

const nowhere = String(2n ** 64n - 1n)

function forwardRead (member: Member, call: Call): void {
  const isSubscription = call.request.getOptions()?.hasSubscription() === true
  const kind = isSubscription ? 'subscribe' : 'read'
  const refused = member.refusalOf(kind, call.metadata)
  if (refused) return void call.emit('error', refused)
  member.opened(call)
  const forwarding = isSubscription ? follow(member, call) : readOnce(member, call)
  forwarding.catch((error: unknown) => { call.emit('error', error) })
}

/** Delivers the events of a read that this member has. It counts itself, as it leaves events out. */
async function readOnce (member: Member, call: Call): Promise<void> {
  const options = call.request.getOptions()
  const count = BigInt(options?.getCount() ?? 0)
  options?.setCount(String(Number.MAX_SAFE_INTEGER))
  const reading = member.target.read(call.request)
  call.on('cancelled', () => reading.cancel())
  let sent = 0n
  for await (const answer of reading as AsyncIterable<streams.ReadResp>) {
    const position = positionOf(answer)
    if (position === undefined || (member.sees(position) && !member.goneAt.has(position))) {
      call.write(answer)
      sent += 1n
    }
    if (sent === count) break
  }
  call.end()
}

/** Sends on what comes. */
async function follow (member: Member, call: Call): Promise<void> {
  const skips = await skippedAfter(member, call.request)
  const asThen = lastCheckpoint(member, call.request)
  const reading = member.target.read(call.request)
  for (const end of ['cancelled', 'error']) call.on(end, () => reading.cancel())
  for await (const answer of reading as AsyncIterable<streams.ReadResp>) {
    const position = positionOf(answer)
    if (position !== undefined && (member.goneAt.has(position) || skips(position))) continue
    for (const each of asThen(answer)) call.write(each)
  }
  call.end()
}

/** Before 24.10, a subscription after a position whose event is gone skips the next event as well. */
async function skippedAfter (member: Member, request: streams.ReadReq): Promise<(position: bigint) => boolean> {
  const after = request.getOptions()?.getAll()?.getPosition()?.getCommitPosition()
  if (after === undefined || member.version === '24.10' || !member.goneAt.has(BigInt(after))) return () => false
  const place = new streams.ReadReq.Options.Position().setCommitPosition(after).setPreparePosition(after)
  const all = new streams.ReadReq.Options.AllOptions().setPosition(place)
  const next = new streams.ReadReq().setOptions(finite(1_000).setAll(all))
  let skipped: bigint | undefined
  for await (const answer of member.target.read(next) as AsyncIterable<streams.ReadResp>) {
    const position = positionOf(answer)
    if (position !== undefined && !member.goneAt.has(position)) skipped ??= position
  }
  return (position) => (skipped ??= position) === position
}

/** After a catch-up, the checkpoint of 24.10.4 is what it sent last, or 2^64-1 for nothing; 23.10 sends none. */
function lastCheckpoint (member: Member, request: streams.ReadReq): (answer: streams.ReadResp) => streams.ReadResp[] {
  let last = request.getOptions()?.getAll()?.getPosition()?.getCommitPosition() ?? nowhere
  let isCaughtUp = false
  let kept: streams.ReadResp[] = []
  return (answer) => {
    if (isCaughtUp) return [answer]
    isCaughtUp = answer.hasCaughtUp()
    const before = kept
    kept = answer.hasCheckpoint() ? [answer] : []
    const checkpoint = before[0]?.getCheckpoint()
    if (isCaughtUp && checkpoint) {
      member.saidNothing += 1
      if (member.version === '23.10') return [answer]
      checkpoint.setCommitPosition(last).setPreparePosition(last)
    }
    last = String(positionOf(answer) ?? last)
    return [...before, ...kept.length > 0 ? [] : [answer]]
  }
}

function finite (count: number): streams.ReadReq.Options {
  return new streams.ReadReq.Options()
    .setReadDirection(streams.ReadReq.Options.ReadDirection.FORWARDS)
    .setCount(String(count))
    .setNoFilter(new shared.Empty())
    .setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty()))
}

/** The position of an event or of a checkpoint. */
function positionOf (answer: streams.ReadResp): bigint | undefined {
  const position = answer.getEvent()?.getEvent()?.getCommitPosition() ?? answer.getCheckpoint()?.getCommitPosition()
  return position === undefined || position === nowhere ? undefined : BigInt(position)
}

function serve (member: Member, server: grpc.Server): void {
  const { read, batchAppend } = streamsService.StreamsService
  server.addService({ read, batchAppend }, {
    read: (call: Parameters<typeof forwardRead>[1]) => forwardRead(member, call),
    batchAppend: (call: Parameters<typeof forwardBatch>[1]) => forwardBatch(member, call)
  })
  server.addService({ read: gossipService.GossipService.read }, {
    read: (_call: unknown, answer: grpc.sendUnaryData<gossip.ClusterInfo>) => {
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

function memberInfo ({ role, isUp, port }: Member): gossip.MemberInfo {
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

/** Why a member does not take a call, if so: codes, words and trailers as servers send them. */
function refusalBy (member: Member, kind: CallKind, headers: grpc.Metadata): grpc.ServiceError | undefined {
  const login = member.login !== undefined && `Basic ${Buffer.from(member.login).toString('base64')}`
  if (login && !headers.get('authorization').includes(login)) return refusal(grpc.status.UNAUTHENTICATED, '')
  if (member.deniesReads && kind === 'read') {
    return refusal(grpc.status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' })
  }
  const needsLeader = headers.get('requires-leader').includes('true')
  if (member.role === 'leader' || !needsLeader) return undefined
  const leader = member.members.find(({ role }) => role === 'leader')
  if (!leader || member.role !== 'follower') return refusal(grpc.status.UNAVAILABLE, 'Server Is Not Ready')
  return refusal(grpc.status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader', 'leader-endpoint-host': '127.0.0.1', 'leader-endpoint-port': String(leader.port)
  })
}

function refusal (
  code: grpc.status, details: string, trailers: Record<string, string> = {}
): grpc.ServiceError {
  const metadata = new grpc.Metadata()
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value)
  return Object.assign(new Error(details), { code, details, metadata })
}

export class Member {
  members: readonly Member[] = [this]
  role: MemberRole = 'leader'
  isUp = true
  login: string | undefined
  deniesReads = false
  /** Writes appends but answers Timeout, like a leader that has just lost the others. */
  timesOut = false
  /** How long an append that was written stays unanswered. */
  answersAfterMs = 0
  /** How many calls it took, by kind. */
  readonly taken = { read: 0, subscribe: 0, append: 0 }
  /** Appends that it forwarded and that have no answer yet. */
  unanswered = 0
  /** How many catch-ups ended without a checkpoint of how far they read. */
  saidNothing = 0
  /** Positions whose events were scavenged. */
  readonly goneAt = new Set<bigint>()
  readonly #proxy: TcpProxy
  readonly #open = new Set<Readable | Writable>()
  #sees: bigint | undefined

  private constructor (
    readonly target: InstanceType<typeof streamsService.StreamsClient>, serverPort: number,
    readonly version: '23.10' | '24.10', port: number
  ) {
    this.#proxy = new TcpProxy(serverPort, port)
  }

  static async start (
    t: Teardown, targetPort: number, { version = '24.10', tls, login }: MemberOptions
  ): Promise<Member> {
    const target = new streamsService.StreamsClient(`127.0.0.1:${targetPort}`, grpc.credentials.createInsecure())
    const server = new grpc.Server({ 'grpc.max_receive_message_length': 17 * 2 ** 20 })
    const pair = tls && { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }
    const credentials = pair ? grpc.ServerCredentials.createSsl(null, [pair]) : grpc.ServerCredentials.createInsecure()
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) => error ? reject(error) : resolve(bound))
    })
    const member = new Member(target, port, version, await freePort())
    member.login = login
    serve(member, server)
    await member.#proxy.accept()
    t.teardown(async () => {
      await member.#proxy.close()
      server.forceShutdown()
      target.close()
    })
    return member
  }

  get port (): number {
    return this.#proxy.port
  }

  async stop (): Promise<void> {
    if (this.isUp) await this.#proxy.close()
    this.isUp = false
  }

  async start (): Promise<void> {
    if (!this.isUp) await this.#proxy.accept()
    this.isUp = true
  }

  /** Freezes it like SIGSTOP: connections stay open, and nothing is answered. */
  freeze (): void {
    this.#proxy.freeze()
  }

  /** Nothing later than this position is replicated to it. */
  stayBehind (position: bigint): void {
    this.#sees = position
  }

  /** Whether it has the event at this position: a leader has all. */
  sees (position: bigint): boolean {
    return this.role === 'leader' || this.#sees === undefined || position <= this.#sees
  }

  /** A scavenge takes the event at this position, which stays in the embedded store. */
  scavenge (position: bigint): void {
    this.goneAt.add(position)
  }

  /** Ends every open call, as a server does when it shuts down. */
  reset (): void {
    for (const call of [...this.#open]) call.emit('error', refusal(grpc.status.INTERNAL, 'Received RST_STREAM with code 2'))
  }

  /** Why it does not take a call, if so. */
  refusalOf (kind: CallKind, headers: grpc.Metadata): grpc.ServiceError | undefined {
    this.taken[kind] += 1
    return refusalBy(this, kind, headers)
  }

  opened (call: Readable | Writable): void {
    this.#open.add(call)
    call.on('close', () => { this.#open.delete(call) })
  }
}

// A second copy of google-protobuf would not know these messages, so it is the client's own.
const require = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'))
const { Any }: typeof import('google-protobuf/google/protobuf/any_pb.js') = require('google-protobuf/google/protobuf/any_pb.js')

type AppendCall = grpc.ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>

function forwardBatch (member: Member, call: AppendCall): void {
  const refused = member.refusalOf('append', call.metadata)
  if (refused?.code === grpc.status.UNAUTHENTICATED) return void call.emit('error', refused)
  member.opened(call)
  const onward = member.target.batchAppend()
  call.on('data', (request: streams.BatchAppendReq) => {
    const refusal = member.refusalOf('append', call.metadata)
    if (refusal?.code === grpc.status.NOT_FOUND) return void call.emit('error', refusal)
    if (refusal) {
      const reply = new streams.BatchAppendResp().setCorrelationId(request.getCorrelationId())
        .setStreamIdentifier(request.getOptions()?.getStreamIdentifier())
      return void call.write(failed(reply, 'google.protobuf.Empty', refusal.details))
    }
    member.unanswered += 1
    onward.write(request)
  })
  onward.on('data', (reply: streams.BatchAppendResp) => {
    setTimeout(() => {
      member.unanswered -= 1
      if (!call.destroyed) call.write(member.timesOut ? failed(reply, 'event_store.client.Timeout', 'Timeout') : reply)
    }, member.answersAfterMs)
  })
  onward.on('error', () => {}) // the log has ended before its members
  // What a client sent before it left is written, as by a real server.
  for (const end of ['cancelled', 'error']) call.on(end, () => onward.end())
  call.on('end', () => {
    onward.end()
    call.end()
  })
}

function failed (reply: streams.BatchAppendResp, type: string, message: string): streams.BatchAppendResp {
  const details = new Any()
  details.pack(new shared.Empty().serializeBinary(), type)
  reply.clearSuccess()
  return reply.setError(new status.Status().setMessage(message).setDetails(details))
}
