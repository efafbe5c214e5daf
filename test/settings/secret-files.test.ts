// NAME_FILE holds the value of NAME, for settings that are secret.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BadSettings, loadConfig } from '../../src/config.js'
import { secretNames } from '../../src/settings.js'
import { dataDir, runWarm } from '../support/ringledger.js'
import { problems, refuses } from '../support/config-problems.js'
import { secrets } from '../support/auth/secrets.js'

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

t.test('an empty name of a file counts as not set', async (t) => {
  t.strictSame(loadConfig({ JWT_SECRET_FILE: '', DATABASE_URL_FILE: '' }), loadConfig({}))
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
