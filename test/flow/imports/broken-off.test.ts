// Senders and readers of imports who go away in the middle: nothing of it stays, and no back end is blamed.
import { request as post } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { csvRecords } from '../../../src/http/csv.js'
import { eventually } from '../../support/eventually.js'
import { imports, numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

const METRICS_TOKEN = `${'m'.repeat(32)}1`
const service = await testService(t, ['api', 'projector', 'worker'], { METRICS_TOKEN })
const { url, token, parts: { pool } } = service
const { sendCsv, ended } = imports(service)
const authorization = `Bearer ${await token('1')}`
const limits = { mostBytes: 2 ** 20, mostRecordBytes: 2 ** 10 }
const parts = async () => (await pool.query('SELECT FROM ledger.lead_import_parts')).rowCount ?? 0
const metrics = async () =>
  await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })).text()

t.test('a body that breaks off is a fault of its sender, whatever the socket says', async (t) => {
  const reset = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
  const source = Readable.from((async function * () {
    yield Buffer.from('phone_number\n+15550000001\n')
    throw reset
  })())
  const read: string[][] = []
  await t.rejects(async () => { for await (const record of csvRecords(source, limits)) read.push(record) },
    { name: 'BrokenOff', statusCode: 400, cause: reset })
})

t.test('what had been kept of a body goes when it breaks off', async (t) => {
  const sending = post(`${url}/user/leads/import?campaign_id=1`, {
    method: 'POST', headers: { authorization, 'content-type': 'text/csv' }
  })
  sending.on('error', () => {}) // its own end
  sending.write(`phone_number\n${Array.from({ length: 1_200 }, (_, n) => numberOf(n)).join('\n')}\n`)
  await eventually(async () => await parts() >= 2)
  sending.destroy()
  await eventually(async () => await parts() === 0)
  t.equal((await pool.query('SELECT FROM ledger.work')).rowCount, 0)
  t.notMatch(await metrics(), /route="\/user\/leads\/import",status="5/)
})

const total = 20_000

t.test('results stop being read when their reader is gone', async (t) => {
  const { body: { data: { id } } } = await sendCsv(`phone_number\n${numberOf(1)}\n`)
  await ended(id)
  await pool.query(`
    INSERT INTO ledger.lead_import_results (import_id, row, outcome, errors)
    SELECT $1, 1 + n, 'invalid', json_build_object('phone_number', json_build_array(repeat('x', 2000)))
    FROM generate_series(1, ${total}) n`, [id])
  const isRead = async () => (await pool.query(`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
      AND (query LIKE 'FETCH %' OR query LIKE '%lead_import_results%') AND pid <> pg_backend_pid()`)).rowCount
  const leaving = new AbortController()
  const { body } = await fetch(`${url}/user/lead-import/${id}/results`, {
    headers: { authorization, accept: 'text/csv' }, signal: leaving.signal
  })
  await body?.getReader().read()
  t.equal(await isRead(), 1, 'it waits for its reader')
  leaving.abort()
  await eventually(async () => await isRead() === 0)
})

t.test('rows that were done are counted, and what waits', async (t) => {
  const { body: { data: { id } } } = await sendCsv(`phone_number\n${numberOf(2)}\n${numberOf(2)}\nx\n`)
  await ended(id)
  const text = await metrics()
  t.match(text, /^ringledger_import_rows_total\{outcome="created"\} 2$/m)
  t.match(text, /^ringledger_import_rows_total\{outcome="duplicate"\} 1$/m)
  t.match(text, /^ringledger_import_rows_total\{outcome="invalid"\} 1$/m)
  for (const name of ['requests_pending', 'requests_failing', 'oldest_seconds']) {
    t.match(text, new RegExp(`^ringledger_background_${name}\\{kind="lead-import"\\} 0$`, 'm'))
  }
})
