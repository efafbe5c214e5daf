// Knows whether the event store answers reads and takes writes, looks again by itself, and lets nobody wait meanwhile.
import { randomUUID } from 'node:crypto'
import {
  AppendOutcomeUnknown, AppendTooLarge, EventStoreUnavailable, RevisionConflict, StreamGone, NoAnswer
} from './errors.js'
import { Outages, type CallKind, type OutageLog } from './connection/outage.js'
import { noStream, type Streams } from './streams.js'
import { withTimeout } from '../timing/with-timeout.js'

export interface Availability {
  /** Streams whose calls are noticed. */
  streams: Streams
  /** @throws what calls fail with now */
  assertAnswers (): Promise<void>
  /** @throws what an append is refused with */
  assertTakesWrites (): Promise<void>
  /** Ends the looking. */
  close (): void
}

/** Between two looks during an outage. */
const lookEveryMs = 1_000

const probeStream = 'ringledger-write-probe'

/** No stream of ours comes so far: an append there is decided by the store, and writes nothing. */
const neverReached = 10n ** 12n

export function watchAvailability (streams: Streams, log: OutageLog): Availability {
  const watch = new Watch(streams, log)
  return {
    streams: {
      read: (...given) => watch.call('read', () => streams.read(...given)),
      visit: (...given) => watch.call('read', () => streams.visit(...given)),
      limitOf: (stream) => streams.limitOf(stream),
      last: (...given) => watch.call('read', () => streams.last(...given)),
      head: () => watch.call('read', () => streams.head()),
      scavenge: () => watch.call('read', () => streams.scavenge()),
      truncate: (...given) => watch.call('read', () => streams.truncate(...given)),
      append: (...given) => watch.call('append', () => streams.append(...given)),
      delete: (...given) => watch.call('append', () => streams.delete(...given)),
      follow: (options) => watch.follow(options),
      lookNow: () => streams.lookNow?.()
    },
    assertAnswers: () => watch.assertAnswers(),
    assertTakesWrites: () => watch.assertTakesWrites(),
    close: () => watch.close()
  }
}

class Watch {
  readonly #outages: Outages
  readonly #shared: SharedLook
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor (private readonly streams: Streams, log: OutageLog) {
    this.#outages = new Outages(log)
    this.#shared = new SharedLook(() => streams.head())
  }

  async call<Result> (kind: CallKind, work: () => Promise<Result>): Promise<Result> {
    if (this.#outages.isOut) await this.#noticed('read', () => this.#shared.join())
    return await this.#noticed(kind, work)
  }

  async * follow (options: Parameters<Streams['follow']>[0]): ReturnType<Streams['follow']> {
    try {
      yield * this.streams.follow(options)
    } catch (error) {
      this.#notice('read', error)
      throw error
    }
  }

  async assertAnswers (): Promise<void> {
    const { now } = this.#outages
    if (now?.kind === 'read') throw now.error
    await this.call('read', () => this.streams.head())
  }

  async assertTakesWrites (): Promise<void> {
    const { now } = this.#outages
    if (now) throw now.error
    await this.#probe(neverReached)
  }

  close (): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #noticed<Result> (kind: CallKind, work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work()
      this.#outages.answered(kind)
      return result
    } catch (error) {
      this.#notice(kind, error)
      throw error
    }
  }

  #notice (kind: CallKind, error: unknown): void {
    if (isAnswer(error)) return this.#outages.answered(kind)
    if (!(error instanceof EventStoreUnavailable || error instanceof AppendOutcomeUnknown)) return
    this.#outages.failed(kind, error)
    this.#lookAgain()
  }

  #lookAgain (): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => void this.#look(), lookEveryMs).unref()
  }

  /** After an append that failed, only one that is written proves that all is well. */
  async #look (): Promise<void> {
    const since = performance.now() - lookEveryMs / 2
    try {
      await this.#noticed('read', () => this.streams.head())
      if (this.#outages.now?.kind === 'append') {
        const last = await this.#noticed('read', () => this.streams.last(probeStream))
        await this.#probe(last?.revision ?? noStream)
      }
      this.#outages.endUnlessFailedSince(since)
    } catch {
      // noticed
    }
    this.#timer = undefined
    if (this.#outages.now) this.#lookAgain()
  }

  async #probe (at: bigint): Promise<void> {
    const probe = { id: randomUUID(), type: 'WriteProbed', data: {}, metadata: {} }
    await this.#noticed('append', () => this.streams.append(probeStream, [probe], at))
      .catch((error: unknown) => { if (!isAnswer(error)) throw error })
  }
}

/** The store has decided about the append itself. */
const isAnswer = (error: unknown) =>
  [RevisionConflict, StreamGone, AppendTooLarge].some((decided) => error instanceof decided)

/** Calls wait no longer than this to learn it. */
const patienceMs = 500

/** Calls that wait for each other would each look anew: what a look has found counts for so long. */
const countsForMs = 100

class SharedLook {
  #looking: Promise<void> | undefined
  #failed: { at: number, error: unknown } | undefined

  constructor (private readonly look: () => Promise<unknown>) {}

  /** @throws EventStoreUnavailable */
  async join (): Promise<void> {
    if (this.#failed && performance.now() - this.#failed.at < countsForMs) throw this.#failed.error
    await (this.#looking ??= this.#lookNow().finally(() => { this.#looking = undefined }))
  }

  async #lookNow (): Promise<void> {
    try {
      await withTimeout(patienceMs, this.look(), () => new NoAnswer(patienceMs))
      this.#failed = undefined
    } catch (cause) {
      const error = cause instanceof EventStoreUnavailable ? cause : new EventStoreUnavailable('it is silent', { cause })
      this.#failed = { at: performance.now(), error }
      throw error
    }
  }
}
