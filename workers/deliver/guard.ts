// Which addresses may be reached: what users type as a webhook URL must never lead into our own network.
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'

export interface GuardOptions {
  /** Ranges that are reachable although they are private, for development: `127.0.0.0/8`. */
  allowCidrs: readonly string[]
}

export interface UrlRules extends GuardOptions {
  allowHttp: boolean
}

/** Turns a name into addresses. @throws an error with a `code`, as node:dns does */
export type Resolve = (hostname: string) => Promise<string[]>

/** The request was not sent: its address must not be reached. */
export class Blocked extends Error {
  override readonly name = 'Blocked'
}

export class NameNotResolved extends Error {
  override readonly name = 'NameNotResolved'
}

const longestUrl = 2_048
const connectTimeoutMs = 5_000
/** TLS sessions, by host: the next connection to it resumes one. */
export const maxCachedSessions = 1_000
// Node's default of 250 ms gives up on distant receivers that have more than one address.
const perAddressMs = 2_000

// IANA special-purpose registries; IPv6 is allowed only inside 2000::/3, the assigned part.
const blockedV4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4'
].map((cidr) => ipaddr.IPv4.parseCIDR(cidr))
const assignedV6 = ipaddr.IPv6.parseCIDR('2000::/3')
const blockedV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((cidr) => ipaddr.IPv6.parseCIDR(cidr))

/** Why the address `ip` may not be reached, or nothing when it may. */
export function blockedReason (ip: string, allowCidrs: readonly string[]): string | undefined {
  if (isIP(ip) === 0) return `${ip} is not an IP address`
  const address = ipaddr.process(isIP(ip) === 6 ? inHex(ip) : ip) // unmaps ::ffff:a.b.c.d
  if (allowCidrs.some((cidr) => isInside(address, cidr))) return undefined
  const isBlocked = address instanceof ipaddr.IPv4
    ? blockedV4.some((range) => address.match(range))
    : !address.match(assignedV6) || blockedV6.some((range) => address.match(range))
  return isBlocked ? `${ip} is a private or reserved address` : undefined
}

/** Removes zone and dots: ipaddr.js mistakes ::a.b.c.d for the mapped ::ffff:a.b.c.d, which is another address. */
function inHex (ip: string): string {
  return bare(new URL(`http://[${ip.replace(/%.*/, '')}]/`).hostname)
}

function isInside (address: ipaddr.IPv4 | ipaddr.IPv6, cidr: string): boolean {
  const [range, bits] = ipaddr.parseCIDR(cidr)
  return range.kind() === address.kind() && address.match([range, bits])
}

/**
 * Why `url` may not be stored as a webhook URL, as words that follow the name of the field; nothing when it may.
 * It does not resolve names: every connection does that, and checks the addresses.
 */
export function webhookUrlProblem (url: string, { allowHttp, allowCidrs }: UrlRules): string | undefined {
  const absolute = allowHttp ? 'must be an absolute https or http URL' : 'must be an absolute https URL'
  if ([...url].length > longestUrl) return `must not be longer than ${longestUrl} characters`
  // URL parsing drops white space and control characters; what is stored must be what is called.
  if (!/^https?:\/\/[^\s\p{Cc}\\/?#][^\s\p{Cc}\\]*$/iu.test(url) || !URL.canParse(url)) return absolute
  const { protocol, username, password, port, hostname } = new URL(url)
  if (protocol !== 'https:' && !allowHttp) return absolute
  if (username !== '' || password !== '') return 'must not contain a user name or a password'
  if (!isAllowedPort(port)) return 'must use port 80, 443 or one from 1024 up'
  const literal = bare(hostname)
  const isBlocked = isIP(literal) !== 0 && blockedReason(literal, allowCidrs) !== undefined
  return isBlocked ? 'must not point to a private or reserved address' : undefined
}

const isAllowedPort = (port: string) => port === '' || port === '80' || port === '443' || Number(port) >= 1024

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/**
 * A connector for undici that connects to checked addresses only. Literal addresses are checked here, as the
 * `lookup` hook never sees them; names are resolved once, inside the hook, and what the hook returns is what is
 * connected to, so there is no moment between check and connection. TLS still verifies the name of the URL.
 */
export function guardedConnector (
  { allowCidrs }: GuardOptions, resolve: Resolve = resolveName
): buildConnector.connector {
  const lookup: LookupFunction = (hostname, _options, callback) => {
    checkedAddresses(hostname, resolve, allowCidrs).then(
      (addresses) => callback(null, addresses),
      (error: Error) => callback(error, []))
  }
  const connect = buildConnector({
    allowH2: false,
    maxCachedSessions,
    timeout: connectTimeoutMs,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: perAddressMs
  })
  return (options, callback) => {
    const refusal = refusedTarget(options, allowCidrs)
    if (refusal !== undefined) callback(new Blocked(refusal), null)
    else connect({ ...options, servername: serverName(options) }, callback)
  }
}

/** Without a dot at its end, which no name in TLS has (RFC 6066, section 3). */
const serverName = ({ servername, hostname }: buildConnector.Options) =>
  hostname.endsWith('.') ? hostname.slice(0, -1) : servername

function refusedTarget ({ hostname, port }: buildConnector.Options, allowCidrs: readonly string[]): string | undefined {
  if (!isAllowedPort(port)) return `port ${port} is not one of 80, 443 and those from 1024 up`
  const literal = bare(hostname)
  return isIP(literal) === 0 ? undefined : blockedReason(literal, allowCidrs)
}

async function checkedAddresses (hostname: string, resolve: Resolve, allowCidrs: readonly string[]) {
  const found = await resolve(hostname)
  const allowed = found.filter((address) => blockedReason(address, allowCidrs) === undefined)
  if (found.length === 0) throw new NameNotResolved(`${hostname} has no address`)
  // Without the address: users must not learn our network from their delivery log.
  if (allowed.length === 0) throw new Blocked(`${hostname} resolves to a private or reserved address`)
  return allowed.map((address) => ({ address, family: isIP(address) }))
}

/**
 * Queries the name servers itself, not the system's getaddrinfo, whose four threads one slow name server
 * could occupy for all users. `localhost` is loopback by RFC 6761 and is never resolved.
 * @param servers those of the system when none is given
 */
export async function resolveName (hostname: string, servers: readonly string[] = []): Promise<string[]> {
  if (/(^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1']
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = answers.flatMap((answer) => answer.status === 'fulfilled' ? answer.value : [])
  const [failure] = answers.flatMap((answer): unknown[] => answer.status === 'rejected' ? [answer.reason] : [])
  if (addresses.length === 0) throw new NameNotResolved(`${hostname} could not be resolved`, { cause: failure })
  return addresses
}
