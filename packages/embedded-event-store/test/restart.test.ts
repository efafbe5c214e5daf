// The Postgres below: one server for a schema, and what holds while Postgres is slow, away and back.
import { once } from 'node:events'
import { jsonEvent, UnavailableError } from '@eventstore/db-client'
import {
  eventually, postgresCluster, type ScratchPostgres, scratchPostgres
} from '@ringledger/embedded-postgres/testing'
import pg from 'pg'
import t from 'tap'
import { postgresStorage, type Storage } from '../src/log/session.js'
import { startEventStore } from '../src/server.js'
import { collect, refused, scratchEventStore } from './support/scratch-event-store.js'

const event = () => jsonEvent({ type: 'Happened', data: {} })

/** Waits for the schema for a moment only, not for seconds. */
function impatient ({ url }: ScratchPostgres): Storage {
  const storage = postgresStorage({ databaseUrl: url, schema: 'eventstore' })
  return { ...storage, openSession: () => storage.openSession(200) }
}

const isUnavailable = (call: Promise<unknown>) =>
  call.then(() => false, (error: unknown) => error instanceof UnavailableError)

t.test('a second server on one schema refuses until the first has ended; on another it serves', async (t) => {
  const { postgres, store, client } = await scratchEventStore(t)
  const second = startEventStore({ databaseUrl: postgres.url, storage: impatient(postgres) })
  await t.rejects(second, { message: /Another event store is serving the schema "eventstore"/ })
  const other = await scratchEventStore(t, { postgres, schema: 'other "schema"' })
  t.match(await other.client.appendToStream('a', event()), { nextExpectedRevision: 0n })
  await client.appendToStream('a', [event(), event()])
  await store.close()
  const successor = await scratchEventStore(t, { postgres })
  t.equal((await collect(successor.client.readStream('a'))).length, 2)
  t.match(await successor.client.appendToStream('a', event(), { expectedRevision: 1n }), { nextExpectedRevision: 2n })
})

t.test('while Postgres is away all is unavailable; then all goes on, subscribers too', async (t) => {
  const postgres = await postgresCluster(t)
  const { store, client } = await scratchEventStore(t, { postgres })
  await client.appendToStream('a', event())
  const subscription = client.subscribeToAll()
  const seen: string[] = []
  subscription.on('data', ({ event }) => { if (event?.streamId === 'a') seen.push(`${event.revision}`) })
  await once(subscription, 'caughtUp')
  const health = async (query = '') => (await fetch(`http://127.0.0.1:${store.port}/health/live${query}`)).status
  t.equal(await health(), 204)

  await postgres.kill()
  await eventually(() => isUnavailable(client.appendToStream('elsewhere', event()))) // it is noticed a moment later
  await eventually(() => isUnavailable(collect(client.readStream('a'))))
  for (const query of ['', '?liveCode=200']) await eventually(async () => await health(query) === 503)

  await postgres.start()
  const again = event()
  await eventually(() => client.appendToStream('a', again, { expectedRevision: 0n }).catch(() => false as const))
  while (!seen.includes('1')) await once(subscription, 'data')
  t.same(seen, ['0', '1'])
  await eventually(async () => await health() === 204)
  await subscription.unsubscribe()
})

t.test('a server that lost its session to another one writes no more, and says so', async (t) => {
  const postgres = await scratchPostgres(t)
  const { store, client } = await scratchEventStore(t, { postgres, storage: impatient(postgres) })
  const thief = new pg.Client({ connectionString: postgres.url })
  await thief.connect()
  t.teardown(() => thief.end())
  const { rows: [lock] } = await thief.query<{ classid: number, objid: number, pid: number }>(`
    select classid::int, objid::bigint::int8::bit(32)::int as objid, pid from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`)
  if (lock === undefined) throw new Error('The server holds a lock')
  const waiting = thief.query('select pg_advisory_lock($1, $2)', [lock.classid, lock.objid])
  const killer = new pg.Client({ connectionString: postgres.url })
  await killer.connect()
  await killer.query('select pg_terminate_backend($1)', [lock.pid])
  await killer.end()
  await waiting
  await t.rejects(client.appendToStream('a', event()))
  t.match(await store.lost, { message: /Another event store/ })
})

t.test('a Postgres that is silent is noticed, also when nobody writes; once it answers, all goes on', async (t) => {
  const postgres = await scratchPostgres(t)
  const storage = postgresStorage({ databaseUrl: postgres.url, schema: 'eventstore', statementMs: 500 })
  const { store, client } = await scratchEventStore(t, { postgres, storage })
  await client.appendToStream('a', event())
  const { rows: [writer] } = await storage.readers.query(`
    SELECT pid FROM pg_stat_activity
    WHERE application_name = 'ringledger-event-store-writer' AND datname = current_database()`)
  process.kill(writer.pid, 'SIGSTOP')
  t.teardown(() => { try { process.kill(writer.pid, 'SIGCONT') } catch {} })
  const health = async () => (await fetch(`http://127.0.0.1:${store.port}/health/live`)).status
  await eventually(async () => await health() === 503)
  await refused(t, client.appendToStream('a', event()), UnavailableError)
  process.kill(writer.pid, 'SIGCONT')
  await eventually(async () => await health() === 204)
  const last = event()
  await eventually(() => client.appendToStream('a', last).catch(() => false as const))
  t.equal((await collect(client.readStream('a'))).length, 2, 'what was refused was not written')
})
