// The URL of the event store: what is wrong with it, without its password, and as the client reads it.

/** What the client does when the URL does not say: an owner that tries again wants short tries. */
const usual = { maxDiscoverAttempts: 3, gossipTimeout: 2, keepAliveTimeout: 5_000 }

const flag = /^(true|false)$/
const count = /^-?\d+$/
const any = /^/

/** Options of the client, in lower case: it takes any case, and prints the whole URL for one that it does not know. */
const options: Record<string, RegExp> = {
  connectionname: any,
  defaultdeadline: count,
  discoveryinterval: count,
  gossiptimeout: count,
  keepaliveinterval: count,
  keepalivetimeout: count,
  maxdiscoverattempts: count,
  nodepreference: /^(leader|follower|random|read_?-?only_?-?replica)$/i,
  throwonappendfailure: flag,
  tls: flag,
  tlscafile: any,
  tlsverifycert: /^true$/,
  usercertfile: any,
  userkeyfile: any
}

const place = /^(esdb|kurrentdb)(\+discover)?:\/\/([^:@/?\s]+:[^:@/?\s]+@)?[\w.-]+(:\d{1,5})?(,[\w.-]+(:\d{1,5})?)*\/?$/

/** In words that hold nothing of a login. What is no URL of an event store at all has none. */
export function urlProblems (url: string): string[] {
  if (!/^(esdb|kurrentdb)(\+discover)?:\/\/.+/.test(url)) return []
  const [before = '', query = ''] = url.trim().split('?', 2)
  const problems = place.test(before) ? [] : [noPlace]
  for (const [name, value] of pairsOf(query)) {
    const allowed = options[flat(name)]
    if (!allowed) problems.push(`has an option that is not known: ${name}`)
    else if (flat(name) === 'tlsverifycert' && value === 'false') problems.push(verified)
    else if (!allowed.test(value) || value === '') problems.push(`has a value that ${name} cannot have`)
  }
  return problems
}

const noPlace = 'must be a URL such as esdb://user:password@a:2113,b:2113; write @, :, / and ? in a password as %40, ' +
  '%3A, %2F and %3F'
const verified = 'asks not to verify certificates (tlsVerifyCert), which the client always does: set EVENTSTORE_CA_FILE'

/** With the CA of EVENTSTORE_CA_FILE, unless the URL names one itself or speaks in plain. */
export function withCaFile (url: string, caFile: string | undefined): string {
  const given = pairsOf(url.split('?', 2)[1] ?? '')
  const isPlain = given.some(([name, value]) => flat(name) === 'tls' && value === 'false')
  if (!caFile || isPlain || given.some(([name]) => flat(name) === 'tlscafile')) return url
  return `${url}${url.includes('?') ? '&' : '?'}tlsCAFile=${encodeURIComponent(caFile)}`
}

/** Without `throwOnAppendFailure` the client would answer a conflict like a success. */
export function clientUrl (eventStoreUrl: string): string {
  const [before = '', query = ''] = eventStoreUrl.replace(/^kurrentdb/, 'esdb').split('?', 2)
  const given = pairsOf(query).filter(([name]) => flat(name) !== 'throwonappendfailure')
  const names = given.map(([name]) => flat(name))
  const added = Object.entries(usual).filter(([name]) => !names.includes(name.toLowerCase()))
  const all = [...given, ...added, ['throwOnAppendFailure', 'true']]
  return `${before}?${all.map(([name, value]) => `${name}=${value}`).join('&')}`
}

/** One URL for each host, to ask each of them alone. */
export function eachHost (eventStoreUrl: string): string[] {
  const [, scheme = 'esdb', login = '', hosts = '', query = ''] =
    /^(\w+)(?:\+discover)?:\/\/([^@/?]*@)?([^/?]*)\/?\??(.*)$/.exec(eventStoreUrl) ?? []
  return hosts.split(',').map((host) => `${scheme}://${login}${host}${query && `?${query}`}`)
}

/** As the client compares names. */
const flat = (name: string) => name.trim().toLowerCase().replace(/[_-]/g, '')

function pairsOf (query: string): Array<[string, string]> {
  return query.split('&').filter(Boolean).map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [name, value.join('=').trim()]
  })
}
