// Rows of an import whose body is still being sent while their person is erased, or whose process died in the middle of
// it: those that were kept are refused in their place, and everybody else is imported.
import { once } from 'node:events'
import { request as post, type ClientRequest, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { erasing } from '../../support/persons/erasing.js'
import { hasNothingOf } from '../../support/persons/persons.js'
import { apiProcess, testService } from '../../support/service.js'
import { listeningUrl } from '../../support/ringledger.js'
import { imports, numberOf } from '../../support/scenes/scenes.js'

t.setTimeout(180_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool }, token, url } = service
const { ended, results } = imports(service)
const erase = erasing(service)
const authorization = `Bearer ${await token('1')}`
/** Of which the first 500 are a part. */
const sent = 600
const was = 'was erased before its turn came'
let count = 0
const numbers = (amount: number) => Array.from({ length: amount }, () => numberOf(++count))

/** An import whose first part is kept, and whose body is not at its end. */
async function begun (at: string, rows: string[]): Promise<ClientRequest> {
  const headers = { authorization, 'content-type': 'text/csv', 'idempotency-key': `upload ${count}` }
  const sending = post(`${at}/user/leads/import?campaign_id=1`, { method: 'POST', headers })
  sending.on('error', () => {}) // its process is killed
  sending.write(`phone_number\n${rows.join('\n')}\n`)
  await eventually(async () => (await pool.query(
    'SELECT FROM ledger.lead_import_parts WHERE strpos(leads::text, $1) > 0', [rows[0]])).rowCount === 1)
  return sending
}

const invalidRows = (rows: Array<{ outcome: string, row: number }>) => rows.filter(({ outcome }) => outcome === 'invalid')

t.test('a body that is still being sent: rows of before the erasure are refused, one of after it is not', async (t) => {
  const [gone = '', ...others] = numbers(sent)
  const sending = await begun(url, [...others.slice(0, 99), gone, ...others.slice(99)])
  await erase(gone)
  await hasNothingOf(t, service, gone)
  sending.end(`${gone}\n`)
  const [answer] = await once(sending, 'response') as [IncomingMessage]
  t.equal(answer.statusCode, 202)
  const { data: { id } } = await json(answer) as { data: { id: string } }
  t.match(await ended(id), { status: 'completed', processed: sent + 1, created: sent, invalid: 1 })
  t.match(invalidRows((await results(id, 'per_page=100')).data), [{ row: 100, errors: { phone_number: [was] } }])
  const found = (await call('GET', `/user/leads?search=${encodeURIComponent(gone)}`)).body.data
  t.match(found, [{ phone_number: gone }], 'what was sent after the erasure comes after it')
})

t.test('a body whose process died in the middle of it', async (t) => {
  const { process, kill } = await apiProcess(t, service)
  const [gone = '', ...others] = numbers(sent)
  await begun(await process.says(listeningUrl), [gone, ...others])
  await kill()
  await erase(gone)
  await hasNothingOf(t, service, gone)
  const { rows } = await pool.query<{ leads: object[] }>('SELECT leads FROM ledger.lead_import_parts')
  t.strictSame(rows.map(({ leads }) => leads.length), [500], 'its rows wait for nobody, as those of others do')
})
