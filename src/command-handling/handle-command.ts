// Handles a command: read, fold, decide, append, answer.
import { setTimeout as delay } from 'node:timers/promises'
import type { Decider } from '../domain/decider.js'
import { currentVersion, decode, type DomainEvent } from '../domain/events.js'
import { Rejection } from '../domain/rejection.js'
import type { NewEvent, StoredEvent } from '../domain/stored-event.js'
import { RevisionConflict } from '../event-store/errors.js'
import { eventId } from '../event-store/event-id.js'
import { noStream, type Proposed, type Streams } from '../event-store/streams.js'

export interface CommandRequest<State, Event extends { type: string }, Command> {
  decider: Decider<State, Event, Command>
  stream: string
  /** Of a stream that others append to as well: events of other types are passed over. Without it each has to be one of ours. */
  onlyTypes?: readonly Event['type'][]
  command: Command
  /** A UUID that stays the same when the command is tried again. */
  commandId: string
  /** Who caused it; absent for the call engine and the command line. */
  userId?: string
  correlationId: string
  /** The stream is most likely new: decide without reading it first. What is refused on an empty stream stays refused. */
  isNew?: boolean
  /** An earlier try may stand in the stream: look for it before deciding. */
  isRetry?: boolean
  /** The caller's condition: the stream must be at one of these revisions. */
  ifRevision?: readonly bigint[] | undefined
  /** Bytes of one encoded event; 900 KiB when absent, which every server version takes with its metadata. */
  largestEvent?: number
}

/** The stream after the command, whether or not it led to events. */
export interface Outcome<State> {
  state: State
  revision: bigint
  /** Of the stream's last event in $all; 0 when it has none. */
  position: bigint
  /** An earlier try led to the events. */
  wasHandled?: true
}

export type HandleCommand = <State, Event extends DomainEvent, Command>(request: CommandRequest<State, Event, Command>) => Promise<Outcome<State>>

export interface CommandHandler {
  /** @throws Rejection, StreamBusy, and the errors of `Streams` */
  handle: HandleCommand
  /** The stream as it was after the event at `revision`. @throws EventStoreUnavailable */
  stateAt<State, Event extends DomainEvent, Command> (request: CommandRequest<State, Event, Command>, revision: bigint): Promise<Outcome<State>>
}

/** Others kept the stream busy for too long; nothing was written. */
export class StreamBusy extends Error {
  override readonly name = 'StreamBusy'
}

const handledWithinMs = 5_000
const cachedStreams = 10_000
const usualLargestEvent = 900 * 1024

/**
 * Commands for one stream queue up inside this process. A conflict with another process reads and decides again,
 * with the same command id and ids. No try begins later than 5 s after the command came.
 */
export function commandHandler (streams: Streams): CommandHandler {
  const queues = new Map<string, Promise<unknown>>()
  const cache = new Map<string, Outcome<unknown>>()

  return { handle, stateAt }

  async function handle<State, Event extends DomainEvent, Command> (request: CommandRequest<State, Event, Command>): Promise<Outcome<State>> {
    const before = queues.get(request.stream) ?? Promise.resolve()
    const giveUpAt = Date.now() + handledWithinMs
    const mine = before.catch(() => {}).then(() => handleNext(request, giveUpAt))
    queues.set(request.stream, mine)
    try {
      return await mine
    } finally {
      if (queues.get(request.stream) === mine) queues.delete(request.stream)
    }
  }

  async function handleNext<State, Event extends DomainEvent, Command> (request: CommandRequest<State, Event, Command>, giveUpAt: number): Promise<Outcome<State>> {
    const { decider, stream, command, commandId } = request
    if (request.isRetry) cache.delete(stream) // a cached state may have passed the earlier try
    let isUnread = request.isNew === true && !request.isRetry && !cache.has(stream)
    for (;; isUnread = false) {
      if (Date.now() > giveUpAt) throw new StreamBusy(`command ${commandId} waited for others for ${handledWithinMs} ms`)
      const current = isUnread ? nothing(decider) : await read(request)
      if (current.handled) return { ...current.handled, wasHandled: true }
      const events = decider.decide(command, current.state)
      if (request.ifRevision?.includes(current.revision) === false) {
        throw new Rejection('revision-mismatch', 'It was changed in the meantime: read it again and send its present ETag.')
      }
      if (events.length === 0) return current
      try {
        const appended = await streams.append(stream, proposed(events, request), current.revision)
        // What was decided is what a reader decodes: the schemas hold both to one shape.
        const state = (events as Event[]).reduce(decider.evolve, current.state)
        return remember(stream, { state, ...appended })
      } catch (error) {
        if (!(error instanceof RevisionConflict)) {
          cache.delete(stream)
          throw error
        }
        await delay(Math.random() * 20)
      }
    }
  }

  /** The stream's present state: the cached one, brought up to date by the tail of the stream. */
  async function read<State, Event extends DomainEvent, Command> ({ decider, stream, onlyTypes, commandId }: CommandRequest<State, Event, Command>): Promise<Outcome<State> & { handled?: Outcome<State> }> {
    // A stream has one kind of decider for ever, so its cached state has that decider's type.
    let current = (cache.get(stream) as Outcome<State> | undefined) ?? nothing(decider)
    let handled: Outcome<State> | undefined
    for (const stored of await streams.read(stream, current.revision + 1n)) {
      const isOurs = onlyTypes === undefined || onlyTypes.some((type) => type === stored.type)
      const state = isOurs ? decider.evolve(current.state, typed<Event>(stored)) : current.state
      current = { state, revision: stored.revision, position: stored.position }
      if (stored.metadata.command_id === commandId) handled = current
    }
    return { ...remember(stream, current), ...(handled && { handled }) }
  }

  async function stateAt<State, Event extends DomainEvent, Command> ({ decider, stream }: CommandRequest<State, Event, Command>, revision: bigint): Promise<Outcome<State>> {
    const events = await streams.read(stream, 0n, Number(revision) + 1)
    return events.reduce<Outcome<State>>(({ state }, stored) => (
      { state: decider.evolve(state, typed<Event>(stored)), revision: stored.revision, position: stored.position }), nothing(decider))
  }

  function remember<State> (stream: string, outcome: Outcome<State>): Outcome<State> {
    cache.delete(stream)
    if (outcome.revision !== noStream) cache.set(stream, outcome)
    const [oldest] = cache.keys()
    if (cache.size > cachedStreams && oldest !== undefined) cache.delete(oldest)
    return outcome
  }
}

const nothing = <State>({ initialState }: { initialState: State }): Outcome<State> & { handled?: undefined } =>
  ({ state: initialState, revision: noStream, position: 0n })

function typed<Event extends DomainEvent> (stored: StoredEvent): Event {
  const event = decode(stored)
  if (!event) throw new Error(`${stored.stream}@${stored.revision} has the unknown type ${stored.type}`)
  return event as Event // by the stream's name: only its own decider appends to it
}

function proposed<State, Event extends DomainEvent, Command> (events: NewEvent[], request: CommandRequest<State, Event, Command>): Proposed[] {
  const { commandId, userId, correlationId, largestEvent = usualLargestEvent } = request
  return events.map(({ type, data }, index) => {
    if (Buffer.byteLength(JSON.stringify(data)) > largestEvent) throw new Rejection('too-large', 'The request is too large.')
    return {
      id: eventId(commandId, index),
      type,
      data,
      metadata: {
        $correlationId: correlationId,
        $causationId: commandId,
        command_id: commandId,
        schema_version: currentVersion(type),
        ...(userId !== undefined && { user_id: userId })
      }
    }
  })
}
