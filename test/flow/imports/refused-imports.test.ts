// What no import is made of: each refusal says what is wrong, and nothing is kept.
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { commandHandler } from '../../../src/commands/handle.js'
import { importLead } from '../../../src/features/leads/import.js'
import { uuidV5 } from '../../../src/log/stored.js'
import { sendRaw } from '../../support/http/open-connections.js'
import { eventually } from '../../support/eventually.js'
import { imports, numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

const service = await testService(t)
const { pool } = service.parts
const { sendJson, sendCsv } = imports(service)
const line = `${numberOf(1)}\n`

t.test('CSV that cannot be read, by what is wrong with it', async (t) => {
  const cases: Array<[text: string | Uint8Array, words: RegExp]> = [
    ['', /must begin with a header line/],
    ['customer_name\nAda\n', /must name phone_number/],
    ['phone_number,a,a\n', /name each column once/],
    ['phone_number,\n', /name every column/],
    ['phone_number,__proto__\n', /must not name __proto__/],
    ['phone_number\n', /at least one row/],
    [`phone_number,a\n${numberOf(1)},b\n${numberOf(2)},"open`, /row 2 cannot be read: a quote is never closed/],
    [`phone_number,a\n${numberOf(1)},"b"c\n`, /row 1 cannot be read: a quote inside/],
    [`phone_number\n${'x'.repeat(300 * 1024)}\n`, /too long/],
    ['phone_number,Phone Number\n', /name each column once/],
    [new Uint8Array([...Buffer.from('phone_number\n'), 0xff, 0xfe, 0x0a]), /must be UTF-8/],
    [Buffer.from('phone_number;customer_name\r\n+15550000001;Zo\xeb\r\n', 'latin1'), /line 2 has bytes that are not UTF-8/],
    [Buffer.from('PK\x03\x04 of Excel'), /must be UTF-8: it is an Excel workbook/],
    ['\n,\nphone_number\n,\n\n"open', /row 3 cannot be read/]
  ]
  for (const [text, words] of cases) {
    const { status, body } = await sendCsv(text)
    t.equal(status, 422, String(words))
    t.match(body.errors.body?.join(), words)
  }
})

t.test('a client that reads nothing before it has sent all of its file is told that the beginning is refused', async (t) => {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  t.teardown(() => socket.destroy())
  const file = Buffer.alloc(20 * 2 ** 20, 'customer_name\n')
  socket.write('POST /user/leads/import?campaign_id=1 HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\n' +
    `Authorization: Bearer ${await service.token('1')}\r\nContent-Length: ${file.length}\r\n\r\n`)
  await new Promise((resolve) => socket.write(file, resolve))
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => { answer += text })
  await eventually(() => answer.includes('must name phone_number'))
  t.match(answer, /^HTTP\/1\.1 422 /)
})

t.test('campaigns and rules', async (t) => {
  t.match((await sendCsv(`phone_number\n${line}`, '')).body, { errors: { campaign_id: ['is required'] } })
  t.match((await sendCsv(`phone_number\n${line}`, 'campaign_id=999')).body, { errors: { campaign_id: [/one of your/] } })
  t.match((await sendCsv(`phone_number\n${line}`, 'campaign_id=1&if_duplicate=no')).body, { errors: { if_duplicate: Array } })
  const both = await sendCsv(`phone_number\n${line}`, 'if_duplicate=no')
  t.match(both.body, { errors: { campaign_id: ['is required'], if_duplicate: Array } }, 'all at once')
  const misspelled = await sendCsv(`phone_number\n${line}`, 'campaign_id=999&if_duplicates=allow')
  t.equal(misspelled.headers.get('x-ignored-fields'), 'if_duplicates')
  const leads = [{ phone_number: numberOf(1) }]
  t.match((await sendJson({ leads })).body, { errors: { campaign_id: ['is required'] } })
  const twice = await service.call('POST', '/user/leads/import?campaign_id=1', { campaign_id: 1, leads: [] })
  t.strictSame(twice.body.errors, { leads: ['must not be empty'] })
  t.match((await sendJson({ campaign_id: 1, leads: [] })).body, { errors: { leads: ['must not be empty'] } })
  t.match(
    (await sendJson({ campaign_id: 1, leads: Array(1_001).fill({}) })).body, { errors: { leads: [/at most 1000/] } }
  )
  t.match((await sendJson({ campaign_id: 1, leads: ['x'] })).body, { errors: { 'leads.0': ['must be an object'] } })
})

t.test('bodies that are too large or of another type', async (t) => {
  const large = { phone_number: numberOf(1), variables: { note: 'x'.repeat(2 ** 21) } }
  t.equal((await sendJson({ campaign_id: 1, leads: [large] })).status, 413)
  for (const type of ['text/csv; charset=latin1', 'text/plain']) {
    const { status, body } = await sendCsv('phone_number\n', 'campaign_id=1', { 'content-type': type })
    t.match({ status, body }, { status: 415, body: { message: /JSON or CSV, both in UTF-8/ } }, type)
  }
  t.equal((await service.call('POST', '/user/lead', 'x', { headers: { 'content-type': 'text/csv' } })).status, 415)
})

t.test('an import that is refused does not count as under way, also with a key', async (t) => {
  for (let n = 0; n < 5; n++) {
    const { status, body } = await sendCsv('phone_number\n', 'campaign_id=1', { 'idempotency-key': `refused ${n}` })
    t.match({ status, body }, { status: 422, body: { errors: { body: [/at least one row/] } } })
  }
  const { rows } = await pool.query("SELECT id FROM ledger.work WHERE kind = 'lead-import'")
  t.same(rows, [])
})

t.test('uploads that are being read count, too', async (t) => {
  const { url, token } = service
  const begun = await Promise.all(Array.from({ length: 5 }, async () => {
    const headers = { authorization: `Bearer ${await token('2')}`, 'content-type': 'text/csv', expect: '100-continue' }
    const asking = request(`${url}/user/leads/import?campaign_id=3`, { method: 'POST', headers }).on('error', () => {})
    t.teardown(() => asking.destroy())
    asking.flushHeaders()
    await once(asking, 'continue')
    return asking
  }))
  const sixth = imports(service, '2')
  t.equal((await sixth.sendCsv(`phone_number\n${line}`)).status, 429)
  begun[0]?.destroy()
  await eventually(async () => (await sixth.sendCsv('name\n')).status === 422)
})

t.test('more imports than may be under way', async (t) => {
  for (let n = 0; n < 5; n++) t.equal((await sendCsv(`phone_number\n${numberOf(n)}\n`)).status, 202)
  const { status, body, headers } = await sendCsv(`phone_number\n${line}`)
  t.match([status, headers.get('retry-after')], [429, '10'])
  t.match(body.message, /Too many of your imports/)
  const unread = await sendRaw(`${service.url}/user/leads/import`, 'POST /user/leads/import?campaign_id=1 HTTP/1.1\r\nHost: x\r\n' +
    `Authorization: Bearer ${await service.token('1')}\r\nContent-Type: text/csv\r\nExpect: 100-continue\r\n` +
    'Transfer-Encoding: chunked\r\n\r\n')
  t.equal(unread.status, 429, 'and no 100 Continue asks for the body')
  t.equal((await imports(service, '2').sendCsv(`phone_number\n${line}`, 'campaign_id=3')).status < 500, true)
})

t.test('of rows that a killed worker had begun, those in the log are reported, and no other comes into a deleted campaign', async (t) => {
  const asUser = { user: '4' }
  const { sendJson, ended, results } = imports(service, asUser.user)
  const { id: campaign_id } = (await service.call('POST', '/user/campaign', { name: 'Gone soon' }, asUser)).body.data
  const leads = [{ phone_number: numberOf(51) }, { phone_number: numberOf(52) }]
  const { id } = (await sendJson({ campaign_id, leads })).body.data
  const { streams, phoneHash } = service.parts
  await importLead({ handle: commandHandler(streams), phoneHash }, {
    commandId: uuidV5(id, 'row 1'),
    importId: id,
    userId: '4',
    submitted: { body: { phone_number: numberOf(51), campaign_id } },
    listed: new Set(),
    ids: [700_000],
    isRetry: false,
    isCampaignDeleted: false
  })
  await pool.query("UPDATE ledger.lead_import_parts SET ids = '{700000,700001}' WHERE user_id = '4'")
  await service.call('DELETE', `/user/campaign/${campaign_id}`, undefined, asUser)
  const { stop } = await service.start(['worker'])
  t.match(await ended(id), { status: 'completed', created: 1, invalid: 1 })
  t.match((await results(id)).data, [{ lead_id: 700_000 }, { errors: { campaign_id: ['must be one of your campaigns'] } }])
  await stop()
})

t.test('an import whose campaign is deleted before its rows are done fails', async (t) => {
  const asUser = { user: '3' }
  const { sendJson, ended } = imports(service, asUser.user)
  const { id: campaign_id } = (await service.call('POST', '/user/campaign', { name: 'Gone soon' }, asUser)).body.data
  const send = () => sendJson({ campaign_id, leads: [{ phone_number: numberOf(50) }] }, { 'idempotency-key': 'gone soon' })
  const { id } = (await send()).body.data
  await service.call('DELETE', `/user/campaign/${campaign_id}`, undefined, asUser)
  t.match(await send(), { status: 202, body: { data: { id } } }, 'a retry has the first answer')
  await service.start(['worker'])
  t.match(await ended(id), { status: 'failed', reason: 'The campaign was deleted.', created: 0 })
})
