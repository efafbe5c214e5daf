// Whatever is killed, nothing stays behind for long and the next start goes on from what was committed.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { identify } from '../src/process-identity.js'
import { processesOf } from '../src/postmaster.js'
import { makeCheckout, openDirectory } from './support/checkout.js'
import { killAll } from './support/kill-all.js'
import { dataDirs, gone, type Opened, postgresProcess } from './support/postgres-process.js'

const checkout = makeCheckout(join(openDirectory(t), 'checkout'))
const dataDir = await dataDirs(t, checkout)

async function commit (url: string, word: string): Promise<void> {
  await query(url, 'CREATE TABLE IF NOT EXISTS kept (word text)')
  await query(url, `INSERT INTO kept VALUES ('${word}')`)
}

async function words (url: string): Promise<unknown[]> {
  return (await query(url, 'SELECT word FROM kept ORDER BY word')).map((row) => row.word)
}

async function query (url: string, text: string): Promise<Array<Record<string, unknown>>> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

async function allGone ({ pids }: Opened): Promise<void> {
  for (const pid of Object.values(pids)) await gone(pid)
}

t.test('kill -9 of the main process takes Postgres with it', async (t) => {
  const main = postgresProcess(t, checkout, dataDir(t))
  const opened = await main.message('opened')
  main.kill('SIGKILL')
  await t.resolves(allGone(opened))
})

t.test('a start right after the kill -9 waits for the old Postgres, and is not refused', async (t) => {
  const dir = dataDir(t)
  const first = postgresProcess(t, checkout, dir)
  const { databaseUrl } = await first.message('opened')
  await commit(databaseUrl, 'before')
  first.kill('SIGKILL')
  const second = await postgresProcess(t, checkout, dir).message('opened')
  t.same(await words(second.databaseUrl), ['before'])
})

t.test('a start after kill -9 of everything recovers what was committed', async (t) => {
  const dir = dataDir(t)
  const first = postgresProcess(t, checkout, dir)
  const opened = await first.message('opened')
  await commit(opened.databaseUrl, 'before')
  killAll([...Object.values(opened.pids), first.pid])
  const second = await postgresProcess(t, checkout, dir).message('opened')
  t.same(await words(second.databaseUrl), ['before'])
  t.match(readFileSync(join(dir, 'postgres.log'), 'utf8'), /database system was not properly shut down; automatic recovery/)
})

t.test('a start stops a Postgres whose supervisor is dead, and goes on', async (t) => {
  const dir = dataDir(t)
  const first = postgresProcess(t, checkout, dir)
  const opened = await first.message('opened')
  await commit(opened.databaseUrl, 'before')
  killAll([opened.pids.postgresSupervisor, first.pid])
  const second = postgresProcess(t, checkout, dir)
  t.same(await words((await second.message('opened')).databaseUrl), ['before'])
  t.equal(identify(opened.pids.postgres ?? 0), undefined)
  t.match(second.said.map(({ log }) => log).join('\n'), /Stopping Postgres \(pid \d+\), whose supervisor is gone/)
})

t.test('a main process that loses the supervisor is told, and stops Postgres itself when it closes', async (t) => {
  const main = postgresProcess(t, checkout, dataDir(t))
  const opened = await main.message('opened')
  killAll([opened.pids.postgresSupervisor])
  t.match(await main.message('lost'), /Postgres stopped unexpectedly \(killed by SIGKILL\).*postgres\.log/)
  main.kill('SIGTERM')
  t.equal(await main.ended, 0)
  t.equal(identify(opened.pids.postgres ?? 0), undefined)
})

t.test('sessions of a postmaster that was killed do not keep the next one out', async (t) => {
  const dir = dataDir(t)
  const first = postgresProcess(t, checkout, dir)
  const opened = await first.message('opened')
  await commit(opened.databaseUrl, 'before')
  const busy = query(opened.databaseUrl, 'DO $$ BEGIN LOOP END LOOP; END $$').catch(() => [])
  const active = "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'"
  while ((await query(opened.databaseUrl, active)).length === 0);
  killAll([opened.pids.postgres])
  await first.message('lost')
  const cluster = join(dir, 'postgres/cluster')
  t.not(processesOf(cluster).length, 0, 'the session still works')
  first.kill('SIGKILL')
  const second = await postgresProcess(t, checkout, dir).message('opened')
  t.same(await words(second.databaseUrl), ['before'])
  await busy
})

t.test('a first start that is killed while it makes the cluster does not spoil that of the next', async (t) => {
  const dir = join(openDirectory(t), 'data')
  const home = join(dir, 'postgres')
  const first = postgresProcess(t, checkout, dir)
  while (!(existsSync(home) && readdirSync(home).some((name) => existsSync(join(home, name, 'base/1'))))) await delay(10)
  first.kill('SIGKILL')
  const { databaseUrl } = await postgresProcess(t, checkout, dir).message('opened')
  await commit(databaseUrl, 'whole')
  t.same(await words(databaseUrl), ['whole'])
  t.same(readdirSync(home).toSorted(), ['cluster', 'supervisor.json'])
})

t.test('a stale postmaster.pid whose pid is another process by now does not keep Postgres out, nor harm that process', async (t) => {
  const dir = dataDir(t)
  const first = postgresProcess(t, checkout, dir)
  const opened = await first.message('opened')
  const pidFile = join(dir, 'postgres/cluster/postmaster.pid')
  const stale = readFileSync(pidFile, 'utf8')
  killAll([...Object.values(opened.pids), first.pid])
  await allGone(opened)
  writeFileSync(pidFile, stale.replace(/^\d+/, String(process.pid)))
  t.ok(await postgresProcess(t, checkout, dir).message('opened'))
})

t.test('Ctrl-C reaches the main process alone, and its close leaves nothing behind', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const main = postgresProcess(t, checkout, dataDir(t))
    const opened = await main.message('opened')
    main.kill(signal) // to its process group, as a terminal does
    await main.message('closed')
    t.equal(await main.ended, 0, signal)
    t.notOk(main.said.some((message) => message.lost), 'Postgres ended only when it was closed')
    for (const pid of Object.values(opened.pids)) t.equal(identify(pid), undefined)
  }
})
