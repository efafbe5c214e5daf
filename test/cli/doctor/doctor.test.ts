// `ringledger doctor` finds what is wrong, says what mends it, waits for nobody and prints no secret.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { closedPort } from '@ringledger/embedded-postgres/testing'
import pg from 'pg'
import t from 'tap'
import { checkNode } from '../../../src/cli/doctor/doctor.js'
import { secrets } from '../../support/auth/secrets.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { dataDir, run, runWarm, type Environment } from '../../support/ringledger.js'
import { restorable } from '../../support/restorable.js'
import { doctor } from './doctor.js'
import { databaseUrlOf, startService } from '../../support/running-service.js'
import { randomUUID } from 'node:crypto'
import { checkService, erasuresFound } from '../../../src/cli/doctor/service.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { binaryEvent, jsonEvent } from '@eventstore/db-client'
import { lastScavenges } from '../../../src/log/about-server.js'
import { noteUnscavenged } from '../../../workers/persons/erasure-rows.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { eventually } from '../../support/eventually.js'

const folder = dataDir(t)

t.setTimeout(180_000)
t.test('beside a running start all is well, and no secret is printed', async (t) => {
  const service = await startService(t)
  const DATA_DIR = service.dataDir
  const { code, stdout, findings, find } = await doctor(t, { DATA_DIR })
  t.equal(code, 0)
  t.same(findings.filter(({ level, check }) => level !== 'ok' && check !== 'Node' && check !== 'unaccounted calls'), [])
  t.match(find('Postgres', 'LISTEN'), { found: /direct/ })
  t.match(find('Event store', 'members'), { found: /leader/ })
  t.match(find('DATA_DIR', 'used by'), { found: /`ringledger start`/ })
  const text = await run(t, ['doctor'], { DATA_DIR })
  t.match(text.stdout, /^Settings\n.*Node[^]*\nPostgres\n {2}ok/)
  const kept: { secretKey: string } = JSON.parse(readFileSync(join(DATA_DIR, 'secrets.json'), 'utf8'))
  for (const secret of [...Object.values(kept), new URL(databaseUrlOf(DATA_DIR)).password]) {
    t.notOk((stdout + text.stdout).includes(String(secret)))
  }
  const SECRET_KEY = 'the key that follows on the one in the file'
  const rotated = { DATA_DIR, SECRET_KEY, SECRET_KEY_PREVIOUS: kept.secretKey }
  const mendOfKeys = async () => (await doctor(t, rotated)).find('Service', 'keys')?.mend
  t.match(await mendOfKeys(), /reseal/)
  t.match(await runWarm(['secrets', 'reseal'], rotated), { code: 0, stderr: /secrets\.json has SECRET_KEY instead/ })
  t.equal(await mendOfKeys(), 'Empty it, in every process.')
  t.strictSame(JSON.parse(readFileSync(join(DATA_DIR, 'secrets.json'), 'utf8')), { ...kept, secretKey: SECRET_KEY })
  t.same(readdirSync(DATA_DIR).filter((name) => name.endsWith('.tmp')), [], 'no draft is left')
  t.match((await doctor(t, { DATA_DIR })).find('Service', 'keys'), { found: 'SECRET_KEY opens everything' })
  await service.stop()
  const alone = await doctor(t, { DATA_DIR })
  t.match(alone.find('Postgres', 'embedded'), { level: 'skipped', found: /does not run now/ })
  t.match(await doctor(t, { DATA_DIR: join(folder, 'none') }), { code: 0 })
  t.notOk(existsSync(join(folder, 'none')), 'nothing is made')
})

t.test('a back end that is silent or away is told, not waited for, and its password is not printed', async (t) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => { sockets.add(socket.on('error', () => {})) }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const silent = typeof address === 'object' ? address?.port ?? 0 : 0
  for (const port of [silent, closedPort]) {
    const { code, find, stdout } = await doctor(t, {
      ...secrets,
      DATABASE_URL: `postgres://user:hunter2@127.0.0.1:${port}/x`,
      REDIS_URL: `redis://:hunter2@127.0.0.1:${port}`,
      EVENTSTORE_URL: `esdb://user:hunter2@127.0.0.1:${port}?tls=false`
    })
    t.equal(code, 1)
    t.match(find('Settings', 'EVENTSTORE_URL'), { level: 'warning', found: /tls=false, .* does not use its login$/ })
    for (const part of ['Postgres', 'Redis', 'Event store']) {
      t.match(find(part, 'reachable'), { level: 'error', found: /./, mend: /Check that it runs/ }, part)
    }
    t.notOk(stdout.includes('hunter2'))
  }
})

t.test('what is wrong with Postgres and the event store is found, with its mend', async (t) => {
  const { postgres, connection, store } = await scratchEventStore(t)
  const DATABASE_URL = postgres.url
  const { session: { client } } = connection
  await client.setStreamMetadata('ringledger-marker', { maxCount: 5 })
  const role = `doctor_${Date.now()}`
  const admin = new pg.Client({ connectionString: DATABASE_URL })
  await admin.connect()
  await admin.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 9 PASSWORD 'hunter2'`)
  await admin.query(`ALTER ROLE ${role} SET statement_timeout = '5s'`)
  await admin.query(`ALTER DATABASE ${new URL(DATABASE_URL).pathname.slice(1)} CONNECTION LIMIT 40`)
  t.teardown(async () => {
    await admin.query(`DROP ROLE ${role}`)
    await admin.end()
  })
  const env = { ...secrets, EVENTSTORE_URL: store.url }
  const asAdmin = await doctor(t, { ...env, DATABASE_URL })
  t.match(asAdmin.find('Event store', 'streams are whole'), { level: 'error', found: /ringledger-marker has \$maxCount/ })
  t.match(asAdmin.find('Postgres', 'connections'), { level: 'warning', mend: 'Raise CONNECTION LIMIT of the database.' })
  t.match(asAdmin.find('Postgres', 'privileges'), { level: 'warning', found: /is a superuser/ })
  t.match(asAdmin.find('Postgres', 'durability'), { level: 'error', found: /^fsync off/, mend: /Switch fsync on/ })
  const { href } = Object.assign(new URL(DATABASE_URL), { username: role, password: 'hunter2' })
  const { find, stdout } = await doctor(t, { ...env, DATABASE_URL: href })
  t.match(find('Postgres', 'privileges'), { level: 'error', found: /may not create schemas/, mend: /own the database/ })
  t.match(find('Postgres', 'time limits'), { level: 'warning', found: /statement_timeout 5000 ms/ })
  t.match(find('Postgres', 'connections'), { level: 'warning', mend: 'Raise CONNECTION LIMIT of the role.' })
  t.notOk(stdout.includes('hunter2'))
  await admin.query(`ALTER ROLE ${role} CONNECTION LIMIT 0`)
  t.match((await doctor(t, { ...env, DATABASE_URL: href })).find('Postgres', 'reachable'), {
    level: 'error', found: /has no connection left: too many connections for role/, mend: /^Raise max_connections/
  })
})

t.test('a log that is not the one of the database is an error', async (t) => {
  const service = await restorable(t)
  await (await service.start()).stop() // which leaves a marker
  const { store } = await scratchEventStore(t)
  const guardFor = async (env: Environment) => (await doctor(t, env)).find('Service', 'restore guard')
  t.match(await guardFor(service.env), { level: 'ok' })
  const away = { ...service.env, EVENTSTORE_URL: `esdb://127.0.0.1:${closedPort}?tls=false` }
  const { find } = await doctor(t, away)
  t.match(find('Service', 'restore guard'), { level: 'skipped', found: 'the event store does not answer' })
  t.match(await guardFor({ ...service.env, EVENTSTORE_URL: store.url }), { level: 'error', found: /lacks marker/, mend: /Restore/ })
})

t.test('a Redis that may evict jobs is an error', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  const client = new Redis(redis.url)
  t.teardown(() => client.disconnect())
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
  const env = { REDIS_URL: redis.url, DATA_DIR: join(folder, 'redis'), ...secrets }
  const { find } = await doctor(t, env)
  t.match(find('Redis', 'maxmemory-policy'), { level: 'error', found: /^allkeys-lru/, mend: /noeviction/ })
  t.match(find('Redis', 'role'), { level: 'ok', found: 'master' })
  await client.config('SET', 'maxmemory-policy', 'noeviction')
  t.match((await doctor(t, env)).find('Redis', 'maxmemory-policy'), { level: 'ok' })
})

t.test('settings that are wrong are named, and Node by its version', async (t) => {
  const { code, find } = await doctor(t, { PORT: '99999', SECRET_KEY: 'short' })
  t.equal(code, 1)
  t.match(find('Settings', 'PORT'), { level: 'error', mend: /Set it right/ })
  t.match(find('Settings', 'SECRET_KEY'), { level: 'error' })
  const misspelt = await doctor(t, { DRAIN_DELAY_SM: '5', DATA_DIR: join(folder, 'none') })
  t.match(misspelt.find('Settings', 'DRAIN_DELAY_SM'), { level: 'warning', found: /did you mean DRAIN_DELAY_MS\?/ })
  t.same(['18.20.1', '20.20.1', '20.20.2', '24.0.0'].map((version) => checkNode(version).level),
    ['error', 'error', 'warning', 'ok'])
})

const { pool, databaseUrl } = await scratchLedger(t)
const found = async () =>
  (await checkService({ databaseUrl })).find(({ check }) => check === 'background')

/** A turn that is under way has counted itself already. */
const request = (kind: string, failures: number) => pool.query(`
  INSERT INTO ledger.work (id, kind, user_id, state, input, progress, failures)
  VALUES ($1, $2, '1', 'accepted', '{}', '{}', $3)`, [randomUUID(), kind, failures])

t.test('requests that failed more than once are told by their kind, with what mends them', async (t) => {
  for (const failures of [0, 1]) await request('lead-import', failures)
  t.match(await found(), { level: 'ok', found: 'no request fails' })
  await request('lead-import', 2)
  await request('person-erasure', 11)
  t.match(await found(), {
    level: 'warning',
    found: 'requests that fail again and again: 1 of lead-import, 1 of person-erasure',
    mend: /RingledgerBackgroundFails/
  })
})

t.test('what was erased since every member was scavenged waits, one erasure once', async (t) => {
  const { client, connection } = await scratchEventStore(t)
  const { pool } = await scratchLedger(t)
  const tell = async (stream: string, type: string, about: Record<string, string>) => {
    const { nextExpectedRevision } = await client.appendToStream(stream, jsonEvent({ type, data: about }))
    const data = Buffer.from(`${nextExpectedRevision}@${stream}`)
    await client.appendToStream('$scavenges', binaryEvent({ type: '$>', data }))
  }
  const scavenged = async (nodeEndpoint: string, result = 'Success') => {
    const scavengeId = randomUUID()
    await tell(`$scavenges-${scavengeId}`, '$scavengeStarted', { scavengeId, nodeEndpoint })
    await tell(`$scavenges-${scavengeId}`, '$scavengeCompleted', { scavengeId, nodeEndpoint, result })
  }
  const store = { lastScavenges: () => lastScavenges(connection, 5_000), memberCount: async () => 2 }
  const find = () => erasuresFound(pool, store)
  t.equal(await find(), 'none waits for a scavenge')
  const id = randomUUID()
  for (let time = 0; time < 2; time++) await noteUnscavenged(pool, id)
  const found = /^1 waits for a scavenge, the oldest since \d{4}-/
  t.match(await find(), { level: 'warning', found, mend: /Scavenge every member/ })
  await noteUnscavenged(pool, randomUUID())
  for (const member of ['a:2113', 'a:2113']) await scavenged(member)
  await scavenged('b:2113', 'Failed')
  t.match(await find(), { found: /^2 wait / }, 'one that failed does not count')
  const unseen = { ...store, lastScavenges: async () => undefined }
  const unless = /unless one was done since: this login may not read \$scavenges/
  t.match(await erasuresFound(pool, unseen), { level: 'warning', found: unless })
  t.match(await erasuresFound(pool, undefined), { level: 'skipped' })
  await scavenged('b:2113')
  t.equal(await find(), 'none waits for a scavenge')
  await noteUnscavenged(pool, randomUUID())
  t.match(await find(), { found: /^1 waits / })
})

t.test('who holds up whom in Postgres is found', async (t) => {
  const { url } = await scratchPostgres(t)
  const [holder, waiter] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })]
  await Promise.all([holder.connect(), waiter.connect()])
  t.teardown(() => Promise.all([holder.end(), waiter.end()]))
  await holder.query('CREATE TABLE held ()')
  await holder.query('BEGIN; LOCK TABLE held')
  const { rows: [row] } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const waiting = waiter.query('SELECT FROM held')
  const env = { ...secrets, DATABASE_URL: url, EVENTSTORE_URL: `esdb://127.0.0.1:${closedPort}?tls=false` }
  const locks = async () => (await doctor(t, env)).find('Postgres', 'locks')
  await eventually(async () => (await locks())?.level === 'warning')
  t.match(await locks(), { level: 'warning', found: new RegExp(`wait: 1, .* for process ${row?.pid}$`), mend: /pg_terminate_backend/ })
  await Promise.all([t.rejects(waiting), holder.query(`
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`)])
  const found = new RegExp(`whole tables are locked .* by process ${row?.pid}$`)
  await eventually(async () => found.test((await locks())?.found ?? ''))
  await holder.query('ROLLBACK')
  t.match(await locks(), { level: 'ok' })
})
