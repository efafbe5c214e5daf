// An outage of the event store, from the first call that it fails until it has answered for a while.
import { AccessRefused, AppendOutcomeUnknown } from '../errors.js'
import { lostReasonOf } from './causes.js'

/** What fails: a store without a leader answers reads and takes no append. */
export type CallKind = 'read' | 'append'

export interface OutageLog {
  info (details: object, message: string): void
  warn (details: object, message: string): void
}

interface Outage {
  /** `append` as soon as an append has failed. */
  kind: CallKind
  beganAt: number
  /** Of the last call that failed, and of the last one of its kind that did not. */
  failedAt: number
  answeredAt: number
  /** Whether it was told that rights or a login are missing. */
  isRefusalTold: boolean
  error: Error
  counts: { failed: number, unknown_outcomes: number }
}

/** Tells each outage twice, when it begins and when it ends, and not of each call that it fails. */
export class Outages {
  #now: Outage | undefined

  constructor (private readonly log: OutageLog) {}

  /** Of the present outage. */
  get now (): { kind: CallKind, error: Error } | undefined {
    return this.#now
  }

  /** Whether the last call failed. */
  get isOut (): boolean {
    return this.#now !== undefined && this.#now.failedAt >= this.#now.answeredAt
  }

  answered (kind: CallKind): void {
    if (this.#now && (kind === 'append' || this.#now.kind === 'read')) this.#now.answeredAt = performance.now()
  }

  failed (kind: CallKind, error: Error): void {
    const isRefusal = error instanceof AccessRefused
    if (!this.#now || (isRefusal && !this.#now.isRefusalTold)) this.#tell(kind, error, isRefusal)
    const now = this.#now ??= begun(kind, error)
    now.isRefusalTold ||= isRefusal
    if (kind === 'append') now.kind = kind
    now.failedAt = performance.now()
    now.error = error
    now.counts.failed += 1
    if (error instanceof AppendOutcomeUnknown) now.counts.unknown_outcomes += 1
  }

  /** Ends it unless a call has failed since `since`. */
  endUnlessFailedSince (since: number): void {
    if (!this.#now || this.#now.failedAt >= since || this.isOut) return
    const { beganAt, counts } = this.#now
    this.#now = undefined
    const seconds = Math.round((performance.now() - beganAt) / 100) / 10
    this.log.info({ seconds, ...counts }, 'The event store is available again.')
  }

  /** A right that is lost while the store cannot be reached is told as well; a lost call after a lost right is not. */
  #tell (kind: CallKind, error: Error, isRefusal: boolean): void {
    const what = isRefusal ? 'The event store refuses access.' : 'The event store is not available.'
    this.log.warn({ calls: kind === 'append' ? 'appends' : 'reads', reason: lostReasonOf(error) }, what)
  }
}

function begun (kind: CallKind, error: Error): Outage {
  const beganAt = performance.now()
  const counts = { failed: 0, unknown_outcomes: 0 }
  return { kind, beganAt, failedAt: beganAt, answeredAt: -Infinity, isRefusalTold: false, error, counts }
}
