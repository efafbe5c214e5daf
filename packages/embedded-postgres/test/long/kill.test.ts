// Whatever is killed, nothing stays behind for long and the next start goes on from what was committed.
// Most tests work on one DATA_DIR: each goes on with the Postgres that the test before it has started.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { identify } from '../../src/lock.js'
import { killAll } from '../support/talking-process.js'
import { processesOf } from '../../src/postmaster.js'
import { gone, openDirectory } from '../support/index.js'
import { makeCheckout } from '../support/checkout.js'
import { type Opened, postgresProcess } from '../support/postgres-process.js'

const checkout = makeCheckout(join(openDirectory(t), 'checkout'))
const dir = join(openDirectory(t), 'data')
const cluster = join(dir, 'postgres/cluster')
let main = start()
let opened = await main.message('opened')
await commit(opened.databaseUrl, 'before')

function start () {
  return postgresProcess(t, checkout, dir)
}

/** Starts the next one and checks that it has what was committed. */
async function startAgain (t: Test): Promise<void> {
  main = start()
  opened = await main.message('opened')
  t.same(await words(opened.databaseUrl), ['before'])
}

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

t.test('a start after kill -9 of everything recovers what was committed', async (t) => {
  killAll([...Object.values(opened.pids), main.pid])
  await startAgain(t)
  const log = readFileSync(join(dir, 'postgres.log'), 'utf8')
  t.match(log, /database system was not properly shut down; automatic recovery/)
})

t.test('a start stops a Postgres whose supervisor is dead, and goes on', async (t) => {
  const orphan = opened.pids.postgres
  killAll([opened.pids.postgresSupervisor, main.pid])
  await startAgain(t)
  t.equal(identify(orphan ?? 0), undefined)
  t.match(main.said.map(({ log }) => log).join('\n'), /Stopping Postgres \(pid \d+\), whose supervisor is gone/)
})

t.test('sessions of a postmaster that was killed do not keep the next one out', async (t) => {
  const busy = query(opened.databaseUrl, 'DO $$ BEGIN LOOP END LOOP; END $$').catch(() => [])
  const active = "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'"
  while ((await query(opened.databaseUrl, active)).length === 0);
  killAll([opened.pids.postgres])
  await main.message('lost')
  t.not(processesOf(cluster).length, 0, 'the session still works')
  main.kill('SIGKILL')
  await startAgain(t)
  await busy
})

t.test('a stale postmaster.pid whose pid is another process does no harm to Postgres nor to that process', async (t) => {
  const pidFile = join(cluster, 'postmaster.pid')
  const stale = readFileSync(pidFile, 'utf8')
  killAll([...Object.values(opened.pids), main.pid])
  await allGone(opened)
  writeFileSync(pidFile, stale.replace(/^\d+/, String(process.pid)))
  await startAgain(t)
})

t.test('kill -9 of the main process takes Postgres with it', async (t) => {
  main.kill('SIGKILL')
  await t.resolves(allGone(opened))
})

t.test('a main process that loses the supervisor is told, and stops Postgres itself when it closes', async (t) => {
  await startAgain(t)
  killAll([opened.pids.postgresSupervisor])
  t.match(await main.message('lost'), /Postgres stopped unexpectedly \(killed by SIGKILL\).*postgres\.log/)
  main.kill('SIGTERM')
  t.equal(await main.ended, 0)
  t.equal(identify(opened.pids.postgres ?? 0), undefined)
})

const groupOf = (pid: number) => Number(execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }))

t.test('Ctrl-C reaches the main process alone, and its close leaves nothing behind', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    await startAgain(t)
    t.notOk(Object.values(opened.pids).some((pid) => groupOf(pid) === main.pid), 'each has another process group')
    main.kill(signal) // to its process group, as a terminal does
    await main.message('closed')
    t.equal(await main.ended, 0, signal)
    t.notOk(main.said.some((message) => message.lost), 'Postgres ended only when it was closed')
    for (const pid of Object.values(opened.pids)) t.equal(identify(pid), undefined)
  }
})

t.test('a first start that was cut short while it made the cluster does not spoil that of the next', async (t) => {
  const dir = join(openDirectory(t), 'data')
  const home = join(dir, 'postgres')
  mkdirSync(join(home, 'cluster.draft-1/base'), { recursive: true })
  writeFileSync(join(home, 'cluster.draft-1/PG_VERSION'), '18\n')
  const first = postgresProcess(t, checkout, dir)
  const isUnderWay = (name: string) => name !== 'cluster.draft-1' && existsSync(join(home, name, 'base/1'))
  while (!readdirSync(home).some(isUnderWay)) await delay(10)
  first.kill('SIGKILL')
  const { databaseUrl } = await postgresProcess(t, checkout, dir).message('opened')
  await commit(databaseUrl, 'whole')
  t.same(await words(databaseUrl), ['whole'])
  t.same(readdirSync(home).filter((name) => !name.startsWith('lock')), ['cluster'])
})
