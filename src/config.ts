// Turns the environment into a checked, frozen Config; reports every setting that is wrong at once, by name.
import ipaddr from 'ipaddr.js'
import Type, { type Static } from 'typebox'
import { inWords } from './domain/json.js'
import type { FieldErrors } from './domain/rejection.js'
import { collect, type Problem } from './domain/validation.js'
import { defaultSchedule } from './domain/webhook/schedule.js'
import { eventStoreProblems } from './event-store/connection/settings.js'
import { withCaFile } from './event-store/connection/client-url.js'
import { openAjv, refusedTexts } from './http/input/ajv.js'
import { jwtProblems, jwtSettings, roleMapOf } from './http/auth/jwt-settings.js'
import { corsOrigins, noOriginIn } from './http/cors.js'
import { fieldErrors, type SchemaError } from './http/input/schema-errors.js'

const Flag = (value: boolean) => Type.Enum(['true', 'false', '1', '0'], { default: String(value) })
const random = 'for instance from `openssl rand -base64 32`'
const LongSecret = Type.Optional(Type.String({
  minLength: 32, pattern: '^(?!([^])\\1*$)', ...inWords(`must not be one character repeated: take random ones, ${random}`)
}))
const Milliseconds = (value: number, minimum = 0) => Type.Integer({ minimum, default: value })
const Text = (pattern: string, words: string, value = '') => Type.String({ default: value, pattern, ...inWords(words) })
const OldSecrets = Text('^([^,]{32,}(,[^,]{32,})*)?$', 'must be former keys of 32 characters or more, separated by commas')
const Matching = (pattern: string, words: string) => Type.Optional(Type.String({ pattern, ...inWords(words) }))
const Url = (protocols: string, example: string) => Matching(`^(${protocols})://.+`, `must be a URL such as ${example}`)
const webhookSecret = '^whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'

/** Every setting, with its default. `.env.example` says what each is for. */
const Environment = Type.Object({
  HOST: Type.String({ default: '127.0.0.1' }),
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 3000 }),
  BASE_PATH: Text('^(/[A-Za-z0-9._~-]+)*/?$', 'must be a path such as /api'),
  EVENTSTORE_CA_FILE: Type.Optional(Type.String()),
  EVENTSTORE_URL: Url('esdb|esdb\\+discover|kurrentdb|kurrentdb\\+discover', 'esdb://localhost:2113?tls=false'),
  DATABASE_URL: Url('postgres|postgresql', 'postgres://user:password@localhost:5432/ringledger'),
  REDIS_URL: Url('redis|rediss', 'redis://localhost:6379'),
  DATA_DIR: Type.String({ default: '.ringledger' }),
  EMBEDDED_EVENTSTORE_PORT: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
  JWT_SECRET: LongSecret,
  JWT_JWKS_URL: Url('https', 'https://issuer.example.com/.well-known/jwks.json'),
  JWT_ISSUER: Type.Optional(Type.String()),
  JWT_AUDIENCE: Type.Optional(Type.String()),
  JWT_ROLE_CLAIM: Type.String({ default: 'role' }),
  JWT_ROLE_MAP: Type.String({ default: '' }),
  CORS_ORIGINS: Type.String({ default: '' }),
  SECRET_KEY: LongSecret,
  SECRET_KEY_PREVIOUS: OldSecrets,
  LEAD_DIGEST_KEY: LongSecret,
  READ_MODEL_WAIT_MS: Milliseconds(1_000),
  RATE_LIMIT_PER_MINUTE: Type.Integer({ minimum: 0, default: 600 }),
  STREAM_CACHE_MB: Type.Integer({ minimum: 0, maximum: 65_536, default: 64 }),
  WEBHOOK_SCHEDULE: Text('^\\d+(ms|s|m|h)(,\\d+(ms|s|m|h))*$',
    'must be the waits before each attempt, such as 0s,5s,5m,2h', defaultSchedule),
  WEBHOOK_TIMEOUT_MS: Milliseconds(15_000, 100),
  WEBHOOK_ALLOW_HTTP: Flag(false),
  WEBHOOK_RETENTION_DAYS: Type.Integer({ minimum: 1, maximum: 36_500, default: 90 }),
  WEBHOOK_ALLOW_CIDRS: Type.String({ default: '' }),
  ALERT_WEBHOOK_URL: Url('https?', 'https://alerts.example.com/ringledger'),
  ALERT_WEBHOOK_SECRET: Matching(webhookSecret, `must be whsec_ and 24 to 64 bytes in base64, ${random}`),
  METRICS_TOKEN: LongSecret,
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], { default: 'info' })
})
type Environment = Static<typeof Environment>

/** Where the back ends are; `start` runs an absent one itself. */
export type BackEndUrls = Partial<Record<'eventStoreUrl' | 'databaseUrl' | 'redisUrl', string | undefined>>

/** Durations are milliseconds. */
export type Config = Readonly<ReturnType<typeof toConfig>>

/** Every setting that is wrong, one line each. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings'
  constructor (readonly errors: FieldErrors) {
    const lines = Object.entries(errors).flatMap(([name, problems]) => problems.map((problem) => `${name} ${problem}`))
    super(lines.join('\n'))
  }
}

/** Reads the settings; an empty value counts as not set. @throws BadSettings */
export function loadConfig (environment: NodeJS.ProcessEnv): Config {
  const names = Object.keys(Environment.properties)
  const values = Object.fromEntries(names.flatMap((name) => environment[name] ? [[name, environment[name]]] : []))
  const validate = openAjv({ coerceTypes: true, useDefaults: true }).compile<Environment>(Environment)
  const refused = fieldErrors(refusedTexts(validate, Environment, values) as SchemaError[])
  const errors = collect(refused, crossRules(values))
  if (Object.keys(errors).length > 0) throw new BadSettings(errors)
  return Object.freeze(toConfig(values as unknown as Environment)) // validate() filled in the defaults
}

/** Rules between settings. They ask only which are set, so they hold beside what the schema refused. */
function crossRules (env: Partial<Environment>): Problem[] {
  const problems = [...jwtProblems(env), ...eventStoreProblems(env)]
  const problem = (field: string, message: string) => { problems.push({ field, message }) }
  const noRange = env.WEBHOOK_ALLOW_CIDRS?.split(',').find((cidr) => cidr && !isRange(cidr))
  if (noRange) problem('WEBHOOK_ALLOW_CIDRS', `must be address ranges such as 127.0.0.0/8,::1/128; ${noRange} is not one`)
  const noOrigin = noOriginIn(env.CORS_ORIGINS ?? '')
  if (noOrigin) problem('CORS_ORIGINS', `must be * or origins such as https://app.example.com; ${noOrigin} is not one`)
  const isOnePort = env.PORT && env.PORT === env.EMBEDDED_EVENTSTORE_PORT
  if (isOnePort) problem('EMBEDDED_EVENTSTORE_PORT', `must not be that of PORT, ${env.PORT}: choose another for one of them`)
  if (!env.EVENTSTORE_URL && !env.DATABASE_URL && !env.REDIS_URL) return problems
  const why = `is required as soon as EVENTSTORE_URL, DATABASE_URL or REDIS_URL is set: 32 random characters or more, ${random}`
  if (!env.JWT_SECRET && !env.JWT_JWKS_URL) problem('JWT_SECRET', `(or JWT_JWKS_URL) ${why}`)
  if (!env.SECRET_KEY) problem('SECRET_KEY', why)
  if (!env.LEAD_DIGEST_KEY) problem('LEAD_DIGEST_KEY', why)
  return problems
}

const isRange = (cidr: string) => ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr) || ipaddr.IPv6.isValidCIDR(cidr)

function toConfig (env: Environment) {
  const { EVENTSTORE_URL: url, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = env
  const eventStoreUrl = url && withCaFile(url, env.EVENTSTORE_CA_FILE)
  const backEnds: BackEndUrls = { eventStoreUrl, databaseUrl, redisUrl }
  return {
    host: env.HOST,
    port: env.PORT,
    /** Without a slash at its end; empty for none. */
    basePath: env.BASE_PATH.replace(/\/$/, ''),
    dataDir: env.DATA_DIR,
    /** 0 for any free one; absent for one that `start` keeps. */
    embeddedEventStorePort: env.EMBEDDED_EVENTSTORE_PORT,
    logLevel: env.LOG_LEVEL,
    backEnds,
    /** Absent, like the two keys below, only where a run without any URL makes its own. */
    jwt: jwtSettings(env),
    jwtRoleClaim: env.JWT_ROLE_CLAIM,
    jwtRoleMap: roleMapOf(env.JWT_ROLE_MAP),
    corsOrigins: corsOrigins(env.CORS_ORIGINS),
    secretKey: env.SECRET_KEY,
    previousSecretKeys: env.SECRET_KEY_PREVIOUS.split(',').filter(Boolean),
    leadDigestKey: env.LEAD_DIGEST_KEY,
    readModelWaitMs: env.READ_MODEL_WAIT_MS,
    streamCacheBytes: env.STREAM_CACHE_MB * 2 ** 20,
    /** Requests of one user; 0 for no limit. */
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
    /** Lets a scraper read /metrics; without it only operators may. */
    metricsToken: env.METRICS_TOKEN,
    alert: { url: env.ALERT_WEBHOOK_URL, secret: env.ALERT_WEBHOOK_SECRET },
    webhook: {
      schedule: env.WEBHOOK_SCHEDULE,
      timeoutMs: env.WEBHOOK_TIMEOUT_MS,
      allowHttp: env.WEBHOOK_ALLOW_HTTP === 'true' || env.WEBHOOK_ALLOW_HTTP === '1',
      allowCidrs: env.WEBHOOK_ALLOW_CIDRS.split(',').filter(Boolean),
      retentionDays: env.WEBHOOK_RETENTION_DAYS
    }
  }
}
