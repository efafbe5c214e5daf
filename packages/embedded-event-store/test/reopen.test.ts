// The way back to a Postgres that was gone, and does not answer in time.
import { jsonEvent } from '@eventstore/db-client'
import { eventually, scratchPostgres } from '@ringledger/embedded-postgres/testing'
import pg from 'pg'
import t from 'tap'
import { postgresStorage } from '../src/log/table/storage.js'
import { scratchEventStore } from '../src/testing/scratch-event-store.js'

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
