// Turns the environment into a checked, frozen Config; reports every setting that is wrong at once, by name.
import type { ValidateFunction } from 'ajv'
import ipaddr from 'ipaddr.js'
import { collect, type FieldErrors, type Problem } from './domain/rejection.js'
import { isRole, type JwtChecks, type JwtSettings, type Role } from './http/credentials.js'
import { fieldErrors, openAjv, refusedTexts } from './http/field-errors.js'
import { eventStoreProblems, withCaFile } from './log/client-url.js'
import { Environment, random, secretNames, urlProblem, withFiles } from './settings.js'

/** Where the back ends are; `start` runs an absent one itself. */
type BackEndUrls = Partial<Record<'eventStoreUrl' | 'databaseUrl' | 'redisUrl', string | undefined>>

/** Durations are milliseconds. */
export type Config = Readonly<ReturnType<typeof toConfig> & { settings: ShownSetting[] }>

/** Compiled when settings are first read: that takes longer than to check them. */
let compiled: ValidateFunction<Environment> | undefined

/** Reads the settings, and the files that some of them name; an empty value counts as not set. @throws BadSettings */
export function loadConfig (environment: NodeJS.ProcessEnv): Config {
  const { values: given, problems, unknown } = withFiles(environment)
  const names = Object.keys(Environment.properties)
  const values = Object.fromEntries(names.flatMap((name) => given[name] ? [[name, given[name]]] : []))
  const validate = compiled ??= openAjv({ coerceTypes: true, useDefaults: true }).compile<Environment>(Environment)
  const refused = fieldErrors(refusedTexts(validate, Environment, values))
  const ofUrls = urls.filter((name) => !refused[name]).flatMap((field) => urlProblem(field, values[field] ?? '') ?? [])
  const between = crossRules(values).filter((found) => found && !unknown.includes(found.field))
  const errors = collect(refused, [...ofUrls, ...between, ...problems])
  if (Object.keys(errors).length > 0) throw new BadSettings(errors, environment)
  const settings = shownSettings(names, values, given)
  return Object.freeze({ ...toConfig(values as unknown as Environment), settings }) // validate() filled in the defaults
}

/** A setting for operators: no secret, and of a URL only the origin, as its path may be one. */
interface ShownSetting { name: string, value: string | null, is_set: boolean }

function shownSettings (names: string[], values: object, given: NodeJS.ProcessEnv): ShownSetting[] {
  return names.map((name) => {
    const set: unknown = Reflect.get(values, name)
    const isSecret = secretNames.some((secret) => secret === name)
    const text = set === undefined || isSecret ? null : String(set)
    const value = text !== null && isUrl(name) ? new URL(text).origin : text
    return { name, value, is_set: Boolean(given[name]) }
  })
}

const isUrl = (name: string) => /_(URL|ENDPOINT)$/.test(name)

const urls = [
  'DATABASE_URL', 'REDIS_URL', 'JWT_JWKS_URL', 'ALERT_WEBHOOK_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'PUBLIC_URL'
] as const

/** Rules between settings. They also run where the schema refused some of them. */
function crossRules (env: Partial<Environment>): Problem[] {
  const problems: Problem[] = []
  const problem = (field: string, message: string) => { problems.push({ field, message }) }
  if (env.JWT_JWKS_URL) {
    if (env.JWT_SECRET) problem('JWT_SECRET', 'and JWT_JWKS_URL cannot both be set: choose one')
    const hasFormer = entriesOf(env.JWT_SECRET_PREVIOUS ?? '').length > 0
    if (hasFormer) problem('JWT_SECRET_PREVIOUS', 'has no use beside JWT_JWKS_URL: remove it')
    if (!env.JWT_ISSUER) problem('JWT_ISSUER', 'is required with JWT_JWKS_URL')
    if (!env.JWT_AUDIENCE) problem('JWT_AUDIENCE', 'is required with JWT_JWKS_URL')
  }
  const noPair = pairsOf(env.JWT_ROLE_MAP ?? '').find(([, ours]) => !isRole(ours))?.join('=')
  const pairs = 'must be pairs theirs=ours such as authenticated=user, with user, engine or ops'
  if (noPair !== undefined) problem('JWT_ROLE_MAP', `${pairs}; ${noPair} is none`)
  problems.push(...eventStoreProblems(env))
  const noRange = entriesOf(env.WEBHOOK_ALLOW_CIDRS ?? '').find((cidr) => !isRange(cidr))
  if (noRange) problem('WEBHOOK_ALLOW_CIDRS', `must be address ranges such as 127.0.0.0/8,::1/128; ${noRange} is not one`)
  const origins = corsOrigins(env.CORS_ORIGINS ?? '')
  const noOrigin = origins === '*' ? undefined : origins.find((origin) => !isOrigin(origin))
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

/** The entries between commas, trimmed and without empty ones. */
const entriesOf = (text: string): string[] => text.split(',').map((entry) => entry.trim()).filter(Boolean)

const isRange = (cidr: string) => ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr) || ipaddr.IPv6.isValidCIDR(cidr)

function toConfig (env: Environment) {
  const { EVENTSTORE_URL: url, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = env
  const eventStoreUrl = url && withCaFile(url, env.EVENTSTORE_CA_FILE)
  // The driver verifies certificates for all of these, but prints a warning of six lines for the other names.
  const verified = databaseUrl?.replace(/(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, 'verify-full')
  const backEnds: BackEndUrls = { eventStoreUrl, databaseUrl: verified, redisUrl }
  return {
    host: env.HOST === 'localhost' ? '127.0.0.1' : env.HOST, // for that name Fastify adds a server that no stop ends
    port: env.PORT,
    /** Without a slash at its end; empty for none. */
    basePath: env.BASE_PATH.replace(/\/$/, ''),
    /** Where callers find the service, with or without the base path. */
    publicUrl: env.PUBLIC_URL,
    dataDir: env.DATA_DIR,
    /** 0 for any free one; absent for one that `start` keeps. */
    embeddedEventStorePort: env.EMBEDDED_EVENTSTORE_PORT,
    logLevel: env.LOG_LEVEL,
    /** Whether traces are sent; OpenTelemetry's own variables say how. */
    traces: env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
    backEnds,
    /** `jwt` is absent, like the two keys below, only if a run without any URL makes its own. */
    ...jwtSettings(env),
    corsOrigins: corsOrigins(env.CORS_ORIGINS),
    secretKey: env.SECRET_KEY,
    previousSecretKeys: entriesOf(env.SECRET_KEY_PREVIOUS),
    leadDigestKey: env.LEAD_DIGEST_KEY,
    readModelWaitMs: env.READ_MODEL_WAIT_MS,
    drainDelayMs: env.DRAIN_DELAY_MS,
    /** Whether a projector replays what an earlier version of the code has folded. */
    rebuildsProjections: env.PROJECTION_REBUILD === 'auto',
    streamCacheBytes: env.STREAM_CACHE_MB * 2 ** 20,
    /** Per user; 0 for no limit. */
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
    /** Lets a scraper read /metrics; without it only operators may. */
    metricsToken: env.METRICS_TOKEN,
    alert: { url: env.ALERT_WEBHOOK_URL, secret: env.ALERT_WEBHOOK_SECRET },
    webhook: webhookSettings(env)
  }
}

/** `jwt` is undefined when no way to verify is set: a generated secret goes with `jwtChecks`. */
function jwtSettings (env: Environment) {
  const { JWT_SECRET: secret, JWT_JWKS_URL: jwksUrl, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = env
  const [roleMap, previousSecrets] = [roleMapOf(env.JWT_ROLE_MAP), entriesOf(env.JWT_SECRET_PREVIOUS)]
  const former = previousSecrets.length > 0 && { previousSecrets }
  const own = { ...(roleMap && { roleMap }), ...former, ...(issuer && { issuer }), ...(audience && { audience }) }
  const jwtChecks: JwtChecks = { roleClaim: env.JWT_ROLE_CLAIM, ...own }
  const ofIssuer = jwksUrl && issuer && audience ? { ...jwtChecks, jwksUrl, issuer, audience } : undefined
  const jwt: JwtSettings | undefined = secret ? { ...jwtChecks, secret } : ofIssuer
  return { jwt, jwtChecks }
}

/** Reads pairs of `theirs=ours`; undefined when there is none. The last pair of a name counts. */
export function roleMapOf (text: string): ReadonlyMap<string, Role> | undefined {
  const pairs = pairsOf(text).flatMap(([theirs, ours]): Array<[string, Role]> => isRole(ours) ? [[theirs, ours]] : [])
  return pairs.length > 0 ? new Map(pairs) : undefined
}

/** A name of theirs may contain an equals sign: the last one counts. */
function pairsOf (text: string): Array<[theirs: string, ours: string]> {
  return entriesOf(text).map((pair) => {
    const at = pair.lastIndexOf('=')
    return at < 0 ? [pair, ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
}

const webhookSettings = (env: Environment) => ({
  schedule: env.WEBHOOK_SCHEDULE,
  timeoutMs: env.WEBHOOK_TIMEOUT_MS,
  allowHttp: env.WEBHOOK_ALLOW_HTTP === 'true' || env.WEBHOOK_ALLOW_HTTP === '1',
  allowCidrs: entriesOf(env.WEBHOOK_ALLOW_CIDRS),
  retentionDays: env.WEBHOOK_RETENTION_DAYS
})

/** Longer values are cut. */
const longestShown = 100

/** Every setting that is wrong, one line each, with its value where that is no secret. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings'
  /** `environment` is what the settings were read from. */
  constructor (readonly errors: FieldErrors, environment: NodeJS.ProcessEnv = {}) {
    const lines = Object.entries(errors).flatMap(([name, problems]) =>
      problems.map((problem) => `${name} ${problem}${shown(name, problem, environment)}`))
    super(lines.map((line) => withoutLogins(line).replaceAll(/\p{Cc}/gu, ' ')).join('\n'))
  }
}

/** They may stand in a setting that was set in the wrong place, and a password may have blanks. */
const withoutLogins = (text: string) => text.replaceAll(/\/\/(?!user:password@)(\S|\s(?!\S*:\/\/))*@/g, '//…@')

function shown (name: string, problem: string, environment: NodeJS.ProcessEnv): string {
  const file = environment[`${name}_FILE`]
  if (file && !environment[name]) return ` (it comes from the file ${file})`
  const value = withoutLogins(environment[name] ?? '')
  if (!value || withoutLogins(problem).split(/[\s:;,]+/).includes(value)) return ''
  if (isUrl(name)) return problem.startsWith('must be a URL') ? schemeOf(value) : '' // it may have a password
  if (secretNames.some((secret) => secret === name)) return ''
  const start = value.length > longestShown ? `${value.slice(0, longestShown)}…` : value
  return ` (it is ${JSON.stringify(start)})`
}

function schemeOf (url: string): string {
  const scheme = /^[a-z][a-z0-9+.-]{0,30}:\/\//i.exec(url)?.[0]
  return scheme ? ` (it begins with ${scheme})` : ''
}

/** CORS_ORIGINS names origins, or `*` alone. */
const corsOrigins = (text: string) => entriesOf(text).join() === '*' ? '*' as const : entriesOf(text)

/** As a browser would send it. */
function isOrigin (text: string): boolean {
  if (!/^https?:[^*]+$/.test(text) || !URL.canParse(text)) return false
  return new URL(text).origin === text
}
