// Every setting, its default and what it may be. NAME_FILE may name a file that holds the secret NAME. Also finds names
// that are probably misspelt settings.
import Type, { type Static } from 'typebox'
import { inWords } from './domain/json.js'
import { problem } from './domain/rejection.js'
import { defaultSchedule } from './features/webhooks/outcome.js'
import { NotText, readText } from './text-files.js'

const Flag = (value: boolean) => Type.Enum(['true', 'false', '1', '0'], { default: String(value) })
export const random = 'for instance from `openssl rand -base64 32`'
const LongSecret = Type.Optional(Type.String({
  minLength: 32, pattern: '^(?!([^])\\1{31,}$)', ...inWords(`must not be one character repeated: take random ones, ${random}`)
}))
const Whole = (minimum: number, maximum: number, value: number) => Type.Integer({ minimum, maximum, default: value })
/** Node fires a timer at once that is to wait longer than this. */
const Milliseconds = (value: number, minimum = 0) => Whole(minimum, 2 ** 31 - 1, value)
const Text = (pattern: string, words: string, value = '') => Type.String({ default: value, pattern, ...inWords(words) })
const oldSecret = '\\s*[^,\\s][^,]{30,}[^,\\s]\\s*'
const OldSecrets = (what: string) => Text(
  `^(${oldSecret}(,${oldSecret})*)?$`, `must be former ${what} of 32 characters or more, separated by commas`)
const Matching = (pattern: string, words: string) => Type.Optional(Type.String({ pattern, ...inWords(words) }))
const Url = (protocols: string, example: string) => Matching(`^(${protocols})://.+`, `must be a URL such as ${example}`)

const port = '(:(?!(6553[6-9]|655[4-9]\\d|65[6-9]\\d\\d|6[6-9]\\d{3}|[7-9]\\d{4})\\b)\\d{1,5})?'
const host = `(\\[[\\da-f:.]+\\]|[^\\s/?#@:[\\]]+)${port}`
const rest: Record<string, string> = {
  DATABASE_URL: `(${host}|(?=[^?]*\\?(.*&)?host=))(/[^@?#]*)?(\\?[^#]*)?`,
  REDIS_URL: `${host}(/\\d*)?(\\?[^#]*)?`
}

/** Checks a URL whose scheme is right: programs could read another host in it, or none, or drop it as no URL. */
export function urlProblem (field: string, url: string): { field: string, message: string } | undefined {
  const whole = new RegExp(`^(?!.*%(?![\\da-f]{2}))[a-z]+://([^\\s/?#]*@)?${rest[field] ?? `${host}([/?#].*)?`}$`, 'i')
  if (!/^[a-z]+:\/\/./.test(url) || (whole.test(url) && (field in rest || URL.canParse(url)))) return undefined
  const end = field === 'REDIS_URL' ? ', and no more after them than a number' : ''
  const message = `must name a host, and a port up to 65535 if any${end}; ` +
    'in a user and a password, @ : / ? # and % stand as %40 %3A %2F %3F %23 and %25'
  return { field, message }
}

/** A wait of little more than a year at most. */
const wait = '(\\d{1,9}ms|\\d{1,8}s|\\d{1,6}m|\\d{1,4}h)'
const webhookSecret = '^whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'

/** Every setting, with its default. `.env.example` says what each is for. */
export const Environment = Type.Object({
  HOST: Type.String({ default: '127.0.0.1' }),
  PORT: Whole(0, 65_535, 3000),
  BASE_PATH: Text('^(/[A-Za-z0-9._~-]+)*/?$', 'must be a path such as /api'),
  PUBLIC_URL: Matching('^https?://[^\\s/?#@]+(/[A-Za-z0-9._~-]+)*/?$', 'must be a URL without a query, such as https://api.example.com'),
  EVENTSTORE_CA_FILE: Type.Optional(Type.String()),
  EVENTSTORE_URL: Url('esdb|esdb\\+discover|kurrentdb|kurrentdb\\+discover', 'esdb://localhost:2113?tls=false'),
  DATABASE_URL: Url('postgres|postgresql', 'postgres://user:password@localhost:5432/ringledger'),
  REDIS_URL: Url('redis|rediss', 'redis://localhost:6379'),
  DATA_DIR: Type.String({ default: '.ringledger' }),
  EMBEDDED_EVENTSTORE_PORT: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
  JWT_SECRET: LongSecret,
  JWT_SECRET_PREVIOUS: OldSecrets('secrets'),
  JWT_JWKS_URL: Url('https', 'https://issuer.example.com/.well-known/jwks.json'),
  JWT_ISSUER: Type.Optional(Type.String()),
  JWT_AUDIENCE: Type.Optional(Type.String()),
  JWT_ROLE_CLAIM: Type.String({ default: 'role' }),
  JWT_ROLE_MAP: Type.String({ default: '' }),
  CORS_ORIGINS: Type.String({ default: '' }),
  SECRET_KEY: LongSecret,
  SECRET_KEY_PREVIOUS: OldSecrets('keys'),
  LEAD_DIGEST_KEY: LongSecret,
  READ_MODEL_WAIT_MS: Milliseconds(1_000),
  PROJECTION_REBUILD: Type.Enum(['manual', 'auto'], { default: 'manual' }),
  DRAIN_DELAY_MS: Whole(0, 600_000, 0),
  RATE_LIMIT_PER_MINUTE: Whole(0, 1_000_000, 600),
  STREAM_CACHE_MB: Whole(0, 65_536, 64),
  WEBHOOK_SCHEDULE: Text(`^${wait}(,${wait})*$`, 'must be the waits before each attempt, such as 0s,5s,5m,2h', defaultSchedule),
  WEBHOOK_TIMEOUT_MS: Whole(100, 600_000, 15_000), // claims look for running attempts no further back
  WEBHOOK_ALLOW_HTTP: Flag(false),
  WEBHOOK_RETENTION_DAYS: Whole(1, 36_500, 90),
  WEBHOOK_ALLOW_CIDRS: Type.String({ default: '' }),
  ALERT_WEBHOOK_URL: Url('https?', 'https://alerts.example.com/ringledger'),
  ALERT_WEBHOOK_SECRET: Matching(webhookSecret, `must be whsec_ and 24 to 64 bytes in base64, ${random}`),
  METRICS_TOKEN: LongSecret,
  OTEL_EXPORTER_OTLP_ENDPOINT: Url('https?', 'http://localhost:4318'),
  OTEL_SERVICE_NAME: Type.Optional(Type.String()),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], { default: 'info' })
})
export type Environment = Static<typeof Environment>

/** The settings that may be read from a file; nobody prints their values. */
export const secretNames = [
  'JWT_SECRET', 'JWT_SECRET_PREVIOUS', 'SECRET_KEY', 'SECRET_KEY_PREVIOUS', 'LEAD_DIGEST_KEY', 'DATABASE_URL', 'REDIS_URL',
  'EVENTSTORE_URL', 'METRICS_TOKEN', 'ALERT_WEBHOOK_SECRET'
] as const

/** Settings, those of files, and POSTGRES_PASSWORD, which Compose needs. */
export const settingNames: readonly string[] = [
  ...Object.keys(Environment.properties), ...secretNames.map((name) => `${name}_FILE`), 'POSTGRES_PASSWORD'
]

interface WithFiles {
  /** Each NAME_FILE is replaced by NAME, where that could be done. */
  values: NodeJS.ProcessEnv
  /** Problems of the others; `field` is the one to mend. */
  problems: Array<ReturnType<typeof problem>>
  /** The settings that these problems are about: nobody knows whether more is wrong with them. */
  unknown: string[]
}

/**
 * Reads the files that are named. An empty setting counts as not set. Ignores line ends around a secret, wherever it
 * stands: editors, shells and `kubectl create secret` add them.
 */
export function withFiles (environment: NodeJS.ProcessEnv, names: readonly string[] = secretNames): WithFiles {
  const read: WithFiles = { values: { ...environment }, problems: [], unknown: [] }
  for (const name of names) {
    const setting = `${name}_FILE`
    const [file, given] = [environment[setting], environment[name]]
    if (!file && !given) continue
    const found = !file ? visible(name, given ?? '') : given ? both(name, setting) : contentOf(setting, name, file)
    if ('content' in found) read.values[name] = found.content || given
    else {
      read.problems.push(found)
      read.unknown.push(name)
      delete read.values[name] // so that no other rule refuses it
    }
  }
  return read
}

const both = (name: string, setting: string) => problem(name, `and ${setting} cannot both be set: keep one of them`)

function contentOf (setting: string, name: string, file: string): { content: string } | ReturnType<typeof problem> {
  const refused = (why: string, mend: string) => problem(setting, `names a file that ${why}: ${file}. ${mend}`)
  try {
    const found = visible(name, readText(file))
    if ('message' in found) return refused(controls, writeOnly(name))
    return found.content ? found : refused('is empty', `Write the value of ${name} into it.`)
  } catch (error) {
    if (error instanceof NotText) return refused(`is no text (${error.message})`, writeOnly(name))
    const [why, mend] = reasons[codeOf(error)] ?? [`cannot be read (${codeOf(error)})`, 'Look at the file system.']
    return refused(why, mend.replace('SETTING', setting))
  }
}

const writeOnly = (name: string) => `Write only the value of ${name} into it, in one line.`
const controls = 'holds line ends or other control characters'

function visible (name: string, text: string): { content: string } | ReturnType<typeof problem> {
  const content = text.replace(/^[\r\n]+|[\r\n]+$/g, '')
  return /[\p{Cc}\uFEFF]/u.test(content) ? problem(name, controls) : { content }
}

const reasons: Record<string, [why: string, mend: string]> = {
  ENOENT: ['does not exist', 'Make or mount it there, or set SETTING to where it is.'],
  ENOTDIR: ['does not exist', 'Make or mount it there, or set SETTING to where it is.'],
  EACCES: ['this process may not read', 'Give its user the right to: chown or chmod the file and its folders.'],
  EISDIR: ['is a folder', 'Set SETTING to the file in it.']
}

const codeOf = (error: unknown) => error instanceof Error && 'code' in error ? String(error.code) : 'for an unknown reason'

/** Hardly anything but our settings begins with these; EVENTSTORE_ and REDIS_ are those of the servers, too. */
const prefixes = [
  'ALERT_WEBHOOK_', 'CORS_', 'DRAIN_', 'EMBEDDED_EVENTSTORE_', 'JWT_', 'LEAD_DIGEST_', 'PROJECTION_', 'RATE_LIMIT_',
  'READ_MODEL_', 'STREAM_CACHE_', 'WEBHOOK_'
]

/** Variables that Kubernetes and Docker set in every container for its neighbours. */
const ofNeighbour = /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT(_\d+_(TCP|UDP)(_\w+)?)?$/

/** A line for each name that looks like one of `known` and is none. Ignores variables of other programs. */
export function misspelt (environment: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  const unknown = Object.keys(environment).filter((name) => environment[name] && !known.includes(name))
  return unknown.sort().flatMap((name) => {
    const meant = known.find((ours) => isSlipOf(name, ours))
    if (meant) return [`${name} is no setting: did you mean ${meant}?`]
    if (ofNeighbour.test(name) || !prefixes.some((prefix) => name.startsWith(prefix))) return []
    const near = known.find((ours) => ours.startsWith(name) || name.startsWith(`${ours}_`))
    return [`${name} is no setting${near ? `: did you mean ${near}?` : '; .env.example lists them all'}`]
  })
}

/** A short name counts only with swapped, doubled or lost letters: SORT and POST are no PORT. */
function isSlipOf (name: string, ours: string): boolean {
  if (name.toUpperCase() === ours) return !/^(host|port)$/i.test(name) // which anybody may use
  if (Math.abs(name.length - ours.length) > 2) return false // each letter more or less is a slip
  const slips = slipsBetween(name, ours)
  if (ours.length > 5) return slips <= (ours.length < 10 ? 1 : 2)
  return slips === 1 && name[0] === ours[0] && [...name].every((letter) => ours.includes(letter))
}

/** How many letters were lost, added, mistaken or swapped with their neighbour (optimal string alignment). */
function slipsBetween (one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, index) => index)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= other.length; j++) {
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] && i > 1 && j > 1
      row.push(Math.min(
        at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + Number(one[i - 1] !== other[j - 1]),
        isSwap ? at(i - 2, j - 2) + 1 : Infinity
      ))
    }
  }
  return at(one.length, other.length)
}
