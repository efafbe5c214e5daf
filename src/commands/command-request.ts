// A command on its way to a stream, and what became of the stream.
import type { Aggregate } from '../domain/decider.js'
import type { DomainEvent } from '../domain/events.js'
import type { Folded } from './folded-stream.js'
import type { Sender } from './proposed.js'

/** Who sent a command, and how it is recognised in the stream. */
export interface Origin extends Sender {
  /** The stream may have the events of an earlier try: they are looked for first. */
  isRetry?: boolean
}

/** How long a command waits for others, in milliseconds. */
export const waitMs = 5_000

/** Others kept the stream busy for too long; nothing was written. */
export class StreamBusy extends Error {
  override readonly name = 'StreamBusy'
  constructor (commandId: string) {
    super(`command ${commandId} waited for others for ${waitMs} ms`)
  }
}

export interface CommandRequest<State, Event extends DomainEvent> {
  aggregate: Aggregate<State, Event>
  stream: string
  /** The events that follow; asked again when another process wrote first. @throws Rejection */
  decide (state: State): Event[]
  origin: Origin
  /** The stream is most likely new: decide without a read. What is refused on an empty stream stays refused. */
  isNew?: boolean | undefined
  /** Only for the stream's owner. To others it is as if it were not there, and no more than its first event is read. */
  isForOwner?: boolean | undefined
  /** The caller's condition, asked last: what is refused anyway is told so. @throws Rejection */
  condition?: ((present: Pick<Folded<State>, 'state' | 'stateRevision'>) => void) | undefined
}

/** The stream after the command, whether or not it led to events. */
export interface Outcome<State> extends Folded<State> {
  /** An earlier try led to the events. */
  wasHandled?: true
  /** This try led to the events. */
  isAppended?: true
}
