// An outage of the event store, from the first call that it fails until it has answered for a while.
import { AccessRefused, AppendOutcomeUnknown } from './errors.js'

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

/** Why the connection of a process ended that had one: what is wrong with the settings is not the reason. */
export function lostReasonOf (error: unknown): string {
  const reason = reasonOf(error)
  return reason.startsWith(endedAtOnce) ? reason.replace(endedAtOnce, 'the connection was lost') : reason
}

/** The innermost cause says most; what the library says of TLS and names is put into words. */
export function reasonOf (error: unknown): string {
  const messages = chainOf(error).map(({ message }) => message)
  const innermost = messages.at(-1) ?? String(error)
  const words = known.find(([pattern]) => messages.some((message) => pattern.test(message)))?.[1]
  const told = short(innermost)
  if (words === undefined) return told
  return ['null', ''].includes(told) ? words : `${words} (${told})`
}

function chainOf (error: unknown): Error[] {
  const chain: Error[] = []
  for (let each = error; each instanceof Error && chain.length < 10; each = each.cause) chain.push(each)
  return chain
}

/** grpc-js adds a date and notes of its own. */
const short = (message: string) =>
  message.replace(/^\d+ [A-Z_]+: /, '').replace(/^No connection established\. Last error: /, '')
    .replace(/\s*\(\d{4}-\d\d-\d\dT[^)]*\)/, '').replace(/\.? Resolution note: *$/, '').replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, 300)

const endedAtOnce =
  'it ended the connection at once: it may want TLS (then leave out tls=false), or the port is of something else'

const known: Array<[RegExp, string]> = [
  [/Server Is Not Ready|No leader info/, 'it has no leader, or is still starting'],
  [/UNAUTHENTICATED/, 'it refuses the login'],
  [/PERMISSION_DENIED|Access ?Denied/i, 'it refuses the right to what is asked'],
  [/certificate has expired/i, 'its certificate has expired'],
  [/altnames|Hostname\/IP does not match/i, 'its certificate is for other host names'],
  [/self.signed|unable to (verify|get)|certificate/i,
    'its certificate is not trusted: set EVENTSTORE_CA_FILE to the CA that signed it'],
  [/wrong version number|packet length too long|EPROTO/i, 'it speaks without TLS: add tls=false to the URL'],
  [/ENOTFOUND|EAI_AGAIN|Name resolution failed/i, 'its host name is not known'],
  [/ECONNREFUSED/, 'nothing listens at its address'],
  [/Failed to discover/, 'no member of the cluster was found'],
  [/Last error: null|Failed to connect|ECONNRESET|Connection dropped|socket hang up|Protocol error|Parse Error/i,
    endedAtOnce]
]
