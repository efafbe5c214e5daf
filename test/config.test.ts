// Settings are checked at the start, all at once, each by its name.
import t from 'tap'
import { BadSettings, loadConfig } from '../src/config.js'
import { Environment } from '../src/settings.js'
import { problems, refuses } from './support/config-problems.js'

const secret = 'x'.repeat(31) + 'y'
const urls = {
  EVENTSTORE_URL: 'esdb://localhost:2113?tls=false',
  DATABASE_URL: 'postgres://localhost/ringledger',
  REDIS_URL: 'redis://localhost'
}
const jwks = { JWT_JWKS_URL: 'https://issuer.example.com/jwks', JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'us' }
const secrets = { JWT_SECRET: secret, SECRET_KEY: secret, LEAD_DIGEST_KEY: secret }

t.test('without any setting everything has its default', async (t) => {
  t.match(loadConfig({}), {
    host: '127.0.0.1',
    port: 3000,
    basePath: '',
    dataDir: '.ringledger',
    logLevel: 'info',
    backEnds: { eventStoreUrl: undefined, databaseUrl: undefined, redisUrl: undefined },
    jwt: undefined,
    jwtRoleClaim: 'role',
    readModelWaitMs: 1_000,
    webhook: { schedule: '0s,5s,5m,30m,2h,5h,10h,14h,20h,24h', timeoutMs: 15_000, allowHttp: false, allowCidrs: [], retentionDays: 90 }
  })
  t.ok(Object.isFrozen(loadConfig({})))
})

t.test('a name of the loopback is one address: Fastify would add a server that a stop does not end', (t) => {
  t.equal(loadConfig({ HOST: 'localhost' }).host, '127.0.0.1')
  t.end()
})

t.test('an empty value counts as not set', async (t) => {
  const empty = { PORT: '', HOST: '', DATABASE_URL: '', JWT_SECRET: '', JWT_JWKS_URL: '', WEBHOOK_ALLOW_HTTP: '' }
  t.strictSame(loadConfig(empty), loadConfig({}))
})

t.test('the embedded event store cannot have the port of the API', (t) => {
  t.strictSame(problems({ PORT: '2113', EMBEDDED_EVENTSTORE_PORT: '2113' }), {
    EMBEDDED_EVENTSTORE_PORT: ['must not be that of PORT, 2113: choose another for one of them']
  })
  t.match(
    loadConfig({ PORT: '0', EMBEDDED_EVENTSTORE_PORT: '0' }), { port: 0, embeddedEventStorePort: 0 }, 'any two are two'
  )
  t.end()
})

t.test('every number has a most, which a refusal names', (t) => {
  const numbers = Object.entries(Environment.properties).filter(([, rule]) => 'type' in rule && rule.type === 'integer')
  for (const [name] of numbers) t.match(problems({ [name]: '9'.repeat(30) })[name], [/^must be between \d+ and \d{1,10}$/])
  t.match(problems({ RATE_LIMIT_PER_MINUTE: '1e300', WEBHOOK_SCHEDULE: '0s,999999999h' }), {
    RATE_LIMIT_PER_MINUTE: ['must be between 0 and 1000000'], WEBHOOK_SCHEDULE: [/must be the waits before each attempt, such as 0s/]
  })
  t.ok(numbers.length > 5)
  t.end()
})

t.test('every bad setting is named at once, also those that are bad together', async (t) => {
  const errors = problems({
    PORT: '70000',
    LOG_LEVEL: 'loud',
    BASE_PATH: 'api/',
    DATABASE_URL: 'mysql://x',
    WEBHOOK_ALLOW_HTTP: 'yes',
    WEBHOOK_TIMEOUT_MS: '1.5',
    WEBHOOK_SCHEDULE: '5 minutes',
    JWT_SECRET: 'short',
    METRICS_TOKEN: 'short',
    JWT_JWKS_URL: 'https://issuer.example.com/jwks'
  })
  t.strictSame(errors, {
    PORT: ['must be between 0 and 65535'],
    LOG_LEVEL: ['must be one of: fatal, error, warn, info, debug, trace, silent'],
    BASE_PATH: ['must be a path such as /api'],
    DATABASE_URL: ['must be a URL such as postgres://user:password@localhost:5432/ringledger'],
    WEBHOOK_ALLOW_HTTP: ['must be one of: true, false, 1, 0'],
    WEBHOOK_TIMEOUT_MS: ['must be an integer'],
    WEBHOOK_SCHEDULE: ['must be the waits before each attempt, such as 0s,5s,5m,2h'],
    JWT_SECRET: ['must be at least 32 characters', 'and JWT_JWKS_URL cannot both be set: choose one'],
    METRICS_TOKEN: ['must be at least 32 characters'],
    JWT_ISSUER: ['is required with JWT_JWKS_URL'],
    JWT_AUDIENCE: ['is required with JWT_JWKS_URL'],
    SECRET_KEY: errors.SECRET_KEY ?? [],
    LEAD_DIGEST_KEY: errors.LEAD_DIGEST_KEY ?? []
  })
  t.match(new BadSettings(errors).message, /^PORT must be between 0 and 65535\n/)
})

t.test('secrets are required as soon as one URL is set', async (t) => {
  for (const [name, url] of Object.entries(urls)) {
    refuses(t, { [name]: url }, 'JWT_SECRET', 'SECRET_KEY', 'LEAD_DIGEST_KEY')
    refuses(t, { [name]: url, ...secrets })
  }
})

t.test('tokens are verified with one secret or with the keys of an issuer, never both', async (t) => {
  refuses(t, { ...jwks, JWT_SECRET: secret }, 'JWT_SECRET')
  refuses(t, { JWT_JWKS_URL: jwks.JWT_JWKS_URL }, 'JWT_ISSUER', 'JWT_AUDIENCE')
  t.strictSame(loadConfig({ ...jwks, JWT_ROLE_CLAIM: 'scope' }).jwt,
    { roleClaim: 'scope', jwksUrl: jwks.JWT_JWKS_URL, issuer: 'issuer', audience: 'us' })
  t.strictSame(loadConfig({ JWT_SECRET: secret }).jwt, { roleClaim: 'role', secret })
  refuses(t, { ...urls, ...jwks, SECRET_KEY: secret, LEAD_DIGEST_KEY: secret })
})

/** What is taken, and what becomes of it. */
const ranges = ['127.0.0.0/8', '::1/128', 'fd00::/8']
const origins = ['https://app.example.com', 'http://localhost:5173', 'https://[::1]:8443']
const former = ['b'.repeat(16) + 'c'.repeat(16), 'd e'.repeat(20)]
const keys = [secret, 'b '.repeat(20) + 'b', 'c'.repeat(32)]
type Taken = [env: Record<string, string>, config: object]
const taken: Taken[] = [
  ...[['', ''], ['/', ''], ['/api', '/api'], ['/api/', '/api'], ['/api/v1/', '/api/v1']]
    .map(([given = '', basePath]): Taken => [{ BASE_PATH: given }, { basePath }]),
  ...[['true', true], ['1', true], ['false', false], ['0', false]]
    .map(([given, allowHttp]): Taken => [{ WEBHOOK_ALLOW_HTTP: String(given) }, { webhook: { allowHttp } }]),
  [{ PORT: '0', READ_MODEL_WAIT_MS: '0' }, { port: 0, readModelWaitMs: 0 }],
  [{ WEBHOOK_ALLOW_CIDRS: `${ranges.join(' , ')},` }, { webhook: { allowCidrs: ranges } }],
  [{ CORS_ORIGINS: '*' }, { corsOrigins: '*' }],
  [{ CORS_ORIGINS: ` ${origins.join(' , ')},` }, { corsOrigins: origins }],
  [{ SECRET_KEY_PREVIOUS: ` ${keys.join(' , ')}\n` }, { previousSecretKeys: keys }],
  [{ JWT_SECRET: secret, JWT_SECRET_PREVIOUS: former.join(', ') }, { jwt: { secret, previousSecrets: former } }]
]

const refused: Record<string, string[]> = {
  BASE_PATH: ['api', '//', '/api//', '/a b', '/a?b', 'http://h/api'],
  WEBHOOK_ALLOW_HTTP: ['yes', 'TRUE', 'on', '2'],
  PORT: ['-1', '65536', 'x', '1.5', '0x10', '0b1', '1e3', ' 5', '5.0', 'postgres://u:hunter2@h/d'],
  READ_MODEL_WAIT_MS: ['-1', 'x', '2147483648'],
  WEBHOOK_TIMEOUT_MS: ['99', '1.5'],
  WEBHOOK_RETENTION_DAYS: ['0', '-1', '1.5', '36501', 'ever'],
  WEBHOOK_ALLOW_CIDRS: [
    '127.0.0.1', '127.0.0.0/33', '999.1.1.1/8', '::1/129', '10.0.0.0/8,nonsense', '10.0.0.0/x', 'x/8', '127/8'
  ],
  CORS_ORIGINS: [
    'app.example.com', 'https://app.example.com/', 'https://App.example.com', 'https://app.example.com:443', 'null',
    'https://*.example.com', 'https://a.example.com,*', 'ftp://example.com', 'https://user@example.com', 'https://'
  ],
  JWT_ROLE_MAP: ['admin', 'admin=', 'admin=root', 'admin=Ops', 'a=user,b=toString', '='],
  SECRET_KEY_PREVIOUS: [` ${'d'.repeat(31)} `, `${secret},`, `${secret}, ,${secret}`],
  JWT_SECRET_PREVIOUS: ['short', `${former[0]},short`, `${former[0]},`, `${former[0]}, ,${former[1]}`],
  DATABASE_URL: [
    'http://h', 'localhost', ':', 'postgres:///d', 'postgres://u:p@h2/x@h/d', 'postgres://u:hunter2/x@h/d',
    'postgres://u:hun%ter2@h/d', 'postgres://h:99999/d', 'postgres://u:hunter2@:5432/d', 'postgres://u:hunter2'
  ],
  REDIS_URL: [
    'http://h', 'localhost', ':', 'redis:///1', 'redis://:hun#ter2@h', 'redis://h/first', 'redis://:hunter2', 'rediss://h:65536'
  ],
  EVENTSTORE_URL: ['http://h', 'localhost', ':'],
  JWT_JWKS_URL: ['https:///keys', 'https://h:x/keys', 'https:// h', 'http://issuer.example.com/jwks'],
  ALERT_WEBHOOK_URL: ['https:///x', 'https://h:99999/'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['http:///x', 'http://h:x'],
  PUBLIC_URL: ['https://h:99999', 'https://:443'],
  EVENTSTORE_CA_FILE: ['postgres://u:hunter2@h/d'],
  METRICS_TOKEN: ['/', 'hunter2\nhunter2'],
  SECRET_KEY: ['hunter2\thunter2']
}

t.test('each setting takes what it is for, with white space and a comma at the end', (t) => {
  for (const [env, config] of taken) t.match(loadConfig(env), config, JSON.stringify(env))
  t.end()
})

t.test('what a setting cannot be, or what programs would read as another value, is refused by its name in one line', (t) => {
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      const env = { ...secrets, [name]: value }
      const { [name]: own = [] } = problems(env)
      t.strictSame(own.length, 1, `${name} ${value}`)
      const { message } = new BadSettings({ [name]: own }, env)
      t.match(message, new RegExp(`^${name} [^\n]*$`))
      t.notMatch(message, /hunter2/)
    }
  }
  t.end()
})

t.test('URLs of every back end are known by their protocol', async (t) => {
  const good = {
    EVENTSTORE_URL: ['esdb://h', 'esdb+discover://a,b,c', 'kurrentdb://h', 'kurrentdb+discover://h'],
    DATABASE_URL: [
      'postgres://h/d', 'postgresql://h/d', 'postgres:///d?host=/run/postgresql', 'postgres://h',
      'postgres://u:p%40%2F@[::1]:5432/d?options=-c%20x'
    ],
    REDIS_URL: ['redis://h', 'rediss://h']
  }
  for (const [name, values] of Object.entries(good)) {
    for (const value of values) refuses(t, { ...secrets, [name]: value })
  }
  const { backEnds } = loadConfig({ ...secrets, DATABASE_URL: 'postgres://h/d?sslmode=require&application_name=x' })
  t.equal(backEnds.databaseUrl, 'postgres://h/d?sslmode=verify-full&application_name=x', 'as the driver takes it, without its warning')
})

t.test('one character repeated is no secret; a former key may be one, so that it can be left', async (t) => {
  for (const name of ['JWT_SECRET', 'SECRET_KEY', 'LEAD_DIGEST_KEY', 'METRICS_TOKEN']) {
    for (const repeated of ['a'.repeat(32), ' '.repeat(64), 'é'.repeat(40), '\n'.repeat(32), '😀'.repeat(32)]) {
      t.match(problems({ [name]: repeated })[name], [/^must not be one character repeated/], name)
    }
    for (const fine of [secret, 'ab'.repeat(16), `${'a'.repeat(40)}b`, `b${'a'.repeat(40)}`]) {
      refuses(t, { [name]: fine })
    }
  }
  refuses(t, { SECRET_KEY_PREVIOUS: 'a'.repeat(32) })
})

t.test('former secrets of tokens are told without them, and there are none without the present one', async (t) => {
  const { message } = new BadSettings(problems({ JWT_SECRET_PREVIOUS: 'hunter2' }), { JWT_SECRET_PREVIOUS: 'hunter2' })
  t.equal(message, 'JWT_SECRET_PREVIOUS must be former secrets of 32 characters or more, separated by commas')
  refuses(t, { ...jwks, JWT_SECRET_PREVIOUS: former[0] ?? '' }, 'JWT_SECRET_PREVIOUS')
})

t.test('roles of an issuer are pairs with roles of ours', async (t) => {
  const map = (JWT_ROLE_MAP: string) => [...loadConfig({ JWT_SECRET: secret, JWT_ROLE_MAP }).jwt?.roleMap ?? []]
  t.strictSame(map('authenticated=user, service_role=engine,admin=ops,'), [
    ['authenticated', 'user'], ['service_role', 'engine'], ['admin', 'ops']
  ])
  t.strictSame(map('=user,a=b=ops'), [['', 'user'], ['a=b', 'ops']])
  t.strictSame(map(''), [])
})
