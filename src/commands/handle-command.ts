// Handles a command: read, fold, decide, append.
import { setTimeout as delay } from 'node:timers/promises'
import { fold } from '../domain/decider.js'
import type { DomainEvent } from '../domain/events.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { RevisionConflict } from '../log/errors.js'
import { noStream, type Streams } from '../log/event-log.js'
import { tracedAppend } from '../tracing/traced-append.js'
import { StreamBusy, waitMs, type CommandRequest, type Origin, type Outcome } from './command-request.js'
import { emptyStream, refuseHalf, withNext, type Folded } from './folded-stream.js'
import { proposed } from './proposed.js'
import { Shares } from './shares.js'
import { keyOf, streamCache, type StreamCache } from './stream-cache.js'

/** @throws Rejection, StreamBusy, and the errors of `Streams` */
export type HandleCommand =
  <State, Event extends DomainEvent>(request: CommandRequest<State, Event>) => Promise<Outcome<State>>

/**
 * Commands for one stream queue up inside this process. A conflict with another process reads and decides again,
 * with the same command id and ids. No try begins later than 5 s after it came. `cacheBytes` bounds what is remembered.
 */
export function commandHandler (streams: Streams, cacheBytes = 64 * 2 ** 20): HandleCommand {
  const handling = new Handling(streams, streamCache(cacheBytes))
  const queues = new Map<string, Promise<unknown>>()
  return async (request) => {
    const giveUpAt = Date.now() + waitMs
    const before = queues.get(request.stream) ?? Promise.resolve()
    const mine = before.catch(() => {}).then(() => handling.handleUntil(giveUpAt, request))
    queues.set(request.stream, mine)
    return await mine.finally(() => { if (queues.get(request.stream) === mine) queues.delete(request.stream) })
  }
}

class Handling {
  /** Of each user: one stream with many large events is the work of seconds. */
  readonly #wholeStreams = new Shares(3, waitMs)

  constructor (private readonly streams: Streams, private readonly cache: StreamCache) {}

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
   * Folds the tail of the stream onto the cached state; `earlier` is that after an earlier try. Drops the cached state
   * if the stream was deleted, or if a conflict occurred (`isLate`) without a newer event: the log was rolled back.
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
    if (cached && (!isThere || (isLate && current === cached))) {
      this.cache.delete(keyOf(request))
      return await this.#read(request, isLate)
    }
    if (!cached) refuseHalf(request, current.state, first)
    if (current !== cached && current.revision !== noStream) this.#remember(request, current)
    return { current, earlier }
  }

  async #readWhole<Result> (
    { userId = '', commandId }: Pick<Origin, 'userId' | 'commandId'>, read: () => Promise<Result>
  ): Promise<Result> {
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
      return { ...outcome, isAppended: true }
    } catch (error) {
      if (error instanceof RevisionConflict) return undefined
      this.cache.delete(keyOf(request))
      throw error
    }
  }
}
