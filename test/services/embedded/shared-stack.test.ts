// Exactly one process holds a DATA_DIR; commands share the stack of a running start.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { identify } from '@ringledger/embedded-postgres/testing'
import { dataDirs, startStack } from './stack-process.js'

const dataDir = await dataDirs(t)
t.jobs = 2 // one test waits for ten seconds; those marked as buffered go on beside it

t.test('a second start is refused at once, and told which directory, which command and what to do', async (t) => {
  const dir = dataDir(t)
  const first = startStack(t, dir)
  await first.message('opened')
  const second = startStack(t, dir)
  t.equal(await second.message('refused'), `DATA_DIR ${dir} is in use by \`stack-main start\` (pid ${first.pid}, since ${sinceOf(dir)}). ` +
    `Wait for it to end or stop it (kill ${first.pid}), or set DATA_DIR to another directory.`)
  t.ok(await second.message('inUse'))
  t.equal(await second.ended, 1)
})

t.test('a command beside a running start uses its stack, and leaves it running', async (t) => {
  const dir = dataDir(t)
  const start = startStack(t, dir)
  const opened = await start.message('opened')
  t.match(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')), { databaseUrl: opened.databaseUrl, apiUrl: 'http://127.0.0.1:1' })
  t.equal(statSync(join(dir, 'run.json')).mode & 0o777, 0o600)
  const command = startStack(t, dir, { role: 'command', how: 'once' })
  t.same(await command.message('opened'), { ...opened, joined: true })
  t.equal(await command.ended, 0)
  for (const pid of Object.values(opened.pids)) t.ok(identify(pid))
})

t.test('a command beside a start that is still starting waits until it is published', async (t) => {
  const dir = dataDir(t)
  const start = startStack(t, dir)
  await start.message('log')
  const command = startStack(t, dir, { role: 'command', how: 'once' })
  t.equal((await command.message('opened')).joined, true)
  t.same(await command.message('opened'), { ...await start.message('opened'), joined: true })
})

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

t.test('a command or start beside another command waits for it to end, and says so', async (t) => {
  const dir = dataDir(t)
  const first = startStack(t, dir, { role: 'command' })
  await first.message('opened')
  const second = startStack(t, dir, { role: 'command', how: 'once' })
  t.equal(await second.message('log'), `Waiting for \`stack-main command\` (pid ${first.pid}), which uses ${dir}`)
  first.kill('SIGTERM')
  t.equal((await second.message('opened')).joined, false)
  t.equal(await second.ended, 0)
})

t.test('a command that waited ten seconds for another is refused', { buffered: true }, async (t) => {
  const dir = dataDir(t)
  const first = startStack(t, dir, { role: 'command' })
  await first.message('opened')
  const began = Date.now()
  const second = startStack(t, dir, { role: 'command' })
  t.match(await second.message('refused'), `is in use by \`stack-main command\` (pid ${first.pid}`)
  t.ok(Date.now() - began > 10_000)
})

function sinceOf (dir: string): string {
  return JSON.parse(readFileSync(join(dir, 'lock.2'), 'utf8')).since
}
