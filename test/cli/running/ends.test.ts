// The end of a process: somebody closes its terminal, or its log finds the disk full.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../../src/package-root.js'
import { openPool } from '../../../src/postgres/pool.js'
import { secrets } from '../../support/auth/secrets.js'
import { scratchPostgres, serveLog } from '../../support/back-ends/back-ends.js'
import { eventually } from '../../support/eventually.js'
import { bin, dataDir } from '../../support/ringledger.js'

t.test('a role whose terminal is closed stops as it should', async (t) => {
  const postgres = await scratchPostgres(t, 'service')
  const store = await serveLog({ databaseUrl: postgres.url })
  t.teardown(store.close)
  const pool = openPool(postgres.url, { applicationName: 'test', onError: () => {} })
  t.teardown(() => pool.end())
  const urls = { DATABASE_URL: postgres.url, EVENTSTORE_URL: store.url }
  const command = `${process.execPath} ${bin} projector & echo pid $!; wait`
  const terminal = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...secrets, ...urls, DATA_DIR: dataDir(t), PORT: '0' }
  })
  t.teardown(() => terminal.kill('SIGKILL'))
  let shown = ''
  terminal.stdout.on('data', (text) => { shown += text })
  await eventually(() => shown.includes('is listening on'))
  const pid = Number(/^pid (\d+)/m.exec(shown)?.[1])
  t.teardown(() => { if (runs(pid)) process.kill(pid, 'SIGKILL') })
  /** A role that stops as it should takes its name from the list. */
  const named = async () => (await pool.query("SELECT FROM ledger.leases WHERE name LIKE 'role %'")).rowCount
  t.equal(await named(), 1)
  terminal.kill('SIGKILL')
  await eventually(() => !runs(pid))
  t.equal(await named(), 0)
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
