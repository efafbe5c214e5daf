// A read that ends: of a stream or of $all, either way.
import { isHidden } from '../../feed/filter.js'
import type { RecordedEvent } from '../../log/event.js'
import type { EventLog } from '../../log/log.js'
import { firstVisible, isFresh, type StreamState } from '../../log/stream-state.js'
import { streamDeleted, unforeseen } from '../errors.js'
import type { streams } from '../generated.js'
import { streamName, toNumber } from '../requests.js'
import { requestedFilter } from './requested-filter.js'
import type { Responses } from './responses.js'

/** How many events EventStoreDB looks at for its first answer. */
const firstLook = 32

export class FiniteRead {
  readonly #log: EventLog
  readonly #options: streams.ReadReq.Options
  readonly #responses: Responses
  readonly #isForward: boolean
  readonly #count: number

  constructor (log: EventLog, options: streams.ReadReq.Options, responses: Responses) {
    this.#log = log
    this.#options = options
    this.#responses = responses
    this.#isForward = options.getReadDirection() === 0
    this.#count = toNumber(options.getCount())
  }

  async ofStream (options: streams.ReadReq.Options.StreamOptions): Promise<void> {
    const stream = streamName(options.getStreamIdentifier())
    this.#check(options)
    const state = await this.#log.reader.stream(stream)
    const head = this.#log.head // not before the state: what that shows must be in reach
    if (state.isTombstoned) throw streamDeleted(stream)
    if (state.isMissing) return await this.#responses.streamNotFound(options)
    const first = firstVisible(state)
    const revision = options.hasRevision() ? toNumber(options.getRevision()) : undefined
    const from = this.#isForward ? Math.max(first, revision ?? 0) : first
    const to = this.#isForward ? state.last : Math.min(state.last, revision ?? (options.hasStart() ? 0 : state.last))
    const pages = this.#log.reader.streamPages(stream, { direction: this.#direction, from, to }, head, this.#count)
    const tellsPlaces = (this.#options.getControlOption()?.getCompatibility() ?? 0) >= 1
    if (tellsPlaces && this.#isForward) await this.#tellWhereItBegins(state, revision ?? 0)
    await this.#send(pages, (event) => isFresh(state, event))
    if (tellsPlaces) await this.#responses.lastStreamPosition(state.last)
  }

  async ofAll (options: streams.ReadReq.Options.AllOptions): Promise<void> {
    this.#check(options)
    const position = options.hasPosition() ? positionOf(options) : undefined
    const head = this.#log.head
    if (position !== undefined && position > head) throw noSuchPosition()
    const filter = requestedFilter(this.#options)
    const from = this.#isForward ? position ?? 1 : 1
    const to = this.#isForward ? head : options.hasStart() ? 0 : (position ?? head + 1) - 1
    const pages = this.#log.reader.allPages({ direction: this.#direction, from, to }, this.#count)
    await this.#send(pages, (event) => !isHidden(event) && (filter?.matches(event) ?? true))
  }

  get #direction () {
    return this.#isForward ? 'forward' as const : 'backward' as const
  }

  #check (options: { hasEnd (): boolean }): void {
    if (this.#count === 0) throw unforeseen('A read asks for one event at least')
    if (this.#isForward && options.hasEnd()) throw unforeseen('Nothing is read forwards from the end')
  }

  /** Said where the events that are looked at first have all gone, or have not come. */
  async #tellWhereItBegins (state: StreamState, from: number): Promise<void> {
    const isPastTheEnd = from > state.last
    const isGone = from + Math.min(firstLook, this.#count) <= firstVisible(state)
    const begins = isPastTheEnd ? state.last + 1 : Math.min(firstVisible(state), state.last + 1)
    if ((isPastTheEnd || isGone) && begins !== from) await this.#responses.firstStreamPosition(begins)
  }

  async #send (pages: AsyncGenerator<RecordedEvent[]>, isWanted: (event: RecordedEvent) => boolean): Promise<void> {
    let left = this.#count
    for await (const page of pages) {
      const wanted = page.filter(isWanted).slice(0, left)
      await this.#responses.events(wanted)
      left -= wanted.length
      if (left <= 0 || this.#responses.areOver) return
    }
  }
}

/** @throws Refusal for one that no event has: both numbers of every event are the same */
function positionOf (options: streams.ReadReq.Options.AllOptions): number {
  const commit = options.getPosition()?.getCommitPosition() ?? '0'
  if (options.getPosition()?.getPreparePosition() !== commit) throw noSuchPosition()
  return toNumber(commit)
}

const noSuchPosition = () => unforeseen('Unexpected ReadAllResult: InvalidPosition')
