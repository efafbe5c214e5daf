// Errors of the event store, by what may have been written, and their reasons in words for operators.
import { AccessDeniedError, NotLeaderError, UnavailableError } from '@eventstore/db-client'

/** Another writer was first: the stream is not at the expected revision, and nothing was written. */
export class RevisionConflict extends Error {
  override readonly name = 'RevisionConflict'
}

/** The stream was hard-deleted: nobody can ever write to it again. */
export class StreamGone extends Error {
  override readonly name = 'StreamGone'
}

/** Metadata hides events that every decision needs, or a scavenge removed them. An operator must repair the stream. */
export class StreamTruncated extends Error {
  override readonly name = 'StreamTruncated'
  constructor (stream: string, metadata: string) {
    super(`the stream ${stream} lacks its earlier events, as its metadata has ${metadata}: take that away, ` +
      'and restore a backup if they were scavenged')
  }
}

/** The event store is unreachable or takes no call now; nothing was written. */
export class EventStoreUnavailable extends Error {
  override readonly name: string = 'EventStoreUnavailable'
}

/** The event store refuses the login or the right to this call; nothing was written. An operator must fix it. */
export class AccessRefused extends EventStoreUnavailable {
  override readonly name = 'AccessRefused'
}

/** The append was sent and not answered: it may be written. The same append at the same revision finds out. */
export class AppendOutcomeUnknown extends Error {
  override readonly name = 'AppendOutcomeUnknown'
}

/** The events are larger than the store takes in one append; nothing was written. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge'
}

/** The log is not the one that this database has followed, or is an older state of it. Consumers must not read it. */
export class OtherLog extends Error {
  override readonly name = 'OtherLog'
}

export const adoptAdvice = 'stop every role, run `ringledger events adopt`, and start again'

export const older = (what: string) => new OtherLog(
  `${what}: it is older than this database, or another log. Check EVENTSTORE_URL; ` +
  'if the log was restored from a backup, restore the newer one, or one of Postgres that is no newer than the log. ' +
  `If the events that are missing are lost for good, ${adoptAdvice}.`)

export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  constructor (ms: number) {
    super(`no answer within ${ms} ms`)
  }
}

const known = [RevisionConflict, StreamGone, EventStoreUnavailable, AppendOutcomeUnknown, AppendTooLarge]

/** `Outages` logs the beginning and the end of an outage, so callers need not log each of these errors. */
export function isOfOutage (error: unknown): boolean {
  return error instanceof EventStoreUnavailable || error instanceof AppendOutcomeUnknown
}

/** Translates an error of an append. Unless it proves otherwise, the append may have been written. */
export function appendError (cause: unknown): Error {
  if (cause instanceof Error && known.some((each) => cause instanceof each)) return cause
  if (isRefusedAccess(cause)) return new AccessRefused(refused, { cause })
  if (cause instanceof NotLeaderError || wasNotTaken(cause)) return new EventStoreUnavailable(unreachable, { cause })
  return new AppendOutcomeUnknown('the event store did not say whether it wrote the events', { cause })
}

/** Translates an error of a read, which cannot have written anything. */
export function readError (cause: unknown): Error {
  if (cause instanceof EventStoreUnavailable) return cause
  if (isRefusedAccess(cause)) return new AccessRefused(refused, { cause })
  return new EventStoreUnavailable(unreachable, { cause })
}

/** Translates an error of a subscription; keeps one that is not about the connection as it is. */
export function subscriptionError (cause: unknown): unknown {
  const isKnown = isOfConnection(cause) || isRefusedAccess(cause) || cause instanceof NoAnswer
  return isKnown ? readError(cause) : cause
}

const unreachable = 'the event store cannot be reached'
const refused = 'the event store refuses access'

/** Checks the code too, since the client has no class for PERMISSION_DENIED without a trailer. */
function isRefusedAccess (cause: unknown): boolean {
  if (cause instanceof AccessDeniedError) return true
  return cause instanceof Error && 'code' in cause && refusals.some((code) => code === cause.code)
}

const refusals = [7, 16] // PERMISSION_DENIED, UNAUTHENTICATED

/**
 * A member without a leader, or with too much to do, refuses an append before it looks at it. The embedded event store
 * says `nothing was written` when it has no Postgres or no disk space.
 */
export const saysNotReady = (message: string) => notReadyWords.test(message)

const notReadyWords = /Server Is (Not Ready|Too Busy|Busy)|No leader info available|nothing was written/

/** Only the message of grpc-js tells that a call failed before a connection existed, so that nothing was sent. */
function wasNotTaken (cause: unknown): boolean {
  return cause instanceof Error && (neverSentWords.test(cause.message) || saysNotReady(cause.message))
}

const neverSentWords = /No connection established|Name resolution failed|Failed to discover|ECONNREFUSED|Channel closed before call started|Channel has been shut down/

/** Whether a new client should replace the one that met this error. */
export function isOfConnection (cause: unknown): boolean {
  if (cause instanceof UnavailableError || wasNotTaken(cause)) return true
  return cause instanceof Error && lostWords.test(cause.message)
}

const lostWords = /^1 CANCELLED: (?!Cancelled on client)|RST_STREAM|write after end/

/** The reason for a process that was connected before: wrong settings cannot be the cause. */
export function lostReasonOf (error: unknown): string {
  const reason = reasonOf(error)
  return reason.startsWith(endedAtOnce) ? reason.replace(endedAtOnce, 'the connection was lost') : reason
}

/** Returns the innermost cause, and explains the library's messages about TLS and host names. */
export function reasonOf (error: unknown): string {
  const messages = chainOf(error).map(({ message }) => message)
  const innermost = messages.at(-1) ?? String(error)
  const words = inWords.find(([pattern]) => messages.some((message) => pattern.test(message)))?.[1]
  const told = short(innermost)
  if (words === undefined) return told
  return ['null', ''].includes(told) ? words : `${words} (${told})`
}

function chainOf (error: unknown): Error[] {
  const chain: Error[] = []
  for (let each = error; each instanceof Error && chain.length < 10; each = each.cause) chain.push(each)
  return chain
}

/** Strips the date and the notes that grpc-js adds. */
const short = (message: string) =>
  message.replace(/^\d+ [A-Z_]+: /, '').replace(/^No connection established\. Last error: /, '')
    .replace(/\s*\(\d{4}-\d\d-\d\dT[^)]*\)/, '').replace(/\.? Resolution note: *$/, '').replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, 300)

const endedAtOnce =
  'it ended the connection at once: it may want TLS (then leave out tls=false), or the port is of something else'

const inWords: Array<[RegExp, string]> = [
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
