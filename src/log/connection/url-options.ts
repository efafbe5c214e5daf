// The options that a URL of an event store may have, and which values the client can take.

const flag = /^(true|false)$/
/** Beyond 2^31-1 ms a timer fires at once, so nine digits are enough. */
const count = /^[1-9]\d{0,8}$/
const countOrNone = /^\d{1,9}$/
const countOrNever = /^(-1|[1-9]\d{0,8})$/
/** The client reads no further than a `?`. */
const text = /^[^?]+$/

/** In lower case: the client takes any case, and prints the whole URL for an option that it does not know. */
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

/** Of a query, in the order of its options; with names and never with values. */
export function optionProblems (query: string): string[] {
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

/** Without what `%` escapes; `undefined` when that is no text. */
export function decoded (value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}

/** As the client compares names. */
export const flat = (name: string) => name.trim().toLowerCase().replace(/[_-]/g, '')

export function pairsOf (query: string): Array<[string, string]> {
  return query.split('&').filter(Boolean).map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [name, value.join('=').trim()]
  })
}

/** A URL up to its first `?`, and what comes after it. */
export function splitUrl (url: string): [before: string, query: string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}
