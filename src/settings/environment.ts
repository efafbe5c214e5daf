// Every setting, its default and what it may be.
import Type, { type Static } from 'typebox'
import { inWords } from '../domain/json.js'
import { defaultSchedule } from '../features/webhooks/outcome.js'
import { secretNames } from './secret-files.js'

const Flag = (value: boolean) => Type.Enum(['true', 'false', '1', '0'], { default: String(value) })
export const random = 'for instance from `openssl rand -base64 32`'
const LongSecret = Type.Optional(Type.String({
  minLength: 32, pattern: '^(?!([^])\\1{31,}$)', ...inWords(`must not be one character repeated: take random ones, ${random}`)
}))
const Whole = (minimum: number, maximum: number, value: number) => Type.Integer({ minimum, maximum, default: value })
/** A timer that is to wait longer fires at once. */
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

/** What is wrong with a URL whose scheme is right. Programs would read another host in it, or none. */
export function urlProblem (field: string, url: string): { field: string, message: string } | undefined {
  const whole = new RegExp(`^(?!.*%(?![\\da-f]{2}))[a-z]+://([^\\s/?#]*@)?${rest[field] ?? `${host}([/?#].*)?`}$`, 'i')
  if (!/^[a-z]+:\/\/./.test(url) || whole.test(url)) return undefined
  const end = field === 'REDIS_URL' ? ', and no more after them than a number' : ''
  const message = `must name a host, and a port up to 65535 if any${end}; ` +
    'in a user and a password, @ : / ? # and % stand as %40 %3A %2F %3F %23 and %25'
  return { field, message }
}

/** Of little more than a year at most. */
const wait = '(\\d{1,9}ms|\\d{1,8}s|\\d{1,6}m|\\d{1,4}h)'
const webhookSecret = '^whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'

/** Every setting, with its default. `.env.example` says what each is for. */
export const Environment = Type.Object({
  HOST: Type.String({ default: '127.0.0.1' }),
  PORT: Whole(0, 65_535, 3000),
  BASE_PATH: Text('^(/[A-Za-z0-9._~-]+)*/?$', 'must be a path such as /api'),
  PUBLIC_URL: Matching('^https?://[^\\s/?#@]+(/[A-Za-z0-9._~-]+)*/?$', 'must be a URL such as https://api.example.com'),
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
  WEBHOOK_TIMEOUT_MS: Milliseconds(15_000, 100),
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

/** Those above, those of files, and what is set for us elsewhere: POSTGRES_PASSWORD for Compose. */
export const settingNames: readonly string[] = [
  ...Object.keys(Environment.properties), ...secretNames.map((name) => `${name}_FILE`), 'POSTGRES_PASSWORD'
]
