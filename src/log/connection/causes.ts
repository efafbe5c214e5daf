// Why a call to the event store failed, in words that say what to mend.

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
