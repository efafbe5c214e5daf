// Somebody closes the window in which the service runs.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startedDataDir, bin } from '../../support/ringledger.js'
import { eventually } from '../../support/eventually.js'
import { once } from 'node:events'
import { packageRoot } from '../../../src/package-root.js'

t.test('a start whose terminal is closed stops as it should, and leaves no process', async (t) => {
  const settings = { DATA_DIR: await startedDataDir(t), PORT: '0', EMBEDDED_EVENTSTORE_PORT: '0', LOG_LEVEL: 'silent' }
  const command = `${process.execPath} ${bin} start & echo pid $!; wait`
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

const program = join(packageRoot, 'dist/test/cli/running/log-to-full-disk-main.js')
const skip = existsSync('/dev/full') ? false : '/dev/full is not here'

for (const [how, argument] of [['by itself', 'return'], ['by an exit', 'exit']] as const) {
  t.test(`a process that ends ${how} ends, though nothing of its log can be written`, { skip }, async (t) => {
    const child = spawn(process.execPath, [program, argument], { stdio: 'inherit', timeout: 20_000 })
    t.strictSame(await once(child, 'exit'), [3, null], 'its own exit status, and no signal that ended it')
  })
}
