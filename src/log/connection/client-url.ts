// The URL of the event store: what is wrong with it, without its password, and as the client reads it.
import { decoded, flat, optionProblems, pairsOf, splitUrl } from './url-options.js'

/** What the client does when the URL does not say: an owner that tries again wants short tries. */
const usual = { maxDiscoverAttempts: 3, gossipTimeout: 2, keepAliveTimeout: 5_000 }

const place = /^(esdb|kurrentdb)(\+discover)?:\/\/([^:@/?\s]+:[^:@/?\s]+@)?[\w.-]+(:\d{1,5})?(,[\w.-]+(:\d{1,5})?)*\/?$/

/** In words that hold nothing of a login. What is no URL of an event store at all has none. */
export function urlProblems (url: string): string[] {
  if (!/^(esdb|kurrentdb)(\+discover)?:\/\/.+/.test(url)) return []
  const [before, query] = splitUrl(url.trim())
  return [...isPlace(before) ? [] : [noPlace], ...optionProblems(query)]
}

function isPlace (before: string): boolean {
  const ports = [...hostsOf(before).matchAll(/:(\d+)/g)].map(([, port]) => Number(port))
  return place.test(before) && decoded(before) !== undefined && ports.every((port) => port > 0 && port < 65_536)
}

const hostsOf = (before: string) => before.replace(/^\w+(\+discover)?:\/\//, '').replace(/^[^@]*@/, '')

const noPlace = 'must be a URL such as esdb://user:password@a:2113,b:2113; write @, :, / and ? in a password as %40, ' +
  '%3A, %2F and %3F, and % as %25'

/** With the CA of EVENTSTORE_CA_FILE, unless the URL names one itself or speaks in plain. */
export function withCaFile (url: string, caFile: string | undefined): string {
  const given = pairsOf(splitUrl(url)[1])
  const isPlain = given.some(([name, value]) => flat(name) === 'tls' && value === 'false')
  if (!caFile || isPlain || given.some(([name]) => flat(name) === 'tlscafile')) return url
  return `${url}${url.includes('?') ? '&' : '?'}tlsCAFile=${encodeURIComponent(caFile)}`
}

/** Without `throwOnAppendFailure` the client would answer a conflict like a success. */
export function clientUrl (eventStoreUrl: string): string {
  const [before, query] = splitUrl(eventStoreUrl.replace(/^kurrentdb/, 'esdb'))
  const given = pairsOf(query).filter(([name]) => flat(name) !== 'throwonappendfailure').map(neverIsLate)
  const names = given.map(([name]) => flat(name))
  const added = Object.entries(usual).filter(([name]) => !names.includes(name.toLowerCase()))
  const all = [...given, ...added, ['throwOnAppendFailure', 'true']]
  return `${before}?${all.map(([name, value]) => `${name}=${value}`).join('&')}`
}

/** The client takes -1 for a time that no timer can wait for, which fires every millisecond. */
const neverIsLate = ([name, value]: [string, string]): [string, string] =>
  [name, flat(name).startsWith('keepalive') && value === '-1' ? String(2 ** 31 - 1) : value]

/** One URL for each host, to ask each of them alone. */
export function eachHost (eventStoreUrl: string): string[] {
  const [, scheme = 'esdb', login = '', hosts = '', query = ''] =
    /^(\w+)(?:\+discover)?:\/\/([^@/?]*@)?([^/?]*)\/?\??(.*)$/.exec(eventStoreUrl) ?? []
  return hosts.split(',').map((host) => `${scheme}://${login}${host}${query && `?${query}`}`)
}

/** Where the URL of a back end leads, without its login. */
export const placeOf = (url: string): string =>
  url.replace(/^[^:]*:\/\//, '').replace(/^.*@/, '').replace(/\?.*$/, '')
