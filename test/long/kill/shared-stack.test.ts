// Who may use a DATA_DIR after a kill, and beside a command that takes long; what a failing start leaves.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { reasonIn, ringledger, startedDataDir } from '../../support/ringledger.js'
import { dataDirs, startStack } from '../../services/embedded/stack-process.js'

const dataDir = await dataDirs(t)
t.jobs = 2

t.test('a command beside the run.json of a start that was killed starts back ends of its own', async (t) => {
  const dir = dataDir(t)
  const start = startStack(t, dir)
  const { databaseUrl } = await start.message('opened')
  start.kill('SIGKILL')
  const command = startStack(t, dir, { role: 'command', how: 'once' })
  const opened = await command.message('opened')
  t.equal(opened.joined, false)
  t.not(opened.databaseUrl, databaseUrl)
  t.equal(await command.ended, 0)
})

t.test('a command beside another one waits, says so, and is refused after ten seconds or goes on', async (t) => {
  const dir = dataDir(t)
  const first = startStack(t, dir, { role: 'command' })
  await first.message('opened')
  const began = Date.now()
  const refused = startStack(t, dir, { role: 'command' })
  t.equal(await refused.message('log'), `Waiting for \`stack-main command\` (pid ${first.pid}), which uses ${dir}`)
  t.match(await refused.message('refused'), `is in use by \`stack-main command\` (pid ${first.pid}`)
  t.ok(Date.now() - began > 10_000)
  const second = startStack(t, dir, { role: 'command', how: 'once' })
  await second.message('log')
  first.kill('SIGTERM')
  t.equal((await second.message('opened')).joined, false)
  t.equal(await second.ended, 0)
})

t.test('a start that cannot write its run.json ends, and says why', async (t) => {
  const folder = await startedDataDir(t)
  mkdirSync(join(folder, 'run.json'))
  const start = ringledger(t, ['start'], { DATA_DIR: folder, PORT: '0' })
  t.equal((await start.ended).code, 1)
  t.match(reasonIn(start.stderr()), /run\.json/)
  t.same(start.processes(), [])
})
