// `ringledger doctor` says who holds up whom in Postgres.
import { freePort } from '@ringledger/embedded-postgres/testing'
import pg from 'pg'
import t from 'tap'
import { secrets } from '../../support/auth/secrets.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { eventually } from '../../support/eventually.js'
import { doctor } from './doctor.js'

t.setTimeout(180_000)
t.test('who holds up whom in Postgres is found', async (t) => {
  const { url } = await scratchPostgres(t)
  const [holder, waiter] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })]
  await Promise.all([holder.connect(), waiter.connect()])
  t.teardown(() => Promise.all([holder.end(), waiter.end()]))
  await holder.query('CREATE TABLE held ()')
  await holder.query('BEGIN; LOCK TABLE held')
  const { rows: [row] } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const waiting = waiter.query('SELECT FROM held')
  const env = { ...secrets, DATABASE_URL: url, EVENTSTORE_URL: `esdb://127.0.0.1:${await freePort()}?tls=false` }
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
