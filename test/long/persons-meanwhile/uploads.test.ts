// Rows of an import whose body is still being sent while their person is erased: those that were kept are refused in
// their place, and everybody else is imported.
import { once } from 'node:events'
import { request as post, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { erasing } from '../../support/persons/erasing.js'
import { hasNothingOf } from '../../support/persons/persons.js'
import { testService } from '../../support/service.js'
import { imports, numberOf } from '../../support/scenes/scenes.js'

t.setTimeout(180_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool }, token, url } = service
const { ended, results } = imports(service)
const erase = erasing(service)
const authorization = `Bearer ${await token('1')}`
/** Of which the first 500 are a part. */
const sent = 600
t.test('a body that is still being sent: rows of before the erasure are refused, one of after it is not', async (t) => {
  const [gone = '', ...others] = Array.from({ length: sent }, (_, n) => numberOf(n))
  const rows = [...others.slice(0, 99), gone, ...others.slice(99)]
  const headers = { authorization, 'content-type': 'text/csv' }
  const sending = post(`${url}/user/leads/import?campaign_id=1`, { method: 'POST', headers })
  sending.write(`phone_number\n${rows.join('\n')}\n`)
  await eventually(async () => (await pool.query(
    'SELECT FROM ledger.lead_import_parts WHERE strpos(leads::text, $1) > 0', [rows[0]])).rowCount === 1)
  await erase(gone)
  await hasNothingOf(t, service, gone)
  sending.end(`${gone}\n`)
  const [answer] = await once(sending, 'response') as [IncomingMessage]
  t.equal(answer.statusCode, 202)
  const { data: { id } } = await json(answer) as { data: { id: string } }
  t.match(await ended(id), { status: 'completed', processed: sent + 1, created: sent, invalid: 1 })
  const { data } = await results(id, 'per_page=100')
  t.match(data.filter(({ outcome }: { outcome: string }) => outcome === 'invalid'), [{ row: 100, errors: { phone_number: ['was erased before its turn came'] } }])
  const found = (await call('GET', `/user/leads?search=${encodeURIComponent(gone)}`)).body.data
  t.match(found, [{ phone_number: gone }], 'what was sent after the erasure comes after it')
})
