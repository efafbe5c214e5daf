// The stream of an entry decides, for every writer, and against every answer of before.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { eventually } from '../../support/eventually.js'
import { testService } from '../../support/service.js'

const service = await testService(t)
const { call, parts: { pool, streams } } = service
let last = 15558100000
const newNumber = () => `+${++last}`
const list = (phone_number: string) => call('POST', '/user/blacklist', { phone_number })

t.test('a lead that was answered before is answered again as blacklisted', async (t) => {
  const number = newNumber()
  const headers = { 'idempotency-key': randomUUID() }
  const body = { phone_number: number, campaign_id: 1 }
  t.match((await call('POST', '/user/lead', body, { headers })).body.data, { status: 'created' })
  await list(number)
  const again = await call('POST', '/user/lead', body, { headers })
  t.match([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
  t.equal(again.body.data.status, 'blacklisted')
})

t.test('an entry by a process that dies with the append counts, and the lead of one that knew nothing of it', async (t) => {
  const number = newNumber()
  const first = await list(number)
  const stream = await streamOf(first.body.data.id)
  await call('DELETE', `/user/blacklist/${first.body.data.id}`)
  const lead = (await call('POST', '/user/lead', { phone_number: number, campaign_id: 1 })).body.data
  t.equal(lead.status, 'created')
  await streams.append(stream, [{
    id: randomUUID(),
    type: 'PhoneNumberBlacklisted',
    data: {
      blacklist_id: 77_000, user_id: '1', phone_number: number, reason: null, created_at: new Date().toISOString()
    },
    metadata: { schema_version: '1' }
  }], 1n)
  t.equal(
    (await call('POST', '/user/lead', { phone_number: number, campaign_id: 1, allow_dupplicate: true })).status, 422
  )
  await eventually(async () => (await call('GET', `/user/lead/${lead.id}`)).body.data.status === 'blacklisted')
  t.equal((await call('DELETE', '/user/blacklist/77000')).status, 200)
})

async function streamOf (id: number): Promise<string> {
  const { rows: [row] } = await pool.query<{ stream: string }>('SELECT stream FROM read_model.blacklist WHERE id = $1', [id])
  return row?.stream ?? ''
}
