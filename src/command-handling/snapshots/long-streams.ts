// Reads streams from their beginning, or from what a long one was folded to before.
import type { DomainEvent } from '../../domain/events.js'
import type { StoredEvent } from '../../domain/stored-event.js'
import type { Streams } from '../../event-store/streams.js'
import type { CommandRequest } from '../command-request.js'
import type { Folded } from '../folded-stream.js'
import { keyOf } from '../stream-cache.js'
import type { Snapshot, Snapshots } from './snapshots.js'

/** So many events are read before anybody asks for a snapshot: most streams end before. */
const firstPart = 200
/** Between two snapshots of a stream. */
const everyEvents = 500n

type Request<State, Event extends DomainEvent> =
  Pick<CommandRequest<State, Event>, 'aggregate' | 'stream' | 'origin'>

/** Where a read is, and how it goes on. */
interface Reading<State> {
  current (): Folded<State>
  next (stored: StoredEvent): void
  /** Goes on behind a snapshot. Its state was made of JSON, as the events are that it was folded from. */
  jump (to: Folded<State>): void
}

export class LongStreams {
  constructor (private readonly streams: Pick<Streams, 'read' | 'visit'>, private readonly snapshots?: Snapshots) {}

  /**
   * All events of a stream, or the first ones and those behind a snapshot. A retry sees all of them, as one of them may
   * be its own. False when the stream is not there.
   * @throws as `visit`
   */
  async visit<State, Event extends DomainEvent> (
    request: Request<State, Event>, { current, next, jump }: Reading<State>
  ): Promise<boolean> {
    const { snapshots } = this
    const { aggregate: { foldVersion }, stream, origin } = request
    if (!snapshots || foldVersion === undefined || origin.isRetry) return await this.streams.visit(stream, 0n, next)
    let [count, last] = [0, '']
    const taken = (stored: StoredEvent) => {
      count += 1
      last = stored.id
      next(stored)
    }
    const isThere = await this.streams.visit(stream, 0n, taken, firstPart)
    if (count < firstPart) return isThere
    const snapshot = await snapshots.find(keyOf(request), foldVersion).catch(() => undefined)
    if (snapshot && snapshot.folded.revision > current().revision && await this.#isIn(stream, snapshot)) {
      jump(snapshot.folded as Folded<State>) // the version of the fold says so
      count = 0
    }
    const isThereStill = await this.streams.visit(stream, current().revision + 1n, taken)
    if (count >= everyEvents) snapshots.keep(keyOf(request), foldVersion, { folded: current(), eventId: last })
    return isThereStill
  }

  /** Keeps what the stream is now, every so many events. */
  appended<State, Event extends DomainEvent> (
    request: Request<State, Event>, before: bigint, snapshot: Snapshot
  ): void {
    const { foldVersion } = request.aggregate
    if (foldVersion === undefined || snapshot.folded.revision / everyEvents === before / everyEvents) return
    this.snapshots?.keep(keyOf(request), foldVersion, snapshot)
  }

  /** The log has the very event that the snapshot ends with: it did not go back, and is no other one. */
  async #isIn (stream: string, { folded, eventId }: Snapshot): Promise<boolean> {
    const [last] = await this.streams.read(stream, folded.revision, 1)
    return last?.id === eventId && last.revision === folded.revision
  }
}
