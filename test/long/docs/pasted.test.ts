// What is to be pasted works: what `start` says on a terminal, and the tutorial, one command after the other on a first
// start.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { bin, dataDir } from '../../support/ringledger.js'
import { eventStoreOf, localWebhooks, startService } from '../../support/running-service.js'
import { readFile } from 'node:fs/promises'
import { freePort } from '@ringledger/embedded-postgres/testing'

t.test('on a terminal they are sentences, with examples that work when they are pasted on the first start', async (t) => {
  const settings = { DATA_DIR: dataDir(t), PORT: '0', EMBEDDED_EVENTSTORE_PORT: '0' }
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings }
  const command = `exec ${process.execPath} ${bin} start`
  const terminal = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], { env })
  t.teardown(() => terminal.kill('SIGKILL'))
  let shown = ''
  terminal.stdout.on('data', (text) => { shown += text })
  const ended = once(terminal, 'exit')
  await eventually(() => shown.includes('Stop with Ctrl-C.'))
  const pasted = shown.split('\r\n').filter((line) => /^ {2}(TOKEN=|curl )/.test(line)).map((line) => line.trim())
  t.equal(pasted.length, 4, 'a token and three commands')
  const { stdout } = await promisify(execFile)('bash', ['-c', pasted.join('\necho\n')])
  t.same(stdout.trim().split('\n').map((line) => JSON.parse(line || '{}').message).filter(Boolean),
    ['Assistant created successfully', 'Assistant updated successfully', 'Lead created successfully'])
  t.match(shown, `events     ${eventStoreOf(settings.DATA_DIR)}`)
  terminal.stdin.write('\u0003')
  t.same(await ended, [0, null])
  const [, url] = /^ {2}listening {2}(\S+)/m.exec(shown) ?? []
  t.match(shown, `docs       ${url}/docs`)
  t.match(shown, /^Starting Postgres .*\r\nRingledger [^]*Draining after SIGINT .*\r\nStopped\./)
  t.notMatch(shown, '{"level"')
})

const tutorial = await readFile('docs/tutorial.md', 'utf8')
const [start = '', ...commands] = [...tutorial.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, text = '']) => text)

t.test('the commands of the tutorial lead to a webhook at the receiver', async (t) => {
  const [, settings = ''] = /^((?:WEBHOOK_\w+=\S+ )+)npm start$/m.exec(start) ?? []
  const env = Object.fromEntries(settings.trim().split(' ').map((setting) => setting.split('=')))
  t.match(localWebhooks, env, 'the service is started as it says')
  const service = await startService(t, { env })
  const port = String(await freePort())
  const pasted = commands.join('\n').replaceAll('http://127.0.0.1:3000', service.url).replaceAll('4000', port)

  const options = { env: { ...process.env, DATA_DIR: service.dataDir }, detached: true }
  const shell = spawn('bash', ['-e'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  t.teardown(() => { if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL') }) // with the receiver
  const said = { stdout: '', stderr: '' }
  shell.stdout.on('data', (text) => { said.stdout += text })
  shell.stderr.on('data', (text) => { said.stderr += text })
  shell.stdin.write(`${pasted}\necho\necho all done\n`) // its input stays open, as that of a terminal does

  const [, line = ''] = /^ {4}(call\.completed .*)$/m.exec(tutorial) ?? []
  await eventually(async () => said.stdout.includes(line) && said.stdout.includes('all done'), 60_000)
    .catch((error: unknown) => { throw new Error(JSON.stringify(said), { cause: error }) })
  t.match(said.stdout, /Assistant created successfully[^]*Lead created successfully/)
  t.match(said.stdout, /"call_id":"call-1"/)
  t.notMatch(said.stderr, /is no setting/, 'and no command wonders at what was set')
  t.match(said.stdout, /delivered +│ 1 [^]*unaccounted +│ 0 /)
})
