// The end of a process: somebody closes its terminal.
import { spawn } from 'node:child_process'
import t from 'tap'
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
