// Explains trouble with Redis and how to mend it; a start and the doctor say the same.
import { placeOf } from '../../src/log/client-url.js'

export interface Trouble { found: string, mend: string }

type Log = { warn (details: object, message: string): void }

/** The oldest version that BullMQ supports. */
const oldest = [6, 2] as const

/** Why the Redis of REDIS_URL did not answer. */
export function whyAway (url: string, error: unknown): Trouble {
  const { code, message } = error instanceof Error ? { code: codeOf(error), message: reasonOf(error) } : { code: '', message: String(error) }
  const [, words, mend] = away.find(([when]) => when.test(code) || when.test(message)) ?? usual
  return { found: `Redis at ${placeOf(url)} ${words}: ${message.replace(/\.$/, '')}`, mend }
}

const usual = [/$/, 'did not answer', 'Check that it runs, and that REDIS_URL leads to it, with rediss:// only where it takes TLS.'] as const
const away: ReadonlyArray<readonly [when: RegExp, words: string, mend: string]> = [
  [/^(WRONGPASS|NOAUTH|NOPERM)|invalid (username|password)|without any password/, 'refuses the login of REDIS_URL',
    'Set its user and password, redis://user:password@host:6379; characters such as @ / # stand as %40 %2F %23.'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'was not found', 'Check how REDIS_URL spells the host, and the name server of this machine.'],
  [/wrong version number|ERR_SSL/i, 'takes no TLS', 'Begin REDIS_URL with redis:// instead of rediss://.'],
  [/^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|ERR_TLS_CERT)/, 'has a certificate that is not trusted',
    'Name its CA with NODE_EXTRA_CA_CERTS, and the host in REDIS_URL as the certificate does.'],
  [/^Protocol error/, 'does not speak as Redis does', 'Let REDIS_URL lead to Redis; where it asks for TLS, begin it with rediss://.'],
  [/DB index is out of range/, 'has no such database', 'Name another number at the end of REDIS_URL, or none.']
]

const codeOf = (error: Error) => 'code' in error ? String(error.code) : ''
const reasonOf = (error: Error): string => error instanceof AggregateError
  ? error.errors.map((each: Error) => each.message).join(', ')
  : error.message || codeOf(error)

/** Trouble in the answer to `INFO`. */
export function troubleIn (info: string): { version?: Trouble | undefined, policy?: Trouble | undefined } {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? ''
  const [version, policy] = [field('redis_version'), field('maxmemory_policy')]
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = version !== '' && (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
  return {
    version: isOld ? { found: version, mend: `Run Redis ${oldest.join('.')} or later.` } : undefined,
    policy: ['', 'noeviction'].includes(policy)
      ? undefined
      : { found: `${policy}: jobs vanish when memory is short`, mend: 'Set maxmemory-policy to noeviction.' }
  }
}

/** A Redis that comes and goes is logged no more often. */
const quietMs = 60_000

const tellers = new WeakMap<Log, ReturnType<typeof openTeller>>()

export function redisTeller (url: string, log: Log) {
  const teller = tellers.get(log) ?? openTeller(url, log)
  tellers.set(log, teller)
  return teller
}

function openTeller (url: string, log: Log) {
  let isAway = false
  let last = { found: '', at: -Infinity }
  const said = new Set<string>()
  return {
    /** It cannot be reached: logs one line for all connections of a process until it is back. */
    away (error: unknown) {
      const { found, mend } = whyAway(url, error)
      const isSaid = isAway || (found === last.found && performance.now() - last.at < quietMs)
      isAway = true
      if (isSaid) return
      last = { found, at: performance.now() }
      log.warn({}, `${found}. ${mend}`)
    },
    /** It answers. */
    there (info = '') {
      isAway = false
      for (const [name, trouble] of Object.entries(info === '' ? {} : troubleIn(info))) {
        if (trouble === undefined || said.has(trouble.found)) continue
        said.add(trouble.found)
        const what = name === 'policy' ? 'maxmemory-policy' : name
        log.warn({}, `Redis at ${placeOf(url)} (REDIS_URL) has ${what} ${trouble.found}. ${trouble.mend}`)
      }
    }
  }
}
