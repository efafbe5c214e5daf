// Workers are killed while they import: every row is done, and no lead is there twice.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { seedOf, seeded } from '@ringledger/embedded-postgres/testing'
import { secrets } from '../../support/auth/secrets.js'
import { dataDir } from '../../support/ringledger.js'
import { imports, numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'
import { roleProcess } from '../killed-workers.js'

const rows = 20_000
/** A list counts so far. */
const mostCounted = 10_000
const kills = 10
t.setTimeout(600_000)

t.test('ten kills of workers lose and double no row', async (t) => {
  const service = await testService(t, ['api', 'projector'])
  const { pool } = service.parts
  const { sendCsv, status, results } = imports(service)
  const { databaseUrl: DATABASE_URL, eventStoreUrl: EVENTSTORE_URL } = service.urls
  const env = { ...secrets, DATABASE_URL, EVENTSTORE_URL, DATA_DIR: dataDir(t), PORT: '0' }
  const workers = [roleProcess(t, 'worker', env), roleProcess(t, 'worker', env)]
  const kill = () => Promise.all(workers.map((worker) => worker.kill()))
  t.teardown(kill)
  const start = async () => {
    for (const worker of workers) worker.start()
    await Promise.all(workers.map(({ up }) => up()))
  }
  await start()
  // The last hundred are there already.
  const numbers = Array.from({ length: rows }, (_, n) => numberOf(n % (rows - 100)))
  const { body: { data: { id } } } = await sendCsv(`phone_number\n${numbers.join('\n')}\n`)
  const random = seeded(seedOf('CHAOS_SEED'))
  for (let nth = 1; nth <= kills; nth++) {
    const from = Math.floor((nth - 1 + random()) / kills * rows * 0.8)
    await eventually(async () => (await status(id)).processed >= from, 120_000, 100)
    await kill()
    await start()
  }
  await eventually(async () => (await status(id)).status === 'completed', 240_000, 100)
  t.match(await status(id), { total: rows, processed: rows, created: rows - 100, duplicates: 100, invalid: 0 })
  t.equal((await results(id, 'per_page=1')).meta.total, Math.min(rows, mostCounted))
  const { rows: [log] } = await pool.query(`
    SELECT count(*)::integer AS leads, count(DISTINCT phone_number)::integer AS numbers FROM read_model.leads
    WHERE user_id = '1' AND phone_number LIKE '+1555%' AND campaign_id = 1`)
  t.same(log, { leads: rows - 100, numbers: rows - 100 }, 'each once')
  const { rows: [kept] } = await pool.query(`
    SELECT count(*)::integer AS results, count(DISTINCT row)::integer AS rows,
      count(*) FILTER (WHERE outcome = 'created' AND EXISTS (
        SELECT FROM read_model.leads l WHERE l.id = lead_id))::integer AS named
    FROM ledger.lead_import_results WHERE import_id = $1`, [id])
  t.same(kept, { results: rows, rows, named: rows - 100 }, 'each row once, and with the lead that is there')
})
