// The whole embedded stack: Postgres and the event store over it, in one DATA_DIR.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { copiesOf, gone } from '@ringledger/embedded-postgres/testing'
import { startStack } from './stack-process.js'

const env = {} // no URL is given, so all of it is embedded
const dataDir = await copiesOf(t, (dataDir) => startStack(t, dataDir, { how: 'once', env }).ended)

t.test('at the end the event store ends first, and Postgres cuts no connection', async (t) => {
  const log = readFileSync(join(dataDir(t), 'postgres.log'), 'utf8')
  t.match(log, /database system is shut down/)
  t.notMatch(log, /terminating connection due to administrator command/)
})

t.test('a command waits until a start is published; kill -9 of that takes the event store and Postgres with it', async (t) => {
  const dir = dataDir(t)
  const start = startStack(t, dir, { env })
  await start.message('log')
  const command = startStack(t, dir, { role: 'command', how: 'once', env })
  const opened = await start.message('opened')
  t.same(await command.message('opened'), { ...opened, joined: true })
  await command.ended
  t.match(opened.eventStoreUrl, /^esdb:\/\/127\.0\.0\.1:\d+\?tls=false$/)
  t.same(Object.keys(opened.pids), ['postgres', 'postgresSupervisor', 'eventStore'])
  start.kill('SIGKILL')
  for (const pid of Object.values(opened.pids)) await t.resolves(gone(pid))
})
