// One member of a cluster: forwards calls to the embedded store, and does otherwise what members of real clusters do.
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import * as grpc from '@grpc/grpc-js'
import { freePort } from '@ringledger/embedded-postgres/testing'
import { TcpProxy } from '../back-ends/tcp-proxy.js'
import type { Teardown } from '../teardown.js'
import { refusal, refusalBy } from './refusals.js'
import { serve } from './services.js'
import type { CallKind, Denial, MemberOptions, MemberRole, OpenCall, Ways } from './ways.js'

export class Member implements Ways {
  members: readonly Member[] = [this]
  role: MemberRole = 'leader'
  isUp = true
  login: string | undefined
  readonly denied: Partial<Record<CallKind, Denial>> = {}
  timesOut = false
  answersAfterMs = 0
  readonly taken = { read: 0, subscribe: 0, append: 0, gossip: 0 }
  metOwnLike = 0
  unanswered = 0
  saidNothing = 0
  readonly goneAt = new Set<bigint>()
  readonly #proxy: TcpProxy
  readonly #open = new Set<{ kind: CallKind, end (error: grpc.ServiceError): void }>()
  #wantsToAppend = () => Promise.resolve()
  #sees: bigint | undefined
  #seeMore = new Set<() => void>()

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

  /** Takes no append before so many callers want to: so two copies meet, however they start. */
  takesAppendsOf (callers: number): void {
    let missing = callers
    const all = new Promise<void>((resolve) => {
      this.#wantsToAppend = () => {
        if (--missing === 0) resolve()
        return all
      }
    })
  }

  async wantsToAppend (): Promise<void> {
    await this.#wantsToAppend()
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

  /** It stands still, as a process under SIGSTOP: connections stay, and nothing is answered. */
  freeze (): void {
    this.#proxy.freeze()
  }

  /** It goes on; what was asked meanwhile is lost with its connections. */
  thaw (): void {
    this.#proxy.cut()
  }

  /** Nothing later than this position is replicated to it, until `catchUp`. */
  stayBehind (position: bigint): void {
    this.#sees = position
  }

  catchUp (): void {
    this.#sees = undefined
    for (const go of [...this.#seeMore]) go()
  }

  sees (position: bigint): boolean {
    return this.role === 'leader' || this.#sees === undefined || position <= this.#sees
  }

  onCatchUp (go: () => void): () => void {
    this.#seeMore.add(go)
    return () => { this.#seeMore.delete(go) }
  }

  /** A scavenge takes the event at this position, which stays in the embedded store. */
  scavenge (position: bigint): void {
    this.goneAt.add(position)
  }

  /** Ends the subscriptions that are open, as a server does that waits for a slow consumer. */
  dropSubscriptions (): void {
    this.#endCalls(refusal(grpc.status.ABORTED, 'Consumer too slow'), ['subscribe'])
  }

  /** Ends every call that is open, as a server does when it is shut down. */
  reset (): void {
    this.#endCalls(refusal(grpc.status.INTERNAL, 'Received RST_STREAM with code 2'), ['read', 'subscribe', 'append'])
  }

  refusalOf (kind: CallKind, headers: grpc.Metadata): grpc.ServiceError | undefined {
    this.taken[kind] += 1
    return refusalBy(this, kind, headers)
  }

  opened (kind: CallKind, call: OpenCall): () => void {
    const open = { kind, end: (error: grpc.ServiceError) => { call.emit('error', error) } }
    this.#open.add(open)
    return () => { this.#open.delete(open) }
  }

  #endCalls (error: grpc.ServiceError, kinds: readonly CallKind[]): void {
    for (const open of [...this.#open]) if (kinds.includes(open.kind)) open.end(error)
  }
}
