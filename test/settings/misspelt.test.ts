// A name that looks like a setting and is none is told at the start, and stops nobody.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'
import { settingNames, misspelt } from '../../src/settings.js'
import { run } from '../support/ringledger.js'
import { secrets } from '../support/auth/secrets.js'

const told = (...names: string[]) => misspelt(Object.fromEntries(names.map((name) => [name, 'x'])), settingNames)

t.test('slips of the pen are told with what was meant', async (t) => {
  const slips = [
    ['PORRT', 'PORT'], ['PROT', 'PORT'], ['PRT', 'PORT'], ['HOTS', 'HOST'], ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'], ['REDIS_URI', 'REDIS_URL'], ['EVENTSTORE_URI', 'EVENTSTORE_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'], ['DATADIR', 'DATA_DIR'], ['SECRETKEY', 'SECRET_KEY'],
    ['SECRET_KEY_PREVIOS', 'SECRET_KEY_PREVIOUS'], ['SECRET_KEY_FIEL', 'SECRET_KEY_FILE'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'], ['database_url', 'DATABASE_URL'], ['WEBHOOK_TIMEOUT', 'WEBHOOK_TIMEOUT_MS'],
    ['JWT_ISSUER_FILE', 'JWT_ISSUER'], ['METRICS_TOKN', 'METRICS_TOKEN']
  ]
  for (const [name, meant] of slips) t.strictSame(told(name ?? ''), [`${name} is no setting: did you mean ${meant}?`])
})

t.test('what begins like settings of ours and is far from all of them is told, too', async (t) => {
  t.strictSame(told('WEBHOOK_COLOUR'), ['WEBHOOK_COLOUR is no setting; .env.example lists them all'])
  t.strictSame(told('JWT_TTL'), ['JWT_TTL is no setting; .env.example lists them all'])
})

t.test('variables of the machine and of other programs are passed over', async (t) => {
  t.strictSame(told(
    'HOSTNAME', 'HOSTTYPE', 'HOME', 'PWD', 'OLDPWD', 'PATH', 'SHELL', 'TERM', 'LANG', 'USER', 'LOGNAME', 'SHLVL', '_',
    'TZ', 'SORT', 'POST', 'GHOST', 'VHOST', 'DBHOST', 'SPORT', 'host', 'port', 'PGHOST', 'PGPORT', 'PGUSER',
    'PGPASSWORD', 'DB_HOST', 'NODE_ENV', 'NODE_OPTIONS', 'HTTP_PROXY', 'http_proxy', 'npm_config_loglevel',
    'npm_config_port', 'XDG_DATA_DIRS', 'DATABASE_HOST', 'DATABASE_USER', 'DATABASE_PASSWORD', 'REDIS_HOST',
    'REDIS_PASSWORD', 'EVENTSTORE_INSECURE', 'EVENTSTORE_DB', 'EVENTSTORE_LOG', 'EVENTSTORE_CLUSTER_SIZE',
    'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE', 'SECRET_KEY_BASE', 'KUBERNETES_PORT', 'WEBHOOK_SERVICE_HOST',
    'WEBHOOK_SERVICE_PORT_HTTP', 'WEBHOOK_PORT', 'WEBHOOK_PORT_80_TCP_ADDR', 'RINGLEDGER_SERVICE_HOST', 'REDIS_PORT',
    'POSTGRES_PORT', 'OTEL_SERVICE_NAME', 'LC_ALL', 'EDITOR', 'DOCKER_HOST', 'SSH_AUTH_SOCK', 'LS_COLORS'
  ), [])
  t.strictSame(misspelt({ PORRT: '' }, settingNames), [], 'an empty value counts as not set')
})

t.test('every setting that .env.example offers is one', async (t) => {
  const offered = [...readFileSync(join(packageRoot, '.env.example'), 'utf8').matchAll(/^([A-Z_]+)=/gm)]
  t.strictSame(told(...offered.map(([, name = '']) => name)), [])
})

t.test('a command says so on stderr, and does its work', async (t) => {
  const env = { ...secrets, PORRT: '4000', EVENTSTORE_URL: 'esdb://user:hunter2@host?tls=false' }
  const { code, stdout, stderr } = await run(t, ['token', '--user', '1'], env)
  t.equal(code, 0)
  t.equal(stderr, 'PORRT is no setting: did you mean PORT?\nEVENTSTORE_URL has tls=false, and without TLS the client ' +
    'does not use its login. Leave out tls=false, or the login.\n')
  t.match(stdout, /^ey/)
})
