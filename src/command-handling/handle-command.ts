// Handles a command: read, fold, decide, append.
import { setTimeout as delay } from 'node:timers/promises'
import { fold } from '../domain/decider.js'
import type { DomainEvent } from '../domain/events.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { RevisionConflict } from '../event-store/errors.js'
import { eventId } from '../event-store/event-id.js'
import { noStream, type Streams } from '../event-store/streams.js'
import { tracedAppend } from '../tracing/traced-append.js'
import type { CommandRequest, Outcome, PastRequest } from './command-request.js'
import { emptyStream, refuseHalf, withNext, type Folded } from './folded-stream.js'
import { proposed } from './proposed.js'
import { LongStreams } from './snapshots/long-streams.js'
import type { Snapshots } from './snapshots/snapshots.js'
import { StreamCache, keyOf } from './stream-cache.js'
import { oneAtATime } from './turns/one-at-a-time.js'
import { StreamBusy, waitMs } from './turns/stream-busy.js'
import { WholeStreams } from './turns/whole-streams.js'

export type HandleCommand =
  <State, Event extends DomainEvent>(request: CommandRequest<State, Event>) => Promise<Outcome<State>>

export interface CommandHandler {
  /** @throws Rejection, StreamBusy, and the errors of `Streams` */
  handle: HandleCommand
  /**
   * The stream as it was after the event at `revision`; a shorter stream, as it is.
   * @throws StreamBusy, EventStoreUnavailable
   */
  stateAt<State, Event extends DomainEvent> (
    request: PastRequest<State, Event>, revision: bigint
  ): Promise<Outcome<State>>
}

/**
 * Commands for one stream queue up inside this process. A conflict with another process reads and decides again,
 * with the same command id and ids. No try begins later than 5 s after it came. `cacheBytes` bounds what is remembered.
 */
export function commandHandler (streams: Streams, cacheBytes = 64 * 2 ** 20, snapshots?: Snapshots): CommandHandler {
  const inTurn = oneAtATime()
  const handling = new Handling(streams, new StreamCache(cacheBytes), new LongStreams(streams, snapshots))
  return {
    async handle (request) {
      await request.first?.()
      const giveUpAt = Date.now() + waitMs
      return await inTurn(request.stream, () => handling.handleUntil(giveUpAt, request))
    },
    stateAt: (request, revision) => handling.stateAt(request, revision)
  }
}

class Handling {
  readonly #wholeStreams = new WholeStreams()

  constructor (
    private readonly streams: Streams, private readonly cache: StreamCache, private readonly long: LongStreams
  ) {}

  async stateAt<State, Event extends DomainEvent> (
    { aggregate, stream, origin }: PastRequest<State, Event>, revision: bigint
  ): Promise<Folded<State>> {
    let folded = emptyStream(aggregate)
    const next = (stored: StoredEvent) => { folded = withNext(aggregate, folded, stored) }
    await this.#wholeStreams.inTurn(origin, () => this.streams.visit(stream, 0n, next, Number(revision) + 1))
    return folded
  }

  async handleUntil<State, Event extends DomainEvent> (
    giveUpAt: number, request: CommandRequest<State, Event>
  ): Promise<Outcome<State>> {
    const { aggregate, origin: { commandId, isRetry } } = request
    if (isRetry) this.cache.delete(keyOf(request)) // a cached state may have passed the earlier try
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
   * The present state: the cached one and the tail of the stream. `earlier` is that after an earlier try. A state whose
   * stream was deleted counts for nothing, and so does one that others have overtaken (`isLate`) without a further
   * event: the log went back.
   */
  async #read<State, Event extends DomainEvent> (
    request: CommandRequest<State, Event>, isLate: boolean
  ): Promise<{ current: Folded<State>, earlier?: Folded<State> | undefined }> {
    const { aggregate, stream, origin } = request
    const cached = this.cache.get<State>(keyOf(request))
    if (request.isForOwner && !await this.#isOwners(request, cached)) return { current: emptyStream(aggregate) }
    let current = cached ?? emptyStream(aggregate)
    let earlier: Folded<State> | undefined
    let first: StoredEvent | undefined
    const next = (stored: StoredEvent) => {
      first ??= stored
      current = withNext(aggregate, current, stored)
      if (stored.metadata.command_id === origin.commandId) earlier = current
    }
    const visit = () => cached
      ? this.streams.visit(stream, current.revision + 1n, next)
      : this.long.visit(request, { current: () => current, next, jump: (to) => { current = to } })
    const isShort = cached !== undefined || aggregate.isWrittenOnce === true
    const isThere = await (isShort ? visit() : this.#wholeStreams.inTurn(origin, visit))
    if (cached && (!isThere || (isLate && current === cached))) {
      this.cache.delete(keyOf(request))
      return await this.#read(request, isLate)
    }
    if (!cached) refuseHalf(request, current.state, first)
    if (current !== cached && current.revision !== noStream) this.#remember(request, current)
    return { current, earlier }
  }

  async #isOwners<S, Event extends DomainEvent> (
    { aggregate, stream, origin }: CommandRequest<S, Event>, known?: Folded<S>
  ): Promise<boolean> {
    const [first] = known ? [] : await this.streams.read(stream, 0n, 1)
    const { state } = known ?? (first ? withNext(aggregate, emptyStream(aggregate), first) : emptyStream(aggregate))
    refuseHalf({ aggregate, stream }, state, first)
    return aggregate.ownerOf?.(state) === origin.userId
  }

  #remember<S, Event extends DomainEvent> (request: CommandRequest<S, Event>, folded: Folded<S>): void {
    if (!request.aggregate.isWrittenOnce) this.cache.set(keyOf(request), folded)
  }

  /** Nothing when another process wrote first. */
  async #append<State, Event extends DomainEvent> (
    request: CommandRequest<State, Event>, { state, revision }: Folded<State>, events: Event[]
  ): Promise<Outcome<State> | undefined> {
    const { aggregate, stream, origin } = request
    try {
      const appended = await tracedAppend(stream, events, origin, (sender) =>
        this.streams.append(stream, proposed(events, sender, aggregate.largestEvent), revision))
      const outcome = { state: fold(aggregate, events, state), ...appended, stateRevision: appended.revision }
      this.#remember(request, outcome)
      this.long.appended(request, revision, { folded: outcome, eventId: eventId(origin.commandId, events.length - 1) })
      return { ...outcome, isAppended: true }
    } catch (error) {
      if (error instanceof RevisionConflict) return undefined
      this.cache.delete(keyOf(request))
      throw error
    }
  }
}
