// `.env` of the working directory is read by every command; the environment wins.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { addDotEnv } from '../../src/cli/dot-env.js'
import { bin, dataDir, run } from '../support/ringledger.js'
import { secrets } from '../support/auth/secrets.js'

const folder = dataDir(t)
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

t.test('without such a file nothing is added', async (t) => {
  rmSync(join(folder, '.env'), { force: true })
  t.strictSame(added(), {})
})

t.test('lines, comments, quotes, export and line ends of Windows are read as everywhere', async (t) => {
  write('\uFEFF# ours\r\n\r\nPORT=4000\r\nexport HOST = 0.0.0.0 # all\nA="two\nlines"\nB=\'#\'\nC=\nD=`x` # y\nE=a=b#c')
  t.strictSame(added(), { PORT: '4000', HOST: '0.0.0.0', A: 'two\nlines', B: '#', C: '', D: 'x', E: 'a=b' })
})

t.test('a file of PowerShell or Notepad in UTF-16 is read', async (t) => {
  write(Buffer.from('\uFEFFPORT=4000\r\nA=é\r\n', 'utf16le'))
  t.strictSame(added(), { PORT: '4000', A: 'é' })
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
