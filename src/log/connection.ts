// Owns the client of the event store: every call goes through its present session, which it replaces when it is lost.
import { convertToCommandError, NotLeaderError, EventStoreDBClient } from '@eventstore/db-client'
import { EventStoreUnavailable, isOfConnection, NoAnswer, saysNotReady } from './errors.js'
import { clientUrl } from './client-url.js'
import { setTimeout as delay } from 'node:timers/promises'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { withTimeout } from '../timing/with-timeout.js'
import { AppendCall } from './append-call.js'

/** A member that leaves every call unanswered for so long is given up, in milliseconds. */
const usualSilentAfterMs = 4_000

/** A session younger than this is not replaced again: what fails on it failed on the one before as well. */
const youngMs = { lost: 100, notReady: 1_000 }

const closed = 'the connection to the event store was closed'

export class EventStoreConnection {
  readonly #url: string
  readonly #silentAfterMs: number
  #session: Session | undefined
  #isClosed = false

  constructor (url: string, { silentAfterMs = usualSilentAfterMs } = {}) {
    this.#url = clientUrl(url)
    this.#silentAfterMs = silentAfterMs
  }

  /** The present client. Nothing is sent before it is used. @throws EventStoreUnavailable once it was closed */
  get session (): Session {
    if (this.#isClosed) throw new EventStoreUnavailable(closed) // one that is opened now would never end
    return this.#session ??= this.#open()
  }

  /** For work on the leader alone: once more when another member turns out to lead. */
  async onLeader<Result> (work: (session: Session) => Promise<Result>): Promise<Result> {
    try {
      return await this.#watched(work)
    } catch (error) {
      if (error instanceof NotLeaderError) return await this.#watched(work)
      throw error
    }
  }

  async close (): Promise<void> {
    const session = this.#session
    this.#isClosed = true
    this.#session = undefined
    await session?.abandon(new Error(closed))
  }

  async #watched<Result> (work: (session: Session) => Promise<Result>): Promise<Result> {
    const session = this.session
    try {
      return await work(session)
    } catch (error) {
      if (error instanceof NoAnswer) this.#abandonIfSilent(session)
      if (error instanceof EventStoreUnavailable || error instanceof NotLeaderError) this.#failed(session, error)
      throw error
    }
  }

  #open (leader?: Endpoint): Session {
    return new Session({ url: this.#url, leader, onFailure: (session, error) => this.#failed(session, error) })
  }

  #failed (session: Session, failure: Error): void {
    const error = convertToCommandError(failure)
    if (error instanceof NotLeaderError) return this.#replace(session, error.leader)
    const youngest = saysNotReady(error.message) ? youngMs.notReady : youngMs.lost
    if (isOfConnection(error) && session.ageMs >= youngest) this.#replace(session)
  }

  /** What is under way on the old session goes on: the call that failed may be the only one. */
  #replace (session: Session, leader?: Endpoint): void {
    if (session !== this.#session) return
    this.#session = leader && this.#open(leader)
    session.retire()
  }

  #abandonIfSilent (session: Session): void {
    if (session !== this.#session || session.silentForMs < this.#silentAfterMs) return
    this.#session = undefined
    void session.abandon(new EventStoreUnavailable('the event store was silent for too long'))
  }
}

export interface Endpoint { address: string, port: number }

/** The client waits for streams of a dead server to end, which may be never. */
const disposeWithinMs = 1_000

export interface SessionOptions {
  /** As the client reads it. */
  url: string
  /** The member to speak to; without it the URL leads to one. */
  leader?: Endpoint | undefined
  /** Is told what ended a call, and why no member was found. */
  onFailure (session: Session, error: Error): void
}

export class Session {
  readonly client: EventStoreDBClient
  readonly startedAt = performance.now()
  /** When the store answered last, on the clock of `performance`. */
  heardAt = -Infinity
  readonly #enders = new Set<(error: Error) => void>()
  #channel: Awaited<ReturnType<EventStoreDBClient['getChannel']>> | undefined
  #appends: Promise<AppendCall> | undefined
  #appendCall: AppendCall | undefined
  #isRetired = false

  constructor ({ url, leader, onFailure }: SessionOptions) {
    this.client = EventStoreDBClient.connectionString(url)
    const failed = (error: Error) => onFailure(this, error)
    // The client's own answer to a lost member awaits what nobody catches. These doors are protected: hence brackets.
    this.client['handleError'] = async (_client, error) => failed(error)
    const getChannel = this.client['getChannel']
    this.client['getChannel'] = () => this.#connect(getChannel, failed)
    if (leader) this.client['resolveUri'] = async () => uriOf(leader)
  }

  /**
   * Appends go through one call, which is opened again when it has ended.
   * @throws EventStoreUnavailable when no member was found within `withinMs`: nothing was sent
   */
  async appends (withinMs: number): Promise<AppendCall> {
    this.#appends ??= this.#openAppends()
    return this.#appendCall ?? await openedWithin(withinMs, this.#appends)
  }

  heard (): void {
    this.heardAt = performance.now()
  }

  get ageMs (): number {
    return performance.now() - this.startedAt
  }

  /** For how long nothing has come, in milliseconds. */
  get silentForMs (): number {
    return performance.now() - Math.max(this.heardAt, this.startedAt)
  }

  /** Registers what ends when the session is abandoned. @returns what takes it back */
  untilAbandoned (end: (error: Error) => void): () => void {
    this.#enders.add(end)
    return () => { this.#enders.delete(end) }
  }

  /** Nothing new begins here; what is under way goes on. */
  retire (): void {
    this.#isRetired = true
    this.#appends?.then((call) => call.finish(), () => {})
    this.#channel?.close()
  }

  /** Ends whatever is under way with `error`. */
  async abandon (error: Error): Promise<void> {
    for (const end of [...this.#enders]) end(error)
    this.#enders.clear()
    await Promise.race([this.client.dispose(), delay(disposeWithinMs, undefined, { ref: false })])
    this.retire()
  }

  async #connect (getChannel: EventStoreDBClient['getChannel'], failed: (error: Error) => void) {
    try {
      this.#channel = await getChannel()
    } catch (error) {
      failed(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
    if (this.#isRetired) this.#channel.close()
    return this.#channel
  }

  async #openAppends (): Promise<AppendCall> {
    const open = this.client['GRPCStreamCreator'](StreamsClient, 'appendToStream', (service) =>
      service.batchAppend(...this.client['callArguments']({ requiresLeader: true }, { deadline: Infinity })))
    const onOver = () => { this.#appends = this.#appendCall = undefined }
    try {
      return this.#appendCall = new AppendCall(await open(), () => this.heard(), onOver)
    } catch (error) {
      onOver()
      throw error
    }
  }
}

/** The client looks for a member for as long as it likes. */
async function openedWithin (ms: number, opening: Promise<AppendCall>): Promise<AppendCall> {
  return await withTimeout(ms, opening, () => new NoAnswer(ms)).catch((cause: unknown) => {
    throw cause instanceof NoAnswer ? new EventStoreUnavailable('no member was found', { cause }) : cause
  })
}

const uriOf = ({ address, port }: Endpoint) => `${address.includes(':') ? `[${address}]` : address}:${port}`

/** It looks for another member by itself; what that rejects with is caught here, and met again by the next call. */
export function lentClient (eventStoreUrl: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(clientUrl(eventStoreUrl))
  const handleError = client['handleError']
  client['handleError'] = (channel, error) => handleError(channel, error).catch(() => {})
  return client
}
