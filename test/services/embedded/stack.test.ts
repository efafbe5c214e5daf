// The whole embedded stack: Postgres and the event store over it, in one DATA_DIR.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import t from 'tap'
import { openStack } from '../../../src/services/embedded/stack.js'
import { acquireLock } from '@ringledger/embedded-postgres/lock'
import { gone } from '@ringledger/embedded-postgres/testing'
import { dataDirs, startStack } from './stack-process.js'

const dataDir = await dataDirs(t)
const env = {} // no URL is given, so all of it is embedded

t.test('kill -9 of the main process alone takes the event store and Postgres with it', async (t) => {
  const stack = startStack(t, dataDir(t), { env })
  const { pids, eventStoreUrl } = await stack.message('opened')
  t.match(eventStoreUrl, /^esdb:\/\/127\.0\.0\.1:\d+\?tls=false$/)
  t.same(Object.keys(pids), ['postgres', 'postgresSupervisor', 'eventStore'])
  stack.kill('SIGKILL')
  for (const pid of Object.values(pids)) await t.resolves(gone(pid))
})

t.test('a command waits until a start is published; then the event store ends first, and its connections are not cut', async (t) => {
  const dir = dataDir(t)
  const start = startStack(t, dir, { env })
  await start.message('log')
  const command = startStack(t, dir, { role: 'command', how: 'once', env })
  t.equal((await command.message('opened')).joined, true)
  t.same(await command.message('opened'), { ...await start.message('opened'), joined: true })
  const client = EventStoreDBClient.connectionString((await start.message('opened')).eventStoreUrl)
  await client.appendToStream('kept', jsonEvent({ type: 'Said', data: {} }))
  await client.dispose()
  await command.ended
  start.kill('SIGTERM')
  t.equal(await start.ended, 0)
  const log = readFileSync(join(dir, 'postgres.log'), 'utf8')
  t.notMatch(log, /terminating connection due to administrator command/)
  t.match(log, /database system is shut down/)
})

t.test('an event store that cannot start is told, and leaves nothing running', async (t) => {
  const dir = dataDir(t)
  const stack = startStack(t, dir, { env: { STACK_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' } })
  const refused = 'The embedded event store did not start; DIR/event-store.log says why: connect ECONNREFUSED 127.0.0.1:1'
  t.equal((await stack.message('refused')).replace(dir, 'DIR'), refused)
  t.equal(await stack.ended, 1)
  const { lock } = await acquireLock(dir, 'command', 'test')
  t.ok(lock, 'and the directory is free')
  lock?.release()
})

t.test('with both URLs given nothing is started and DATA_DIR is not touched', async (t) => {
  const urls = { databaseUrl: 'postgres://127.0.0.1:1/none', eventStoreUrl: 'esdb://127.0.0.1:1' }
  const stack = await openStack(
    { dataDir: '/nonexistent/nowhere', role: 'start', command: 'test', ...urls, log: t.fail }
  )
  t.match(stack, { ...urls, joined: false, pids: {} })
  await stack.publish({})
  await Promise.all([stack.close(), stack.close()])
})
