// NAME_FILE holds the value of NAME, for settings that are secret.
import { chmodSync, mkdirSync, writeFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BadSettings, loadConfig } from '../../src/config.js'
import { secretNames, settingNames, misspelt } from '../../src/settings.js'
import { dataDir, runWarm, bin, run } from '../support/ringledger.js'
import { problems, refuses } from '../support/config-problems.js'
import { secrets } from '../support/auth/secrets.js'
import { spawnSync } from 'node:child_process'
import { addDotEnv } from '../../src/cli/dot-env.js'

const folder = dataDir(t)
const isRoot = process.getuid?.() === 0

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
    for (const end of ['', '\n', '\r\n']) {
      const inFile = { ...secrets, [name]: '', [`${name}_FILE`]: file('value', value + end) }
      t.strictSame(loadConfig(inFile), loadConfig({ ...secrets, [name]: value }), name)
    }
  }
  const secret = `${'é'.repeat(40)}y`
  const utf16 = Buffer.from(`\uFEFF${secret}\r\n`, 'utf16le')
  for (const content of [`${secret}\n\n`, `\r\n${secret}\r\n\r\n`, `\uFEFF${secret}`, utf16, Buffer.from(utf16).swap16()]) {
    t.match(loadConfig({ JWT_SECRET_FILE: file('secret', content) }).jwt, { secret })
  }
  t.match(loadConfig({ JWT_SECRET: `${secret}\r\n` }).jwt, { secret }, 'nor with one in the environment')
})

t.test('line ends and other control characters inside a secret are refused, wherever it stands', async (t) => {
  for (const inside of ['\n', '\t', '\0', '\uFEFF']) {
    const secret = `${'x'.repeat(40)}${inside}x`
    const wrong = problems({ JWT_SECRET_FILE: file('controls', secret) })
    t.match(wrong, { JWT_SECRET_FILE: [/holds line ends or other control characters: .*controls\. Write only the value of JWT_SECRET/] })
    t.strictSame(problems({ JWT_SECRET: secret }), { JWT_SECRET: ['holds line ends or other control characters'] })
  }
})

t.test('a setting and its file together are refused, by the names of both', async (t) => {
  const both = problems({ ...secrets, SECRET_KEY_FILE: file('key', secrets.SECRET_KEY) })
  t.strictSame(both, { SECRET_KEY: ['and SECRET_KEY_FILE cannot both be set: keep one of them'] })
})

t.test('a file that cannot be taken is named with its setting, and how to mend it', async (t) => {
  const url = 'postgres://h/d'
  const cases: Array<[path: string, why: RegExp]> = [
    [join(folder, 'none'), /does not exist: .*none\. Make or mount it/],
    [join(file('plain', 'x'), 'below'), /does not exist/],
    [file('empty', ''), /is empty: .*empty\. Write the value of SECRET_KEY into it/],
    [file('line', '\n'), /is empty/],
    [file('latin1', Buffer.from('sécret', 'latin1')), /is no text \(line 1 has bytes that are not UTF-8: save it as UTF-8\): .*latin1\. Write only/],
    [folder, /is a folder/]
  ]
  for (const [path, why] of cases) {
    const { SECRET_KEY_FILE = [], ...others } = problems({ ...secrets, DATABASE_URL: url, SECRET_KEY: '', SECRET_KEY_FILE: path })
    t.match(SECRET_KEY_FILE[0], why)
    t.match(SECRET_KEY_FILE[0], path)
    t.strictSame(others, {}, 'and nothing else is said of it')
  }
})

// Root reads everything.
if (!isRoot) {
  t.test('a file that this process may not read is told as such', async (t) => {
    const path = file('closed', 'x')
    chmodSync(path, 0o000)
    t.match(problems({ JWT_SECRET_FILE: path }).JWT_SECRET_FILE, [/may not read: .*closed\. Give its user the right/])
  })
}

t.test('what is wrong with the content names the file, and not the content', async (t) => {
  const path = file('short', 'hunter2')
  refuses(
    t, { JWT_SECRET_FILE: path, DATABASE_URL_FILE: path }, 'JWT_SECRET', 'DATABASE_URL', 'SECRET_KEY', 'LEAD_DIGEST_KEY'
  )
  const { message } = new BadSettings(problems({ JWT_SECRET_FILE: path }), { JWT_SECRET_FILE: path })
  t.equal(message, `JWT_SECRET must be at least 32 characters (it comes from the file ${path})`)
})

t.test('commands that need only the back ends take these files, too', async (t) => {
  mkdirSync(join(folder, 'data'))
  const env = { DATA_DIR: join(folder, 'data'), DATABASE_URL_FILE: join(folder, 'none') }
  for (const args of [['event-store', '--port', '0'], ['events', 'export', '-'], ['migrate']]) {
    t.match(await runWarm(args, env), { code: 1, stderr: /DATABASE_URL_FILE names a file that does not exist/ }, args.join(' '))
  }
})

const write = (text: string | Buffer) => writeFileSync(join(folder, '.env'), text)

function added (environment: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  addDotEnv(environment, folder)
  return environment
}

/** What a command says that runs in `folder`, without what keeps the commands of other tests from its `.env`. */
function command (args: string[], variables: string[] = []): { status: number | null, stdout: string, stderr: string } {
  const env = ['-i', `PATH=${process.env.PATH ?? ''}`, ...variables]
  return spawnSync('env', [...env, process.execPath, bin, ...args], { encoding: 'utf8', cwd: folder })
}

t.test('lines, comments, quotes, export and line ends of Windows are read as everywhere', async (t) => {
  write('\uFEFF# ours\r\n\r\nPORT=4000\r\nexport HOST = 0.0.0.0 # all\nA="two\nlines"\nB=\'#\'\nC=\nD=`x` # y\nE=a=b#c')
  t.strictSame(added(), { PORT: '4000', HOST: '0.0.0.0', A: 'two\nlines', B: '#', C: '', D: 'x', E: 'a=b' })
})

t.test('the environment wins, also with an empty value', async (t) => {
  write('PORT=4000\nHOST=h\nLOG_LEVEL=warn')
  t.strictSame(added({ PORT: '5000', HOST: '' }), { PORT: '5000', HOST: '', LOG_LEVEL: 'warn' })
})

t.test('what is broken is told by its line, and never shown', async (t) => {
  const cases: Array<[text: string | Buffer, why: RegExp]> = [
    ['A=1\nhunter2\nB=2', /\.env is broken at line 2: write each setting as NAME=value/],
    ['A="1\nB=hunter2', /broken at line 1/],
    ['A=1\n\n1B=hunter2', /broken at line 3/],
    ['A="x" hunter2', /broken at line 1/],
    ['A=1\nB=\0hunter2', /broken at line 2/],
    [Buffer.from([0x41, 0x3d, 0xff]), /cannot be read: line 1 has bytes that are not UTF-8: save it as UTF-8\. Make/]
  ]
  for (const [text, why] of cases) {
    write(text)
    t.throws(() => added(), { name: 'BadDotEnv', message: why })
    try { added() } catch (error) { t.notMatch(String(error), /hunter2/) }
  }
  rmSync(join(folder, '.env'))
  mkdirSync(join(folder, '.env'))
  t.throws(() => added(), { message: /\.env cannot be read: EISDIR.*Make it readable, or remove it/ })
  rmSync(join(folder, '.env'), { recursive: true })
})

t.test('a command reads it, and the environment of the command wins', async (t) => {
  write(`JWT_SECRET=${secrets.JWT_SECRET}\nJWT_ROLE_CLAIM=scope\nSECRET_KEY=short\n`)
  const token = ['token', '--user', '1', '--role', 'ops']
  t.match(command(token), { status: 1, stderr: /SECRET_KEY must be at least 32 characters/ })
  const { status, stdout, stderr } = command(token, [`SECRET_KEY=${secrets.SECRET_KEY}`, `LEAD_DIGEST_KEY=${secrets.LEAD_DIGEST_KEY}`])
  t.equal(status, 0, stderr)
  t.match(JSON.parse(Buffer.from(stdout.split('.')[1] ?? '', 'base64url').toString()), { scope: 'ops' })
})

t.test('a broken one ends every command but a help text', async (t) => {
  write('nonsense')
  t.match(command(['migrate']), { status: 1, stderr: /^ringledger: .*\.env is broken at line 1: .*quote\n$/ })
  t.match(command(['--help']), { status: 0 })
})

t.test('the tests of a checkout are not disturbed by the one that lies there', async (t) => {
  write('PORT=nonsense')
  t.strictSame(added({ RINGLEDGER_NO_DOTENV: '1' }), { RINGLEDGER_NO_DOTENV: '1' })
  t.match(await run(t, ['token', '--user', '1'], { ...secrets }), { code: 0 })
})

const told = (...names: string[]) => misspelt(Object.fromEntries(names.map((name) => [name, 'x'])), settingNames)

t.test('slips of the pen are told with what was meant', async (t) => {
  const slips = [
    ['PORRT', 'PORT'], ['PROT', 'PORT'], ['PRT', 'PORT'], ['HOTS', 'HOST'], ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'], ['LOGLEVEL', 'LOG_LEVEL'], ['SECRET_KEY_PREVIOS', 'SECRET_KEY_PREVIOUS'],
    ['SECRET_KEY_FIEL', 'SECRET_KEY_FILE'], ['database_url', 'DATABASE_URL'], ['WEBHOOK_TIMEOUT', 'WEBHOOK_TIMEOUT_MS']
  ]
  for (const [name, meant] of slips) t.strictSame(told(name ?? ''), [`${name} is no setting: did you mean ${meant}?`])
  for (const far of ['WEBHOOK_COLOUR', 'JWT_TTL']) t.strictSame(told(far), [`${far} is no setting; .env.example lists them all`])
})

t.test('variables of the machine and of other programs are passed over', async (t) => {
  const others = `HOSTNAME HOSTTYPE HOME PWD OLDPWD PATH SHELL TERM LANG USER LOGNAME SHLVL _ TZ SORT POST GHOST VHOST
    DBHOST SPORT host port PGHOST PGPORT PGUSER PGPASSWORD DB_HOST NODE_ENV NODE_OPTIONS HTTP_PROXY http_proxy
    npm_config_loglevel npm_config_port XDG_DATA_DIRS DATABASE_HOST DATABASE_USER REDIS_HOST REDIS_PASSWORD
    EVENTSTORE_INSECURE EVENTSTORE_DB EVENTSTORE_LOG EVENTSTORE_CLUSTER_SIZE AWS_PROFILE SECRET_KEY_BASE WEBHOOK_PORT
    WEBHOOK_SERVICE_HOST WEBHOOK_PORT_80_TCP_ADDR RINGLEDGER_SERVICE_HOST REDIS_PORT POSTGRES_PORT OTEL_SERVICE_NAME`
  t.strictSame(told(...others.split(/\s+/)), [])
  t.strictSame(misspelt({ PORRT: '' }, settingNames), [], 'an empty value counts as not set')
})

t.test('a command says so on stderr, and does its work', async (t) => {
  const env = { ...secrets, PORRT: '4000', EVENTSTORE_URL: 'esdb://user:hunter2@host?tls=false' }
  const { code, stdout, stderr } = await run(t, ['token', '--user', '1'], env)
  t.equal(code, 0)
  t.equal(stderr, 'PORRT is no setting: did you mean PORT?\nEVENTSTORE_URL has tls=false, and without TLS the client ' +
    'does not use its login. Leave out tls=false, or the login.\n')
  t.match(stdout, /^ey/)
})
