// Owns the client of the event store: every call uses the current session, and a lost session is replaced. Concurrent
// appends share one gRPC call of our own. The client keeps the promises of all its calls in one place, where the end of
// one call drops the appends of others.
import { convertToCommandError, NotLeaderError, EventStoreDBClient } from '@eventstore/db-client'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { appendRequest, correlationIdOf } from '@ringledger/event-transfer/batch-append'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { withTimeout } from '../timing.js'
import { clientUrl } from './client-url.js'
import {
  AccessRefused, AppendOutcomeUnknown, AppendTooLarge, EventStoreUnavailable, isOfConnection, NoAnswer,
  RevisionConflict, saysNotReady, StreamGone
} from './errors.js'

/** A member that answers no call for so long is given up, in milliseconds. */
const usualSilentAfterMs = 4_000

/** A younger session is not replaced: its failure has the same cause as that of the previous session. */
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

  /** Connects on first use. @throws EventStoreUnavailable after `close` */
  get session (): Session {
    if (this.#isClosed) throw new EventStoreUnavailable(closed) // nobody would close a session opened now
    return this.#session ??= this.#open()
  }

  /** Runs work that needs the leader; repeats it once when the store names another leader. */
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
    const session: Session = new Session(this.#url, leader, (error) => this.#failed(session, error))
    return session
  }

  #failed (session: Session, failure: Error): void {
    const error = convertToCommandError(failure)
    if (error instanceof NotLeaderError) return this.#replace(session, error.leader)
    const youngest = saysNotReady(error.message) ? youngMs.notReady : youngMs.lost
    if (isOfConnection(error) && performance.now() - session.startedAt >= youngest) this.#replace(session)
  }

  /** Calls in flight on the old session continue: the failed call may be the only one. */
  #replace (session: Session, leader?: Endpoint): void {
    if (session !== this.#session) return
    this.#session = leader && this.#open(leader)
    session.retire()
  }

  #abandonIfSilent (session: Session): void {
    const silentForMs = performance.now() - Math.max(session.heardAt, session.startedAt)
    if (session !== this.#session || silentForMs < this.#silentAfterMs) return
    this.#session = undefined
    void session.abandon(new EventStoreUnavailable('the event store was silent for too long'))
  }
}

interface Endpoint { address: string, port: number }

/** `dispose` waits until streams end, which those of a dead server never do. */
const disposeWithinMs = 1_000

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

  /**
   * @param url as `clientUrl` returns it
   * @param leader the member to connect to; without it the client discovers one through the URL
   * @param failed gets each error that ended a call or the discovery of a member
   */
  constructor (url: string, leader: Endpoint | undefined, failed: (error: Error) => void) {
    this.client = EventStoreDBClient.connectionString(url)
    // The client's own handler awaits a promise whose rejection nobody catches. Protected members, hence brackets.
    this.client['handleError'] = async (_client, error) => failed(error)
    const getChannel = this.client['getChannel']
    this.client['getChannel'] = () => this.#connect(getChannel, failed)
    if (leader) this.client['resolveUri'] = async () => uriOf(leader)
  }

  /**
   * All appends share one call, which is opened again after it has ended.
   * @throws EventStoreUnavailable when no member was found within `withinMs`: nothing was sent
   */
  async appends (withinMs: number): Promise<AppendCall> {
    this.#appends ??= this.#openAppends()
    const late = () => new EventStoreUnavailable('no member was found', { cause: new NoAnswer(withinMs) })
    return this.#appendCall ?? await withTimeout(withinMs, this.#appends, late) // the client itself has no deadline
  }

  heard (): void {
    this.heardAt = performance.now()
  }

  /** Calls `end` when the session is abandoned. @returns a function that unregisters it */
  untilAbandoned (end: (error: Error) => void): () => void {
    this.#enders.add(end)
    return () => { this.#enders.delete(end) }
  }

  /** Takes no new calls; calls in flight continue. */
  retire (): void {
    this.#isRetired = true
    this.#appends?.then((call) => call.finish(), () => {})
    this.#channel?.close()
  }

  /** Ends all calls in flight with `error`. */
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

const uriOf = ({ address, port }: Endpoint) => `${address.includes(':') ? `[${address}]` : address}:${port}`

/** A plain client that reconnects on its own. Swallows errors of a reconnect, as the next call meets them again. */
export function lentClient (eventStoreUrl: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(clientUrl(eventStoreUrl))
  const handleError = client['handleError']
  client['handleError'] = (channel, error) => handleError(channel, error).catch(() => {})
  return client
}

type BatchCall = ReturnType<StreamsClient['batchAppend']>

interface Waiting {
  resolve (appended: Appended): void
  reject (error: Error): void
  timer: NodeJS.Timeout
}

class AppendCall {
  readonly #waiting = new Map<string, Waiting>()
  #isOver = false
  #isLast = false

  /** @param onOver is called once, when nothing more can be appended */
  constructor (
    private readonly call: BatchCall, private readonly onReply: () => void, private readonly onOver: () => void
  ) {
    call.on('data', (reply: streams.BatchAppendResp) => this.#settle(reply))
    call.on('error', (error: Error) => this.#end(error))
    call.on('end', () => this.#end(new Error('the event store ended the call')))
  }

  /**
   * Sends all events at once, as one message.
   * @throws the store's refusal, NoAnswer after `withinMs`, or the error that ended the call
   */
  async append (stream: string, events: readonly Proposed[], expected: bigint, withinMs: number): Promise<Appended> {
    const id = randomUUID()
    const request = appendRequest(id, stream, events.map(messageOf), expected)
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#take(id)?.reject(new NoAnswer(withinMs)), withinMs)
      this.#waiting.set(id, { resolve, reject, timer })
      this.call.write(request)
    })
  }

  /** Cancels the call once no append waits for an answer. A half-close would leave it open on a real server. */
  finish (): void {
    this.#isLast = true
    if (this.#waiting.size === 0) this.call.cancel()
  }

  #settle (reply: streams.BatchAppendResp): void {
    this.onReply()
    const waiting = this.#take(correlationIdOf(reply))
    if (!waiting) return // it timed out
    try {
      waiting.resolve(appendedOf(reply))
    } catch (error) {
      waiting.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #take (id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    clearTimeout(waiting?.timer)
    this.#waiting.delete(id)
    if (this.#isLast && this.#waiting.size === 0) this.call.cancel()
    return waiting
  }

  /** An error that says that nothing was written belongs to one of the waiting appends; the others may be written. */
  #end (failure: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onOver()
    const error = convertToCommandError(failure)
    const isUnclear = this.#waiting.size > 1 && (error instanceof NotLeaderError || saysNotReady(error.message))
    const told = isUnclear ? new AppendOutcomeUnknown('the event store ended the call', { cause: error }) : error
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(told)
  }
}

const messageOf = ({ id, type, data, metadata }: Proposed) => ({
  id,
  type,
  contentType: 'application/json',
  data: Buffer.from(JSON.stringify(data)),
  metadata: Buffer.from(JSON.stringify(metadata))
})

/** @throws the store's refusal */
function appendedOf (reply: streams.BatchAppendResp): Appended {
  const success = reply.getSuccess()
  if (!success) throw refusalOf(reply)
  const position = success.getPosition()
  if (!position) throw new AppendOutcomeUnknown(noPosition)
  return { revision: BigInt(success.getCurrentRevision()), position: BigInt(position.getCommitPosition()) }
}

const noPosition = 'the event store answered an append without a position: version 22.6 or newer is needed'

function refusalOf (reply: streams.BatchAppendResp): Error {
  const error = reply.getError()
  const kind = error?.getDetails()?.getTypeName().split('.').at(-1)
  const words = error?.getMessage() || kind || 'no reason given'
  switch (kind) {
    case 'WrongExpectedVersion': return new RevisionConflict('the stream has moved on')
    case 'StreamDeleted': return new StreamGone('the stream was deleted for good')
    case 'MaximumAppendSizeExceeded': return new AppendTooLarge('the events are too large for one append')
    case 'AccessDenied': return new AccessRefused('the event store refuses to write to this stream')
    default: return saysNotReady(words)
      ? new EventStoreUnavailable(`the event store takes no append: ${words}`)
      : new AppendOutcomeUnknown(`the event store did not say whether it wrote the events: ${words}`)
  }
}

/** An event to append. Retries keep its `id`, a UUID. */
export interface Proposed {
  id: string
  type: string
  data: object
  metadata: Record<string, string>
  /** The user whose persons the data names, where the data does not say. Not appended. */
  ofUser?: string | undefined
}

/** Where an append ended: the revision of its last event and that event's position in $all. */
export interface Appended {
  revision: bigint
  position: bigint
}
