// What can go wrong between us and the event store, by what may have been written, and why, in words.
import { AccessDeniedError, NotLeaderError, UnavailableError } from '@eventstore/db-client'

/** The stream is not at the expected revision: somebody else wrote first, and nothing of ours was written. */
export class RevisionConflict extends Error {
  override readonly name = 'RevisionConflict'
}

/** The stream was deleted for good: nothing can be written to it any more. */
export class StreamGone extends Error {
  override readonly name = 'StreamGone'
}

/** Metadata of the stream hides events that every decision needs, or a scavenge took them. An operator mends it. */
export class StreamTruncated extends Error {
  override readonly name = 'StreamTruncated'
  constructor (stream: string, metadata: string) {
    super(`the stream ${stream} lacks its earlier events, as its metadata has ${metadata}: take that away, ` +
      'and restore a backup if they were scavenged')
  }
}

/** The event store cannot be reached or takes no call now, and nothing of ours can have been written. */
export class EventStoreUnavailable extends Error {
  override readonly name: string = 'EventStoreUnavailable'
}

/** The event store refuses the login or the right to this call, so nothing was written. An operator mends it. */
export class AccessRefused extends EventStoreUnavailable {
  override readonly name = 'AccessRefused'
}

/** The append left and no answer came: it was written or not. The same append at the same revision finds out. */
export class AppendOutcomeUnknown extends Error {
  override readonly name = 'AppendOutcomeUnknown'
}

/** The events are larger than the store takes in one append; nothing was written. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge'
}

/** The log is not the one that this database has followed, or an older state of it: nothing is fed from it. */
export class OtherLog extends Error {
  override readonly name = 'OtherLog'
}

export const adoptAdvice = 'stop every role, run `ringledger events adopt`, and start again'

/** Said of a log that lacks its end. */
export const older = (what: string) => new OtherLog(
  `${what}: it is older than this database, or another log. Check EVENTSTORE_URL; ` +
  'if the log was restored from a backup, restore the newer one, or one of Postgres that is no newer than the log. ' +
  `If the events that are missing are lost for good, ${adoptAdvice}.`)

/** Nothing came for as long as the caller wanted to wait. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  constructor (ms: number) {
    super(`no answer within ${ms} ms`)
  }
}

const known = [RevisionConflict, StreamGone, EventStoreUnavailable, AppendOutcomeUnknown, AppendTooLarge]

/** The log tells of an outage when it begins and when it ends, and so not of each call that it fails. */
export function isOfOutage (error: unknown): boolean {
  return error instanceof EventStoreUnavailable || error instanceof AppendOutcomeUnknown
}

/** Translates what ended an append: one whose end says nothing else may have been written. */
export function appendError (cause: unknown): Error {
  if (cause instanceof Error && known.some((each) => cause instanceof each)) return cause
  if (isRefusedAccess(cause)) return new AccessRefused(refused, { cause })
  if (cause instanceof NotLeaderError || wasNotTaken(cause)) return new EventStoreUnavailable(unreachable, { cause })
  return new AppendOutcomeUnknown('the event store did not say whether it wrote the events', { cause })
}

/** Translates what the client threw while reading: a read that fails has written nothing. */
export function readError (cause: unknown): Error {
  if (cause instanceof EventStoreUnavailable) return cause
  if (isRefusedAccess(cause)) return new AccessRefused(refused, { cause })
  return new EventStoreUnavailable(unreachable, { cause })
}

/** Translates what ended a subscription; one that the store dropped while it goes on is left as it is. */
export function subscriptionError (cause: unknown): unknown {
  const isKnown = isOfConnection(cause) || isRefusedAccess(cause) || cause instanceof NoAnswer
  return isKnown ? readError(cause) : cause
}

const unreachable = 'the event store cannot be reached'
const refused = 'the event store refuses access'

/** By class or by code, since the client has no class for PERMISSION_DENIED without a trailer. */
function isRefusedAccess (cause: unknown): boolean {
  if (cause instanceof AccessDeniedError) return true
  return cause instanceof Error && 'code' in cause && refusals.some((code) => code === cause.code)
}

const refusals = [7, 16] // PERMISSION_DENIED, UNAUTHENTICATED

/**
 * A member that has no leader, or too much to do, says so before it looks at an append. The embedded event store has
 * words of its own for it, when it has no Postgres or no room.
 */
export const saysNotReady = (message: string) => notReadyWords.test(message)

const notReadyWords = /Server Is (Not Ready|Too Busy|Busy)|No leader info available|nothing was written/

/** grpc-js says in words when a call failed before a connection existed, so that not one byte was sent. */
function wasNotTaken (cause: unknown): boolean {
  return cause instanceof Error && (neverSentWords.test(cause.message) || saysNotReady(cause.message))
}

const neverSentWords = /No connection established|Name resolution failed|Failed to discover|ECONNREFUSED|Channel closed before call started|Channel has been shut down/

/** Whether the client that met this had better be replaced by a new one. */
export function isOfConnection (cause: unknown): boolean {
  if (cause instanceof UnavailableError || wasNotTaken(cause)) return true
  return cause instanceof Error && lostWords.test(cause.message)
}

const lostWords = /^1 CANCELLED: (?!Cancelled on client)|RST_STREAM|write after end/

/** Why the connection of a process ended that had one: what is wrong with the settings is not the reason. */
export function lostReasonOf (error: unknown): string {
  const reason = reasonOf(error)
  return reason.startsWith(endedAtOnce) ? reason.replace(endedAtOnce, 'the connection was lost') : reason
}

/** The innermost cause says most; what the library says of TLS and names is put into words. */
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

/** grpc-js adds a date and notes of its own. */
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
