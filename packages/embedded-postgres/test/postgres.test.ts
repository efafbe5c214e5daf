// The embedded Postgres of one DATA_DIR: what it is started with, and what it says when it cannot start.
// The tests work on the same DATA_DIR, in this order.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { startPostgres } from '../src/postgres.js'
import { processesOf } from '../src/postmaster.js'
import { identify } from '../src/lock.js'
import { gone, openDirectory } from './support/index.js'
import { makeCheckout, PLATFORM_PACKAGE } from './support/checkout.js'
import { type PostgresProcess, postgresProcess } from './support/postgres-process.js'

async function ask (url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const rows: unknown[] = []
  for (const statement of statements) rows.push(...(await client.query(statement)).rows)
  await client.end()
  return rows
}

const checkout = makeCheckout(join(openDirectory(t), 'checkout'))
const dir = openDirectory(t)
const cluster = join(dir, 'postgres/cluster')
let running: PostgresProcess
const start = () => postgresProcess(t, checkout, dir)

t.test('the first start makes a durable cluster for loopback, and the next one finds its rows', async (t) => {
  const lines: string[] = []
  writeFileSync(join(dir, 'postgres-password'), '', { mode: 0o600 }) // as a full disk leaves it
  const first = await startPostgres({ dir, log: (line) => lines.push(line) })
  t.teardown(first.close)
  t.match(first.version, /^\d+\.\d+$/)
  t.match(lines, [`Starting Postgres ${first.version} in ${join(dir, 'postgres/cluster')}`])
  t.match(new URL(first.url), { hostname: '127.0.0.1', pathname: '/ringledger' })
  const settings = await ask(first.url, `
    SELECT name, setting FROM pg_settings WHERE name IN (
      'fsync', 'full_page_writes', 'lc_messages', 'listen_addresses', 'max_connections', 'password_encryption',
      'synchronous_commit', 'TimeZone', 'unix_socket_directories'
    ) ORDER BY name COLLATE "C"`)
  t.same(settings, [
    { name: 'TimeZone', setting: 'UTC' },
    { name: 'fsync', setting: 'on' },
    { name: 'full_page_writes', setting: 'on' },
    { name: 'lc_messages', setting: 'C' },
    { name: 'listen_addresses', setting: '127.0.0.1' },
    { name: 'max_connections', setting: '200' },
    { name: 'password_encryption', setting: 'scram-sha-256' },
    { name: 'synchronous_commit', setting: 'on' },
    { name: 'unix_socket_directories', setting: '' }
  ])
  await ask(first.url, 'CREATE TABLE kept (word text)', "INSERT INTO kept VALUES ('still here')")
  await Promise.all([first.close(), first.close()])
  t.equal(identify(first.pid), undefined)
  t.equal(identify(first.supervisorPid), undefined)

  writeFileSync(join(dir, 'postgres.log'), Buffer.alloc(11 * 1024 * 1024, 'x'))
  running = start()
  t.same(await ask((await running.message('opened')).databaseUrl, 'SELECT word FROM kept'), [{ word: 'still here' }])
  t.ok(statSync(join(dir, 'postgres.log')).size < 100_000, 'a log that grew long makes room for a new one')
})

t.test('the password is needed, and only its owner can read it, while everybody sees who holds the lock', async (t) => {
  const { databaseUrl, pids } = await running.message('opened')
  const guess = new URL(databaseUrl)
  guess.password = 'guess'
  await t.rejects(ask(guess.href, 'SELECT 1'), { code: '28P01' })
  const files = readdirSync(dir).filter((name) => name !== 'postgres')
  t.same(files.map((name) => name.replace(/-.{36}/, '')), [
    'lock.sock', 'lock.1', 'postgres-password', 'postgres.log', 'postgres.log.1'
  ])
  t.same(files.map((name) => statSync(join(dir, name)).mode & 0o777), [0o666, 0o644, 0o600, 0o600, 0o600])
  t.notMatch(readFileSync(`/proc/${pids.postgresSupervisor}/cmdline`, 'utf8'), new URL(databaseUrl).password)
})

t.test('a cluster that cannot start says how to mend it, and leaves nothing running', async (t) => {
  const { pids } = await running.message('opened')
  running.kill('SIGTERM')
  await gone(pids.postgresSupervisor)
  const cases = [
    {
      file: join(cluster, 'postgresql.conf'),
      broken: 'max_connections = many\n',
      says: /did not start[^]*invalid value for parameter "max_connections"[^]*postgres\.log/
    },
    { file: join(cluster, 'PG_VERSION'), broken: '13\n', says: /of version 13, but the installed binaries are 18.*DATABASE_URL/ }
  ]
  for (const { file, broken, says } of cases) {
    const sound = readFileSync(file, 'utf8')
    writeFileSync(file, broken)
    await t.rejects(startPostgres({ dir, log () {} }), { message: says })
    t.same(processesOf(cluster), [])
    writeFileSync(file, sound)
  }
})

t.test('a missing package is named, with the way round it', async (t) => {
  const dir = openDirectory(t)
  const main = postgresProcess(t, makeCheckout(join(dir, 'checkout'), 'none'), join(dir, 'data'))
  t.match(await main.message('refused'), new RegExp(`${PLATFORM_PACKAGE}.*is missing.*DATABASE_URL`))
  t.notOk(existsSync(join(dir, 'data/postgres/cluster')))
})
