// Appends at exact revisions, and finds out what became of an append that was not answered.
import { setTimeout as delay } from 'node:timers/promises'
import type { Appended, Proposed } from './append-call.js'
import type { EventStoreConnection } from './connection.js'
import { appendError, AppendOutcomeUnknown, EventStoreUnavailable } from './errors.js'
import type { Reader } from './read.js'
import { joinRunning } from '../timing/at-most-every.js'

export interface AppendTimes {
  /** How long the store may leave an append unanswered, in milliseconds. */
  answerWithinMs: number
  /** How long a lost acknowledgement is followed up before the outcome is called unknown, in milliseconds. */
  resolveWithinMs: number
  /**
   * After so many milliseconds without an answer an append first checks that the store is there: an append that was
   * never sent is surely not written.
   */
  quietAfterMs: number
}

export class Appender {
  /** Concurrent appends share one check. */
  readonly #checkThere = joinRunning(() => this.reader.head())

  constructor (
    private readonly connection: EventStoreConnection, private readonly reader: Reader,
    private readonly times: AppendTimes
  ) {}

  async append (stream: string, events: readonly Proposed[], expected: bigint): Promise<Appended> {
    const { answerWithinMs, resolveWithinMs, quietAfterMs } = this.times
    if (performance.now() - this.connection.session.heardAt > quietAfterMs) await this.#checkThere()
    let giveUpAt: number | undefined // set once the outcome of a try is unknown; later failures leave it unknown
    const withinMs = () => Math.min(answerWithinMs, Math.max(1, (giveUpAt ?? Infinity) - Date.now()))
    for (let pause = 50; ; pause *= 2) {
      try {
        return await this.connection.onLeader(async (session) => {
          const ms = withinMs()
          return await (await session.appends(ms)).append(stream, events, expected, ms)
        })
      } catch (error) {
        const failure = appendError(error)
        const isStillUnknown = giveUpAt !== undefined && failure instanceof EventStoreUnavailable
        if (!(failure instanceof AppendOutcomeUnknown) && !isStillUnknown) throw failure
        giveUpAt ??= Date.now() + resolveWithinMs
        const known = await this.#followUp(stream, events, expected, withinMs())
        if (known) return known
        if (Date.now() + pause > giveUpAt) throw new AppendOutcomeUnknown(neverAnswered, { cause: failure })
        await delay(pause)
      }
    }
  }

  /** Whether the stream has the events of an unanswered append after all. */
  async #followUp (
    stream: string, events: readonly Proposed[], expected: bigint, withinMs: number
  ): Promise<Appended | undefined> {
    const written = await this.reader.read(stream, expected + 1n, undefined, withinMs).catch(() => [])
    const last = written[events.length - 1]
    const isOurs = events.every((event, index) => written[index]?.id === event.id)
    return last && isOurs ? { revision: last.revision, position: last.position } : undefined
  }
}

const neverAnswered = 'the event store did not say whether it wrote the events'
