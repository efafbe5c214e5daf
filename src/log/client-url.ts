// Validates the URL of the event store without revealing its password, and converts it for the client.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Defaults for options that the URL omits. Callers retry, so each try is short. */
const usual = { maxDiscoverAttempts: 3, gossipTimeout: 2, keepAliveTimeout: 5_000 }

const place = /^(esdb|kurrentdb)(\+discover)?:\/\/([^:@/?\s]+:[^:@/?\s]+@)?[\w.-]+(:\d{1,5})?(,[\w.-]+(:\d{1,5})?)*\/?$/

/** Messages never quote the login. Something that is no URL of an event store at all yields none. */
function urlProblems (url: string): string[] {
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

const isPlain = ([name, value]: [string, string]) => flat(name) === 'tls' && value === 'false'

/** Adds the CA file, unless the URL names one itself or turns TLS off. */
export function withCaFile (url: string, caFile: string | undefined): string {
  const given = pairsOf(splitUrl(url)[1])
  if (!caFile || given.some(isPlain) || given.some(([name]) => flat(name) === 'tlscafile')) return url
  return `${url}${url.includes('?') ? '&' : '?'}tlsCAFile=${encodeURIComponent(caFile)}`
}

/** What the client ignores in a URL without TLS, and how to fix that; undefined when it ignores nothing. */
export function unusedOf (url: string, setting = settingNames.url): { found: string, mend: string } | undefined {
  const [before, query] = splitUrl(url)
  const given = pairsOf(query)
  const unused = [...before.includes('@') ? ['login'] : [], ...given.flatMap(([name]) => files[flat(name)] ?? [])]
  if (unused.length === 0 || !given.some(isPlain)) return undefined
  const found = `${setting} has tls=false, and without TLS the client does not use its ${unused.join(' and ')}`
  return { found, mend: `Leave out tls=false, or the ${unused.join(' and ')}.` }
}

/** Without `throwOnAppendFailure` the client reports a conflict like a success. */
export function clientUrl (eventStoreUrl: string): string {
  const [before, query] = splitUrl(eventStoreUrl.replace(/^kurrentdb/, 'esdb'))
  const given = pairsOf(query).filter(([name]) => flat(name) !== 'throwonappendfailure').map(neverIsLate)
  const names = given.map(([name]) => flat(name))
  const added = Object.entries(usual).filter(([name]) => !names.includes(name.toLowerCase()))
  const all = [...given, ...added, ['throwOnAppendFailure', 'true']]
  return `${before}?${all.map(([name, value]) => `${name}=${value}`).join('&')}`
}

/** The client turns -1 into a delay too long for a timer, which then fires every millisecond. */
const neverIsLate = ([name, value]: [string, string]): [string, string] =>
  [name, flat(name).startsWith('keepalive') && value === '-1' ? String(2 ** 31 - 1) : value]

/** One URL per host, to query each member separately. */
export function eachHost (eventStoreUrl: string): string[] {
  const [, scheme = 'esdb', login = '', hosts = '', query = ''] =
    /^(\w+)(?:\+discover)?:\/\/([^@/?]*@)?([^/?]*)\/?\??(.*)$/.exec(eventStoreUrl) ?? []
  return hosts.split(',').map((host) => `${scheme}://${login}${host}${query && `?${query}`}`)
}

/** The URL of a back end without scheme, login and query. */
export const placeOf = (url: string): string =>
  splitUrl(url)[0].replace(/^[^:]*:\/\//, '').replace(/^.*@/, '')

const flag = /^(true|false)$/
/** Beyond 2^31-1 ms a timer fires at once, so nine digits are enough. */
const count = /^[1-9]\d{0,8}$/
const countOrNone = /^\d{1,9}$/
const countOrNever = /^(-1|[1-9]\d{0,8})$/
/** The client stops reading at a `?`. */
const text = /^[^?]+$/

/** Lower case, as the client takes any. It would print the whole URL for an option that is not listed here. */
const options: Record<string, RegExp> = {
  connectionname: text,
  defaultdeadline: count,
  discoveryinterval: countOrNone,
  gossiptimeout: count,
  keepaliveinterval: countOrNever,
  keepalivetimeout: countOrNever,
  maxdiscoverattempts: count,
  nodepreference: /^(leader|follower|random|read_?-?only_?-?replica)$/i,
  throwonappendfailure: flag,
  tls: flag,
  tlscafile: text,
  tlsverifycert: /^true$/,
  usercertfile: text,
  userkeyfile: text
}

const verified = 'asks not to verify certificates (tlsVerifyCert), which the client always does: set EVENTSTORE_CA_FILE'

/** In the order of the options. Messages quote names but never values. */
function optionProblems (query: string): string[] {
  const names = pairsOf(query).map(([name]) => flat(name))
  const hasHalf = names.includes('usercertfile') !== names.includes('userkeyfile')
  const problems = pairsOf(query).flatMap(([name, value]) => {
    const allowed = options[flat(name)]
    if (!allowed) return `has an option that is not known: ${name}`
    if (flat(name) === 'tlsverifycert' && value === 'false') return verified
    return allowed.test(value) && decoded(value) !== undefined ? [] : `has a value that ${name} cannot have`
  })
  return hasHalf ? [...problems, 'has one of userCertFile and userKeyFile, which go together'] : problems
}

/** Undefined when a `%` escape is malformed. */
function decoded (value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}

/** Names as the client compares them. */
const flat = (name: string) => name.trim().toLowerCase().replace(/[_-]/g, '')

function pairsOf (query: string): Array<[string, string]> {
  return query.split('&').filter(Boolean).map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [name, value.join('=').trim()]
  })
}

function splitUrl (url: string): [before: string, query: string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

interface Settings {
  EVENTSTORE_URL?: string | undefined
  EVENTSTORE_CA_FILE?: string | undefined
}

/** Names of the settings that problems mention. */
export interface SettingNames { url: string, caFile: string }

export const settingNames: SettingNames = { url: 'EVENTSTORE_URL', caFile: 'EVENTSTORE_CA_FILE' }

/** Problems by setting. Messages never quote the login. */
export function eventStoreProblems (env: Settings, names = settingNames): Array<{ field: string, message: string }> {
  const { EVENTSTORE_URL: url, EVENTSTORE_CA_FILE: caFile } = env
  const problems = urlProblems(url ?? '').map((message) => ({ field: names.url, message }))
  problems.push(...fileProblems(url ?? '').map((message) => ({ field: names.url, message })))
  const wrong = caFile ? caProblem(caFile) : undefined
  if (wrong !== undefined) problems.push({ field: names.caFile, message: `${wrong}: ${caFile}` })
  return problems
}

const files: Record<string, string> = { tlscafile: 'CA file', usercertfile: 'certificate', userkeyfile: 'key' }

function fileProblems (url: string): string[] {
  return pairsOf(splitUrl(url)[1]).flatMap(([name, value]) => {
    const [kind, file] = [files[flat(name)], decoded(value)]
    if (kind === undefined || !file) return []
    const wrong = kind === 'key' ? read(file) === undefined && unreadable : caProblem(file)
    return wrong ? `names a ${kind} that ${wrong}: ${file}` : []
  })
}

const unreadable = 'cannot be read'

/** The client accepts a file without a certificate, and then trusts no server. */
function caProblem (file: string): string | undefined {
  const pem = read(file)
  if (pem === undefined) return unreadable
  try {
    return new X509Certificate(pem) && undefined
  } catch {
    return 'holds no certificate in PEM'
  }
}

function read (file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
