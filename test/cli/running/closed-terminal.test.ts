// Somebody closes the window in which the service runs.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startedDataDir, bin } from '../../support/ringledger.js'
import { eventually } from '../../support/eventually.js'

t.test('a start whose terminal is closed stops as it should, and leaves no process', async (t) => {
  const settings = { DATA_DIR: await startedDataDir(t), PORT: '0', EMBEDDED_EVENTSTORE_PORT: '0', LOG_LEVEL: 'silent' }
  const command = `echo pid $$; exec ${process.execPath} ${bin} start`
  const terminal = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings }
  })
  t.teardown(() => terminal.kill('SIGKILL'))
  let shown = ''
  terminal.stdout.on('data', (text) => { shown += text })
  await eventually(() => shown.includes('Stop with Ctrl-C.'))
  const pid = Number(/^pid (\d+)/.exec(shown)?.[1])
  t.teardown(() => { if (runs(pid)) process.kill(pid, 'SIGKILL') })
  terminal.kill('SIGKILL')
  await eventually(() => !runs(pid))
  t.notOk(existsSync(join(settings.DATA_DIR, 'run.json')), 'with its back ends')
})

function runs (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
