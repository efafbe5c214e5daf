// Settings are checked at the start, all at once, each by its name: from the environment, from NAME_FILE for those that
// are secret, and from .env.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { completeConfig } from '../../src/cli/running.js'
import { BadSettings, loadConfig } from '../../src/config.js'
import { Environment, secretNames, settingNames, misspelt } from '../../src/settings.js'
import { dataDir, bin } from '../support/ringledger.js'
import type { FieldErrors } from '../../src/domain/rejection.js'
import { secrets } from '../support/auth/secrets.js'
import { spawnSync } from 'node:child_process'
import { addDotEnv } from '../../src/cli/dot-env.js'

function problems (environment: NodeJS.ProcessEnv): FieldErrors {
  try {
    loadConfig(environment)
    return {}
  } catch (error) {
    if (error instanceof BadSettings) return error.errors
    throw error
  }
}

/** Exactly these settings are wrong. */
function refuses (t: Test, environment: NodeJS.ProcessEnv, ...names: string[]): void {
  t.strictSame(Object.keys(problems(environment)).sort(), names.sort(), JSON.stringify(environment))
}

const secret = 'x'.repeat(31) + 'y'
const urls = {
  EVENTSTORE_URL: 'esdb://localhost:2113?tls=false',
  DATABASE_URL: 'postgres://localhost/ringledger',
  REDIS_URL: 'redis://localhost'
}
const jwks = { JWT_JWKS_URL: 'https://issuer.example.com/jwks', JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'us' }

t.test('the embedded event store cannot have the port of the API', (t) => {
  t.strictSame(problems({ PORT: '2113', EMBEDDED_EVENTSTORE_PORT: '2113' }), {
    EMBEDDED_EVENTSTORE_PORT: ['must not be that of PORT, 2113: choose another for one of them']
  })
  t.strictSame(problems({ PORT: '0', EMBEDDED_EVENTSTORE_PORT: '0' }), {}, 'any two are two')
  t.end()
})

t.test('every number has a most, which a refusal names', (t) => {
  const numbers = Object.entries(Environment.properties).filter(([, rule]) => 'type' in rule && rule.type === 'integer')
  for (const [name] of numbers) t.match(problems({ [name]: '9'.repeat(30) })[name], [/^must be between \d+ and \d{1,10}$/])
  refuses(t, { WEBHOOK_SCHEDULE: '0s,999999999h' }, 'WEBHOOK_SCHEDULE')
  t.ok(numbers.length > 5)
  t.end()
})

t.test('every bad setting is named at once, also those that are bad together', async (t) => {
  const errors = problems({
    PORT: '70000',
    DATABASE_URL: 'mysql://x',
    WEBHOOK_TIMEOUT_MS: '1.5',
    JWT_SECRET: 'short',
    JWT_JWKS_URL: 'https://issuer.example.com/jwks'
  })
  t.strictSame(errors, {
    PORT: ['must be between 0 and 65535'],
    DATABASE_URL: ['must be a URL such as postgres://user:password@localhost:5432/ringledger'],
    WEBHOOK_TIMEOUT_MS: ['must be an integer'],
    JWT_SECRET: ['must be at least 32 characters', 'and JWT_JWKS_URL cannot both be set: choose one'],
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
  t.strictSame(loadConfig({ ...jwks, JWT_ROLE_CLAIM: 'scope' }).jwt,
    { roleClaim: 'scope', jwksUrl: jwks.JWT_JWKS_URL, issuer: 'issuer', audience: 'us' })
  t.strictSame(loadConfig({ JWT_SECRET: secret }).jwt, { roleClaim: 'role', secret })
  refuses(t, { ...urls, ...jwks, SECRET_KEY: secret, LEAD_DIGEST_KEY: secret })
})

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
  BASE_PATH: ['api', '//', '/a?b', 'http://h/api'],
  WEBHOOK_ALLOW_HTTP: ['yes', 'TRUE'],
  PORT: ['-1', '65536', '0x10', '1e3', ' 5', '5.0', 'postgres://u:a hunter2 b@h'],
  WEBHOOK_RETENTION_DAYS: ['0', '1.5', '36501'],
  WEBHOOK_ALLOW_CIDRS: ['127.0.0.1', '127.0.0.0/33', '999.1.1.1/8', '::1/129', '10.0.0.0/8,nonsense', 'https://u:a hunter2@h'],
  CORS_ORIGINS: [
    'app.example.com', 'https://app.example.com/', 'https://app.example.com:443', 'null', 'https://*.example.com',
    'https://a.example.com,*', 'https://user@example.com', 'https://u:a hunter2@h'
  ],
  JWT_ROLE_MAP: ['admin', 'admin=root', 'a=user,b=toString'],
  SECRET_KEY_PREVIOUS: [` ${'d'.repeat(31)} `, `${secret}, ,${secret}`],
  JWT_SECRET_PREVIOUS: ['short', `${former[0]},short`],
  DATABASE_URL: ['http://h', 'postgres:///d', 'postgres://u:hunter2/x@h/d', 'postgres://u:hun%ter2@h/d', 'postgres://h:99999/d'],
  REDIS_URL: ['http://h', 'redis:///1', 'redis://:hun#ter2@h', 'redis://h/first'],
  EVENTSTORE_URL: ['http://h', 'localhost', ':'],
  JWT_JWKS_URL: ['https:///keys', 'https://h:x/keys', 'http://issuer.example.com/jwks'],
  ALERT_WEBHOOK_URL: ['https:///x', 'http://192.168.1.300/x'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['http:///x', 'http://u:a hunter2@h', 'htps://u:a hunter2@h'],
  PUBLIC_URL: ['https://h:99999', 'https://a|b'],
  EVENTSTORE_CA_FILE: ['postgres://u:a hunter2@h/d'],
  METRICS_TOKEN: ['hunter2\nhunter2']
}

t.test('each setting takes what it is for, with white space and a comma at the end', (t) => {
  for (const [env, config] of taken) t.match(loadConfig(env), config, JSON.stringify(env))
  t.end()
})

t.test('a value that a setting cannot have, or that programs would read as another, is refused by its name in one line', (t) => {
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
    t.match(problems({ [name]: '😀'.repeat(32) })[name], [/^must not be one character repeated/], name)
    refuses(t, { [name]: `${'a'.repeat(40)}b` })
  }
  refuses(t, { SECRET_KEY_PREVIOUS: 'a'.repeat(32) })
})

t.test('there are no former secrets of tokens without the present one', (t) => {
  refuses(t, { ...jwks, JWT_SECRET_PREVIOUS: former[0] ?? '' }, 'JWT_SECRET_PREVIOUS')
  t.end()
})

t.test('the secret of a run without any goes with the same checks as one that is set', async (t) => {
  const checks = { JWT_ISSUER: 'us', JWT_AUDIENCE: 'ours', JWT_ROLE_CLAIM: 'scope', JWT_ROLE_MAP: 'admin=ops', JWT_SECRET_PREVIOUS: former.join() }
  const { jwt } = await completeConfig(loadConfig({ DATA_DIR: dataDir(t), ...checks }), true)
  t.match(jwt, { secret: /^.{43}$/ })
  t.strictSame({ ...jwt, secret }, loadConfig({ JWT_SECRET: secret, ...checks }).jwt)
})

t.test('roles of an issuer are pairs with roles of ours', async (t) => {
  const map = (JWT_ROLE_MAP: string) => [...loadConfig({ JWT_SECRET: secret, JWT_ROLE_MAP }).jwt?.roleMap ?? []]
  t.strictSame(map('authenticated=user, service_role=engine,admin=ops,'), [
    ['authenticated', 'user'], ['service_role', 'engine'], ['admin', 'ops']
  ])
})

const folder = dataDir(t)

function file (name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

t.test('every secret and every URL with a login may stand in a file, with or without a line end', async (t) => {
  const fitting: Record<string, string> = {
    DATABASE_URL: 'postgres://h/d',
    REDIS_URL: 'redis://h',
    EVENTSTORE_URL: 'esdb://h?tls=false',
    ALERT_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 'a').toString('base64')}`
  }
  for (const name of secretNames) {
    const value = fitting[name] ?? `${name}-of-more-than-32-characters-it-is`
    const inFile = { ...secrets, [name]: '', [`${name}_FILE`]: file('value', `${value}\r\n`) }
    t.strictSame(loadConfig(inFile), loadConfig({ ...secrets, [name]: value }), name)
  }
  const secret = `${'é'.repeat(40)}y`
  for (const content of [secret, `\r\n${secret}\r\n\r\n`, Buffer.from(`\uFEFF${secret}\r\n`, 'utf16le')]) {
    t.match(loadConfig({ JWT_SECRET_FILE: file('secret', content) }).jwt, { secret })
  }
  t.match(loadConfig({ JWT_SECRET: `${secret}\r\n` }).jwt, { secret }, 'nor with one in the environment')
})

t.test('line ends and other control characters inside a secret are refused, wherever it stands', async (t) => {
  const secret = `${'x'.repeat(40)}\nx`
  const wrong = problems({ JWT_SECRET_FILE: file('controls', secret) })
  t.match(wrong, { JWT_SECRET_FILE: [/holds line ends or other control characters: .*controls\. Write only the value of JWT_SECRET/] })
  t.strictSame(problems({ JWT_SECRET: secret }), { JWT_SECRET: ['holds line ends or other control characters'] })
})

t.test('a setting and its file together are refused, by the names of both', async (t) => {
  const both = problems({ ...secrets, SECRET_KEY_FILE: file('key', secrets.SECRET_KEY) })
  t.strictSame(both, { SECRET_KEY: ['and SECRET_KEY_FILE cannot both be set: keep one of them'] })
})

t.test('a file that cannot be taken is named with its setting, and how to mend it', async (t) => {
  const url = 'postgres://h/d'
  const cases: Array<[path: string, why: RegExp]> = [
    [join(folder, 'none'), /does not exist: .*none\. Make or mount it/],
    [file('empty', ''), /is empty: .*empty\. Write the value of SECRET_KEY into it/],
    [file('latin1', Buffer.from('sécret', 'latin1')), /is no text \(line 1 has bytes that are not UTF-8/],
    [folder, /is a folder/]
  ]
  for (const [path, why] of cases) {
    const { SECRET_KEY_FILE = [], ...others } = problems({ ...secrets, DATABASE_URL: url, SECRET_KEY: '', SECRET_KEY_FILE: path })
    t.match(SECRET_KEY_FILE[0], why)
    t.match(SECRET_KEY_FILE[0], path)
    t.strictSame(others, {}, 'and nothing else is said of it')
  }
})

t.test('a refusal of a content names the file, and not the content', async (t) => {
  const path = file('short', 'hunter2')
  refuses(
    t, { JWT_SECRET_FILE: path, DATABASE_URL_FILE: path }, 'JWT_SECRET', 'DATABASE_URL', 'SECRET_KEY', 'LEAD_DIGEST_KEY'
  )
  const { message } = new BadSettings(problems({ JWT_SECRET_FILE: path }), { JWT_SECRET_FILE: path })
  t.equal(message, `JWT_SECRET must be at least 32 characters (it comes from the file ${path})`)
})

const write = (text: string | Buffer) => writeFileSync(join(folder, '.env'), text)

function added (environment: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  addDotEnv(environment, folder)
  return environment
}

/** Runs a command in `folder`, without the variable that keeps commands of other tests from its `.env`. */
function command (args: string[], variables: string[] = []): { status: number | null, stdout: string, stderr: string } {
  const env = ['-i', `PATH=${process.env.PATH ?? ''}`, ...variables]
  return spawnSync('env', [...env, process.execPath, bin, ...args], { encoding: 'utf8', cwd: folder })
}

t.test('lines, comments, quotes, export and line ends of Windows are read as everywhere', async (t) => {
  write('\uFEFF# ours\r\n\r\nPORT=4000\r\nexport HOST = 0.0.0.0 # all\nA="two\nlines"\nB=\'#\'\nC=\nD=`x` # y\nE=a=b#c')
  t.strictSame(added(), { PORT: '4000', HOST: '0.0.0.0', A: 'two\nlines', B: '#', C: '', D: 'x', E: 'a=b' })
})

t.test('a broken file is refused with the number of the line, and the line is never shown', async (t) => {
  const cases: Array<[text: string | Buffer, why: RegExp]> = [
    ['A=1\nhunter2\nB=2', /\.env is broken at line 2: write each setting as NAME=value/],
    ['A="1\nB=hunter2', /broken at line 1/],
    [Buffer.from([0x41, 0x3d, 0xff]), /cannot be read: line 1 has bytes that are not UTF-8: save it as UTF-8\. Make/]
  ]
  for (const [text, why] of cases) {
    write(text)
    t.throws(() => added(), { name: 'BadDotEnv', message: why })
    try { added() } catch (error) { t.notMatch(String(error), /hunter2/) }
  }
})

t.test('a command reads it, and the environment of the command wins', async (t) => {
  write(`JWT_SECRET=${secrets.JWT_SECRET}\nJWT_ROLE_CLAIM=scope\nSECRET_KEY=short\n`)
  const { status, stdout, stderr } = command(['token', '--user', '1', '--role', 'ops'], [`SECRET_KEY=${secrets.SECRET_KEY}`, `LEAD_DIGEST_KEY=${secrets.LEAD_DIGEST_KEY}`])
  t.equal(status, 0, stderr)
  t.match(JSON.parse(Buffer.from(stdout.split('.')[1] ?? '', 'base64url').toString()), { scope: 'ops' })
})

t.test('a broken one ends every command but a help text', async (t) => {
  write('nonsense')
  t.match(command(['migrate']), { status: 1, stderr: /^ringledger: .*\.env is broken at line 1: .*quote\n$/ })
  t.match(command(['--help']), { status: 0 })
})

const told = (...names: string[]) => misspelt(Object.fromEntries(names.map((name) => [name, 'x'])), settingNames)

t.test('slips of the pen are told with what was meant', async (t) => {
  const slips = [
    ['PORRT', 'PORT'], ['HOTS', 'HOST'], ['DATABASE_URI', 'DATABASE_URL'], ['SECRET_KEY_FIEL', 'SECRET_KEY_FILE'],
    ['database_url', 'DATABASE_URL'], ['WEBHOOK_TIMEOUT', 'WEBHOOK_TIMEOUT_MS']
  ]
  for (const [name, meant] of slips) t.strictSame(told(name ?? ''), [`${name} is no setting: did you mean ${meant}?`])
  for (const far of ['WEBHOOK_COLOUR', 'JWT_TTL']) t.strictSame(told(far), [`${far} is no setting; .env.example lists them all`])
})

t.test('variables of the machine and of other programs are passed over', async (t) => {
  const others = `HOSTNAME HOME PATH SORT POST GHOST host port PGHOST PGPORT DB_HOST NODE_ENV HTTP_PROXY http_proxy
    npm_config_loglevel npm_config_port XDG_DATA_DIRS DATABASE_HOST REDIS_HOST EVENTSTORE_INSECURE SECRET_KEY_BASE
    WEBHOOK_SERVICE_HOST WEBHOOK_PORT_80_TCP_ADDR REDIS_PORT POSTGRES_PORT OTEL_SERVICE_NAME`
  t.strictSame(told(...others.split(/\s+/)), [])
  t.strictSame(misspelt({ PORRT: '' }, settingNames), [], 'an empty value counts as not set')
})
