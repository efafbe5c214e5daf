// The way back to a Postgres that was gone, and does not answer in time.
import { jsonEvent } from '@eventstore/db-client'
import { eventually, scratchPostgres } from '@ringledger/embedded-postgres/testing'
import pg from 'pg'
import t from 'tap'
import { postgresStorage } from '../src/log/table/storage.js'
import { scratchEventStore } from './support/scratch-event-store.js'

const event = () => jsonEvent({ type: 'Happened', data: {} })

t.test('a Postgres that is too slow while the log is opened anew is asked again, by one session at a time', async (t) => {
  const postgres = await scratchPostgres(t)
  const storage = postgresStorage({ databaseUrl: postgres.url, schema: 'eventstore', statementMs: 500 })
  const { store, client } = await scratchEventStore(t, { postgres, storage })
  await client.appendToStream('a', event())
  const slow = new pg.Client({ connectionString: postgres.url })
  await slow.connect()
  t.teardown(() => slow.end())
  await slow.query('begin; lock table eventstore.events')
  const writers = `
    from pg_stat_activity
    where application_name = 'ringledger-event-store-writer' and datname = current_database()`
  await storage.readers.query(`select pg_terminate_backend(pid) ${writers}`)
  await eventually(async () => (await storage.readers.query(`select pid ${writers}`)).rows.length === 2)
  await slow.query('rollback')
  const isBack = eventually(() => client.appendToStream('b', event()).then(() => 'back', () => false as const))
  t.equal(await Promise.race([isBack, store.lost.then(String)]), 'back')
})

t.test('a connection that dies between two statements of a read fails that read alone', async (t) => {
  const { url } = await scratchPostgres(t)
  const { readers } = postgresStorage({ databaseUrl: url, schema: 'eventstore' })
  t.teardown(() => readers.end())
  const reader = await readers.connect()
  const { rows: [own] } = await reader.query('select pg_backend_pid() as pid')
  const isDead = new Promise((resolve) => reader.once('end', resolve))
  await readers.query('select pg_terminate_backend($1)', [own.pid])
  await isDead
  await t.rejects(reader.query('select'))
  reader.release(true)
  t.equal((await readers.query('select')).rowCount, 1)
})
