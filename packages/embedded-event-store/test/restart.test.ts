// One server for a schema; Postgres may go and come back; what cannot start says why.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import t from 'tap'
import { jsonEvent, UnavailableError } from '@eventstore/db-client'
import { startEventStore } from '../src/server.js'
import { collect, connect, refused, scratchEventStore } from '../src/testing/scratch-event-store.js'
import { eventStoreEntry, eventStoreProcess } from '../src/testing/event-store-process.js'
import { postgresCluster, scratchPostgres } from '@ringledger/embedded-postgres/testing'

const event = () => jsonEvent({ type: 'Happened', data: {} })

t.test('a second server on one schema refuses; on another schema it serves; after the first it takes over', async (t) => {
  const { postgres, store, client } = await scratchEventStore(t)
  await t.rejects(startEventStore({ databaseUrl: postgres.url }), { message: /Another event store is serving the schema "eventstore"/ })
  const other = await scratchEventStore(t, { postgres, schema: 'other "schema"' })
  t.match(await other.client.appendToStream('a', event()), { nextExpectedRevision: 0n })
  await client.appendToStream('a', [event(), event()])
  await store.close()
  const successor = await scratchEventStore(t, { postgres })
  t.equal((await collect(successor.client.readStream('a'))).length, 2)
  t.match(await successor.client.appendToStream('a', event(), { expectedRevision: 1n }), { nextExpectedRevision: 2n })
})

t.test('while Postgres is away appends and reads are refused as unavailable, and it is not healthy; afterwards all goes on, live subscribers too', async (t) => {
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
  const refusals = []
  while (refusals.length < 3) {
    const failure = await client.appendToStream('a', event(), { expectedRevision: 0n }).then(() => undefined, (error: unknown) => error)
    refusals.push(failure)
  }
  t.match(refusals.at(-1), { type: 'unavailable' })
  await refused(t, collect(client.readStream('a')), UnavailableError)
  t.same([await health(), await health('?liveCode=200')], [503, 503])

  await postgres.start()
  const again = event()
  while (!await client.appendToStream('a', again, { expectedRevision: 0n }).then(() => true, () => false));
  while (!seen.includes('1')) await once(subscription, 'data')
  t.same(seen, ['0', '1'])
  t.equal(await health(), 204)
  await subscription.unsubscribe()
})

t.test('a server that lost its session to another one writes no more, and says so', async (t) => {
  const { postgres, store, client } = await scratchEventStore(t)
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

t.test('a repeated append is known again after a restart, also at any revision', async (t) => {
  const { postgres, store, client } = await scratchEventStore(t)
  const batch = [event(), event()]
  const first = await client.appendToStream('a', batch)
  await store.close()
  const successor = await scratchEventStore(t, { postgres })
  t.same(await successor.client.appendToStream('a', batch), first)
})

t.test('a process that cannot start says why in one line and fails', async (t) => {
  const start = async (env: Record<string, string>) => {
    const child = spawn(process.execPath, [eventStoreEntry], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (text: Buffer) => { errors += text.toString() })
    const [status] = await once(child, 'close') as [number]
    return { status, errors }
  }
  const [unset, unreachable] = await Promise.all([start({}), start({ DATABASE_URL: 'postgres://postgres@127.0.0.1:1/postgres' })])
  t.match(unset, { status: 1, errors: /^The event store cannot go on: DATABASE_URL is not set\n$/ })
  t.match(unreachable, { status: 1, errors: /^The event store cannot go on: .*ECONNREFUSED.*\n$/ })
})

t.test('a process goes on SIGTERM, and ends open streams as cancelled', async (t) => {
  const postgres = await scratchPostgres(t)
  const server = await eventStoreProcess(t, postgres.url)
  const subscription = connect(t, `esdb://127.0.0.1:${server.port}?tls=false`).subscribeToAll()
  await once(subscription, 'caughtUp')
  const failed = once(subscription, 'error')
  server.process().kill('SIGTERM')
  t.match(await failed, [{ type: 'cancelled' }])
  t.equal(await server.exited(), 0)
})
