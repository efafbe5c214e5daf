// `ringledger doctor` finds what is wrong, says what mends it, waits for nobody and prints no secret.
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
import { dataDir } from '../../support/ringledger.js'
import { doctor } from './doctor.js'
import { randomUUID } from 'node:crypto'
import { erasuresFound } from '../../../src/cli/doctor/service.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { binaryEvent, jsonEvent } from '@eventstore/db-client'
import { lastScavenges } from '../../../src/log/about-server.js'
import { noteUnscavenged } from '../../../workers/persons/erasure-rows.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'

const folder = dataDir(t)

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

t.test('the doctor finds what is wrong with Postgres and the event store, and how to mend it', async (t) => {
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
})

t.test('a log that is not the one of the database is an error', async (t) => {
  const postgres = await scratchPostgres(t, 'service')
  const [own, other] = [await scratchEventStore(t, { postgres }), await scratchEventStore(t)]
  const guardFor = async (EVENTSTORE_URL: string) =>
    (await doctor(t, { ...secrets, DATABASE_URL: postgres.url, EVENTSTORE_URL })).find('Service', 'restore guard')
  t.match(await guardFor(own.store.url), { level: 'ok' })
  t.match(await guardFor(other.store.url), { level: 'error', found: /older than this database, or another log/, mend: /Restore/ })
})

t.test('a Redis that may evict jobs, or has no such database, is an error', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  const client = new Redis(redis.url)
  t.teardown(() => client.disconnect())
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
  const env = { REDIS_URL: redis.url, DATA_DIR: join(folder, 'redis'), ...secrets }
  const { find } = await doctor(t, env)
  t.match(find('Redis', 'maxmemory-policy'), { level: 'error', found: /^allkeys-lru/, mend: /noeviction/ })
  t.match((await doctor(t, { ...env, REDIS_URL: `${redis.url}/99` })).find('Redis', 'reachable'), {
    level: 'error', found: /has no such database/, mend: /^Name another number/
  })
})

t.test('settings that are wrong are named, and Node by its version', async (t) => {
  const { code, find } = await doctor(t, { PORT: '99999', DRAIN_DELAY_SM: '5' })
  t.equal(code, 1)
  t.match(find('Settings', 'DRAIN_DELAY_SM'), { level: 'warning', found: /did you mean DRAIN_DELAY_MS\?/ })
  t.match(find('Settings', 'PORT'), { level: 'error', mend: /Set it right/ })
  t.same(['18.20.1', '20.20.1', '20.20.2', '24.0.0'].map((version) => checkNode(version).level),
    ['error', 'error', 'warning', 'ok'])
})

t.test('the doctor counts erasures since the last scavenge of every member, each once', async (t) => {
  const [{ pool }, { client, connection }] = [await scratchLedger(t), await scratchEventStore(t)]
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
})
