// On a terminal `start` says what to paste, and that works.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { bin, dataDir } from '../../support/ringledger.js'
import { eventStoreOf } from '../../support/running-service.js'

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
