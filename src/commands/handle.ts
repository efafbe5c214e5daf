// Handles a command: read, fold, decide, append.
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import {
  fold, type Aggregate, assertSound, currentVersion, decode, DecodeError, type DomainEvent
} from '../domain/events.js'
import { member } from '../domain/json.js'
import { Rejection } from '../domain/rejection.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { isErasing } from '../features/persons/model.js'
import type { Appended, Proposed } from '../log/connection.js'
import { AppendTooLarge, RevisionConflict, StreamGone, StreamTruncated } from '../log/errors.js'
import { noStream, type Streams } from '../log/event-log.js'
import { eventId, sizeOf } from '../log/stored.js'
import { tracing } from '../tracing/tracing.js'
import { Shares } from './shares.js'

interface CommandRequest<State, Event extends DomainEvent> {
  aggregate: Aggregate<State, Event>
  stream: string
  /** Runs again on the new state when another process wrote first. @throws Rejection */
  decide (state: State): Event[]
  origin: Origin
  /** The stream is most likely new: decides and appends without a read. A rejection of the empty state is final. */
  isNew?: boolean | undefined
  /** Only the user of its state sees the stream. For others it counts as empty, and only its first event is read. */
  isForOwner?: boolean | undefined
  /** If-Match. Checked after `decide`, so a domain error wins over 412. @throws Rejection */
  condition?: ((present: Pick<Folded<State>, 'state' | 'stateRevision'>) => void) | undefined
}

/** Who sent a command, and how the stream recognises its events. */
export interface Origin {
  /** A UUID. Every retry of the command has the same one. */
  commandId: string
  correlationId: string
  /** Absent for the call engine and the command line. */
  userId?: string | undefined
  /** The user whose person keys seal the events, if their data has no `user_id`. Without either, nothing is sealed. */
  ofUser?: string | undefined
  /** The span that caused the events; absent when tracing is off. */
  traceparent?: string | undefined
  /** An earlier try may have appended events: look for them first. */
  isRetry?: boolean
}

/** A stream, folded up to `revision`. */
interface Folded<State> {
  state: State
  revision: bigint
  /** Last event of the aggregate's own types. Others may have appended events of other types after it. */
  stateRevision: bigint
  /** Position of the last event in $all; 0 for an empty stream. */
  position: bigint
}

/** The stream after the command, with or without new events. */
export interface Outcome<State> extends Folded<State> {
  /** An earlier try appended the events. */
  wasHandled?: true
  /** This try appended the events. */
  isAppended?: true
}

/** How long a command waits for other commands, in milliseconds. */
export const waitMs = 5_000

/** Other commands kept the stream busy for too long; nothing was written. */
export class StreamBusy extends Error {
  override readonly name = 'StreamBusy'
  constructor (commandId: string) {
    super(`command ${commandId} waited for others for ${waitMs} ms`)
  }
}

/** @throws Rejection, StreamBusy, and the errors of `Streams` */
export type HandleCommand =
  <State, Event extends DomainEvent>(request: CommandRequest<State, Event>) => Promise<Outcome<State>>

/**
 * Queues the commands for one stream inside this process. If another process wrote first, it reads and decides again,
 * with the same command id and ids. No try begins later than 5 s after the command came. `cacheBytes` bounds the cache.
 * @param otherLog the error if the log was replaced or went back: an append to such a log may be lost with it
 */
export function commandHandler (
  streams: Streams, cacheBytes = 64 * 2 ** 20, otherLog: () => Error | undefined = () => undefined
): HandleCommand {
  const handling = new Handling(streams, streamCache(cacheBytes))
  const queues = new Map<string, Promise<unknown>>()
  return async (request) => {
    const problem = otherLog()
    if (problem) throw problem
    const giveUpAt = Date.now() + waitMs
    const before = queues.get(request.stream) ?? Promise.resolve()
    const mine = before.catch(() => {}).then(() => handling.handleUntil(giveUpAt, request))
    queues.set(request.stream, mine)
    return await mine.finally(() => { if (queues.get(request.stream) === mine) queues.delete(request.stream) })
  }
}

/** Rough size of a cache entry without its state: two strings, two numbers, a place in a map. */
const entryBytes = 400

/**
 * Bounded by bytes, because users decide how large a state is. A stale entry is harmless: each append names its exact
 * revision.
 */
export function streamCache (mostBytes: number) {
  const sizeCalculation = ({ state }: Folded<unknown>) => entryBytes + sizeOf(state)
  // lru-cache reads 0 as unbounded; nothing fits into 1 byte.
  return new LRUCache<string, Folded<unknown>>({ maxSize: Math.max(1, mostBytes), sizeCalculation })
}

class Handling {
  /** Per user: a stream with many large events takes seconds to fold. */
  readonly #wholeStreams = new Shares(3, waitMs)

  constructor (private readonly streams: Streams, private readonly cache: ReturnType<typeof streamCache>) {}

  async handleUntil<State, Event extends DomainEvent> (
    giveUpAt: number, request: CommandRequest<State, Event>
  ): Promise<Outcome<State>> {
    const { aggregate, origin: { commandId, isRetry } } = request
    if (isRetry) this.cache.delete(keyOf(request)) // the cached state may be past the earlier try
    let isUnread = request.isNew && !isRetry && !this.cache.has(keyOf(request))
    for (let isLate = false; ; isUnread = false, isLate = true) {
      if (Date.now() > giveUpAt) throw new StreamBusy(commandId)
      const { current, earlier } = isUnread ? { current: emptyStream(aggregate) } : await this.#read(request, isLate)
      if (earlier) return { ...earlier, wasHandled: true }
      const events = request.decide(current.state)
      request.condition?.(current)
      const outcome = events.length === 0 ? current : await this.#append(request, current, events)
      if (outcome) return outcome
      await delay(Math.random() * 20)
    }
  }

  /**
   * Folds the tail of the stream onto the cached state; `earlier` is the state after an earlier try. Drops a cached
   * state if the stream was deleted, or after a conflict (`isLate`) without a newer event: the log went back.
   */
  async #read<State, Event extends DomainEvent> (
    request: CommandRequest<State, Event>, isLate: boolean
  ): Promise<{ current: Folded<State>, earlier?: Folded<State> | undefined }> {
    const { aggregate, stream, origin } = request
    const cached = this.cache.get(keyOf(request)) as Folded<State> | undefined
    if (request.isForOwner && !await this.#isOwners(request, cached)) return { current: emptyStream(aggregate) }
    let current = cached ?? emptyStream(aggregate)
    let earlier: Folded<State> | undefined
    let first: StoredEvent | undefined
    const next = (stored: StoredEvent) => {
      first ??= stored
      current = withNext(aggregate, current, stored)
      if (stored.metadata.command_id === origin.commandId) earlier = current
    }
    const visit = () => this.streams.visit(stream, current.revision + 1n, next)
    const isThere = await (cached || aggregate.isWrittenOnce ? visit() : this.#readWhole(origin, visit))
      .catch((error: unknown) => { if (!earlier) throw error })
    if (isThere === undefined) return { current, earlier } // `earlier` is known, and a later event cannot be read
    if (cached && (!isThere || (isLate && current === cached))) {
      this.cache.delete(keyOf(request))
      return await this.#read(request, isLate)
    }
    if (!cached) refuseHalf(request, current.state, first)
    if (current !== cached && current.revision !== noStream) this.#remember(request, current)
    return { current, earlier }
  }

  async #readWhole<Result> ({ userId = '', commandId }: Origin, read: () => Promise<Result>): Promise<Result> {
    const release = await this.#wholeStreams.acquire(userId)
    if (!release) throw new StreamBusy(commandId)
    return await read().finally(release)
  }

  async #isOwners<S, Event extends DomainEvent> (
    { aggregate, stream, origin }: CommandRequest<S, Event>, known?: Folded<S>
  ): Promise<boolean> {
    const [first] = known ? [] : await this.streams.read(stream, 0n, 1)
    const { state } = known ?? (first ? withNext(aggregate, emptyStream(aggregate), first) : emptyStream(aggregate))
    refuseHalf({ aggregate, stream }, state, first)
    return member(state, 'user_id') === origin.userId
  }

  #remember<S, Event extends DomainEvent> (request: CommandRequest<S, Event>, folded: Folded<S>): void {
    if (!request.aggregate.isWrittenOnce) this.cache.set(keyOf(request), folded)
  }

  /** @returns undefined when another process wrote first */
  async #append<State, Event extends DomainEvent> (
    request: CommandRequest<State, Event>, { state, revision }: Folded<State>, events: Event[]
  ): Promise<Outcome<State> | undefined> {
    const { aggregate, stream, origin } = request
    try {
      const appended = await traced(stream, events, origin, (sender) =>
        this.streams.append(stream, proposed(events, sender, aggregate.largestEvent), revision))
      const outcome = { state: fold(aggregate, events, state), ...appended, stateRevision: appended.revision }
      this.#remember(request, outcome)
      return { ...outcome, isAppended: true }
    } catch (error) {
      if (error instanceof RevisionConflict) return undefined
      this.cache.delete(keyOf(request))
      throw error
    }
  }
}

/** Cache key. A stream that several aggregates fold has one entry for each of them. */
const keyOf = ({ stream, aggregate: { part } }: { stream: string, aggregate: { part?: string } }): string =>
  part === undefined ? stream : `${stream} ${part}`

/** Folds a whole stream, or its first `mostEvents`. */
export async function foldStream<State, Event extends DomainEvent> (
  streams: Pick<Streams, 'visit'>, aggregate: Aggregate<State, Event>, stream: string, mostEvents?: number
): Promise<Folded<State>> {
  let folded = emptyStream(aggregate)
  await streams.visit(stream, 0n, (stored) => { folded = withNext(aggregate, folded, stored) }, mostEvents)
  return folded
}

const emptyStream = <State>({ initialState }: { initialState: State }): Folded<State> =>
  ({ state: initialState, revision: noStream, stateRevision: noStream, position: 0n })

/** The stream after one more event. A type that is not the aggregate's leaves the state. @throws DecodeError */
function withNext<State, Event extends DomainEvent> (
  aggregate: Aggregate<State, Event>, folded: Folded<State>, stored: StoredEvent
): Folded<State> {
  const { revision, position } = stored
  const event = ownEvent(aggregate, folded.state, stored)
  if (!event) return { ...folded, revision, position }
  return { state: aggregate.evolve(folded.state, event), revision, stateRevision: revision, position }
}

function ownEvent<State, Event extends DomainEvent> (
  { eventTypes, skipsUnreadable, initialState }: Aggregate<State, Event>, state: State, stored: StoredEvent
): Event | undefined {
  const isOwn = (event: { type: string }): event is Event => eventTypes.some((type) => type === event.type)
  try {
    const event = isOwn(stored) ? decode(stored) : undefined
    return event && isOwn(event) ? event : undefined
  } catch (error) {
    // Anybody can append to the stream: after the event that created it, what does not decode is ignored.
    if (skipsUnreadable && state !== initialState && error instanceof DecodeError) return undefined
    throw error
  }
}

/**
 * A stream was truncated if it begins after revision 0 and no event in it creates something. The stream of an erased
 * person is whole: it begins with what the erasure left.
 * @param first its first event
 * @throws StreamTruncated
 */
function refuseHalf<State> (
  { aggregate: { initialState }, stream }: { aggregate: { initialState: State }, stream: string },
  state: State, first: StoredEvent | undefined
): void {
  if (first && first.revision > 0n && state === initialState && !isErasing(first)) throw new StreamTruncated(stream, '$tb')
}

export const isTooLarge = (error: unknown) => error instanceof AppendTooLarge

/** Why every retry would fail, as the message of a field; undefined for other errors. */
export function whyUnreadable (error: unknown): string | undefined {
  if (error instanceof StreamGone) return 'has a history that was deleted for good'
  const isUnreadable = error instanceof StreamTruncated || (error instanceof DecodeError && !error.isOfLater)
  return isUnreadable ? 'has a history that cannot be read: an operator must mend it' : undefined
}

/** Appends within a span if tracing is on; the events carry the span. */
async function traced (
  stream: string, events: readonly DomainEvent[], origin: Origin, append: (sender: Origin) => Promise<Appended>
): Promise<Appended> {
  if (!tracing.tracer) return await append(origin)
  const kind = stream.slice(0, stream.indexOf('-')) // the rest may be an id that a call engine made up
  const attributes = { 'ringledger.stream': kind, 'ringledger.events': events.map(({ type }) => type).join(' ') }
  const span = tracing.tracer.start(`append ${kind}`, { kind: 'producer', parent: origin.traceparent, attributes })
  try {
    const appended = await append({ ...origin, traceparent: span.traceparent })
    span.end()
    return appended
  } catch (error) {
    span.end(error)
    throw error
  }
}

/** Adds ids that every retry repeats, and the cause as metadata. @throws Rejection `too-large`, UnsoundEvent */
export function proposed (events: DomainEvent[], sender: Origin, largestEvent = 900 * 1024): Proposed[] {
  const { commandId, correlationId, userId, ofUser, traceparent } = sender
  const caused = { $correlationId: correlationId, $causationId: commandId, command_id: commandId }
  const sentBy = userId !== undefined && { user_id: userId }
  const spanned = traceparent !== undefined && { traceparent }
  return events.map((event, index) => {
    const { type, data } = event
    assertSound(event)
    const bytes = Buffer.byteLength(JSON.stringify(data))
    if (bytes > largestEvent) throw new Rejection('too-large', 'The request is too large.')
    const metadata = { ...caused, schema_version: currentVersion(type), ...sentBy, ...spanned }
    return { id: eventId(commandId, index), type, data, metadata, ...(ofUser !== undefined && { ofUser }) }
  })
}
