// Users import leads in bulk, as JSON or CSV, from the request to the results. A refused import says what is wrong and
// leaves nothing.
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { commandHandler } from '../../../src/commands/handle.js'
import { importLead } from '../../../src/features/leads/import.js'
import { uuidV5 } from '../../../src/log/stored.js'
import { newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { sendRaw } from '../../support/http/open-connections.js'
import { imports, numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

const METRICS_TOKEN = `${'m'.repeat(32)}1`
const service = await testService(t, ['api', 'projector'], { METRICS_TOKEN })
const { call, url, token, parts: { pool } } = service
const { sendJson, sendCsv, ended, results } = imports(service)
const authorization = `Bearer ${await token('1')}`
const leadsOf = async (phone: string) =>
  (await call('GET', `/user/leads?phone_number=${encodeURIComponent(phone)}`)).body.data
const partsLeft = async () => (await pool.query('SELECT FROM ledger.lead_import_parts')).rowCount ?? 0
const campaignOf = async (user: string): Promise<number> =>
  (await call('POST', '/user/campaign', { name: 'Theirs' }, { user })).body.data.id
const line = `${numberOf(1)}\n`

t.test('a refusal of CSV says what is wrong with it', async (t) => {
  const cases: Array<[text: string | Uint8Array, words: RegExp]> = [
    ['', /must begin with a header line/],
    ['customer_name\nAda\n', /must name phone_number/],
    ['phone_number,Phone Number\n', /name each column once/],
    ['phone_number,__proto__\n', /must not name __proto__/],
    ['phone_number\n', /at least one row/],
    ['\n,\nphone_number\n,\n\n"open', /row 3 cannot be read: a quote is never closed/],
    [`phone_number\n${'x'.repeat(300 * 1024)}\n`, /too long/],
    [Buffer.from('phone_number;customer_name\r\n+15550000001;Zo\xeb\r\n', 'latin1'), /line 2 has bytes that are not UTF-8/],
    [Buffer.from('PK\x03\x04 of Excel'), /must be UTF-8: it is an Excel workbook/]
  ]
  for (const [text, words] of cases) {
    const { status, body } = await sendCsv(text)
    t.equal(status, 422, String(words))
    t.match(body.errors.body?.join(), words)
  }
})

t.test('a client that reads only after it sent its whole file learns that its beginning was refused', async (t) => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  t.teardown(() => socket.destroy())
  const file = Buffer.alloc(20 * 2 ** 20, 'customer_name\n')
  socket.write('POST /user/leads/import?campaign_id=1 HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\n' +
    `Authorization: ${authorization}\r\nContent-Length: ${file.length}\r\n\r\n`)
  await new Promise((resolve) => socket.write(file, resolve))
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => { answer += text })
  await eventually(() => answer.includes('must name phone_number'))
  t.match(answer, /^HTTP\/1\.1 422 /)
})

t.test('a wrong campaign, rule or list of leads is refused by field', async (t) => {
  t.match((await sendCsv(`phone_number\n${line}`, 'campaign_id=999')).body, { errors: { campaign_id: [/one of your/] } })
  const both = await sendCsv(`phone_number\n${line}`, 'if_duplicate=no')
  t.match(both.body, { errors: { campaign_id: ['is required'], if_duplicate: Array } }, 'all at once')
  t.match((await sendJson({ campaign_id: 1, leads: [] })).body, { errors: { leads: ['must not be empty'] } })
  t.match(
    (await sendJson({ campaign_id: 1, leads: Array(1_001).fill({}) })).body, { errors: { leads: [/at most 1000/] } }
  )
  t.match((await sendJson({ campaign_id: 1, leads: ['x'] })).body, { errors: { 'leads.0': ['must be an object'] } })
})

t.test('a body that is too large is a 413, one of another type a 415', async (t) => {
  const large = { phone_number: numberOf(1), variables: { note: 'x'.repeat(2 ** 21) } }
  t.equal((await sendJson({ campaign_id: 1, leads: [large] })).status, 413)
  const { status, body } = await sendCsv('phone_number\n', 'campaign_id=1', { 'content-type': 'text/csv; charset=latin1' })
  t.match({ status, body }, { status: 415, body: { message: /JSON or CSV, both in UTF-8/ } })
})

t.test('an import that is refused does not count as under way, also with a key', async (t) => {
  for (let n = 0; n < 5; n++) {
    const { status, body } = await sendCsv('phone_number\n', 'campaign_id=1', { 'idempotency-key': `refused ${n}` })
    t.match({ status, body }, { status: 422, body: { errors: { body: [/at least one row/] } } })
  }
  const { rows } = await pool.query("SELECT id FROM ledger.work WHERE kind = 'lead-import'")
  t.same(rows, [])
})

t.test('uploads that are being read count as under way', async (t) => {
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

t.test('a user has five imports under way at most; a sixth is a 429', async (t) => {
  const [{ sendCsv }, query] = [imports(service, '6'), `campaign_id=${await campaignOf('6')}`]
  for (let n = 0; n < 5; n++) t.equal((await sendCsv(`phone_number\n${numberOf(n)}\n`, query)).status, 202)
  const { status, body, headers } = await sendCsv(`phone_number\n${line}`, query)
  t.match([status, headers.get('retry-after')], [429, '10'])
  t.match(body.message, /Too many of your imports/)
  const unread = await sendRaw(`${url}/user/leads/import`, `POST /user/leads/import?${query} HTTP/1.1\r\nHost: x\r\n` +
    `Authorization: Bearer ${await token('6')}\r\nContent-Type: text/csv\r\nExpect: 100-continue\r\n` +
    'Transfer-Encoding: chunked\r\n\r\n')
  t.equal(unread.status, 429, 'and no 100 Continue asks for the body')
  t.equal((await imports(service, '2').sendCsv(`phone_number\n${line}`, 'campaign_id=3')).status, 202, 'another user')
})

t.test('a worker reports the rows that a killed one wrote, and writes no other row into a deleted campaign', async (t) => {
  const { sendJson, ended, results } = imports(service, '4')
  const campaign_id = await campaignOf('4')
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
  await call('DELETE', `/user/campaign/${campaign_id}`, undefined, { user: '4' })

  const untouched = imports(service, '3')
  const other = await campaignOf('3')
  const send = () => untouched.sendJson({ campaign_id: other, leads: leads.slice(0, 1) }, { 'idempotency-key': 'gone soon' })
  const failing = (await send()).body.data.id
  await call('DELETE', `/user/campaign/${other}`, undefined, { user: '3' })
  t.match(await send(), { status: 202, body: { data: { id: failing } } }, 'a retry has the first answer')

  await service.start(['worker']) // no import is worked on before
  t.match(await ended(id), { status: 'completed', created: 1, invalid: 1 })
  t.match((await results(id)).data, [{ lead_id: 700_000 }, { errors: { campaign_id: ['must be one of your campaigns'] } }])
  t.match(await untouched.ended(failing), { status: 'failed', reason: 'The campaign was deleted.', created: 0 })
  await eventually(async () => await partsLeft() === 0)
})

t.test('each row of an import in JSON becomes a lead, or has an outcome that says why not', async (t) => {
  const phone = numberOf(1)
  const leads = [
    { phone_number: phone, variables: { customer_name: 'Ada', plan: 'a' }, secondary_contacts: [{ phone_number: numberOf(2) }] },
    { phone_number: phone },
    { phone_number: '555', variables: { email: 7 } },
    { phone_number: numberOf(3), variables: { note: '\0' } },
    {}
  ]
  const started = await sendJson({ campaign_id: 1, leads })
  t.equal(started.status, 202)
  t.match(started.body, { message: 'Import started', data: { id: /^[0-9a-f-]{36}$/, status: 'processing' } })
  const { id } = started.body.data
  t.match(await ended(id), {
    id, status: 'completed', total: 5, processed: 5, created: 1, duplicates: 1, invalid: 3, reason: null, finished_at: /Z$/
  })
  const { data, meta } = await results(id)
  t.equal(meta.total, 5)
  t.match(data, [
    { row: 1, outcome: 'created', lead_id: Number, errors: null },
    { row: 2, outcome: 'duplicate', lead_id: null, errors: null },
    { row: 3, outcome: 'invalid', errors: { phone_number: [/E\.164/], 'variables.email': ['must be a string'] } },
    { row: 4, outcome: 'invalid', errors: { 'variables.note': [/NUL/] } },
    { row: 5, outcome: 'invalid', errors: { phone_number: ['is required'] } }
  ])
  const [lead] = await leadsOf(phone)
  t.match(lead, { id: data[0].lead_id, variables: { customer_name: 'Ada', email: '', plan: 'a' }, campaign_id: 1 })
  t.equal(lead.secondary_contacts[0].phone_number, numberOf(2))
  t.equal(await partsLeft(), 0, 'the rows themselves are gone')
})

t.test('a user finds their imports again, the newest first', async (t) => {
  const { id } = (await sendJson({ campaign_id: 1, leads: [{ phone_number: numberOf(4) }] })).body.data
  const newest = await ended(id)
  const unsent = randomUUID()
  await pool.query("INSERT INTO ledger.work (id, kind, user_id, input) VALUES ($1, 'lead-import', '1', '{}')", [unsent])
  const { data, meta } = (await call('GET', '/user/lead-imports')).body
  t.same(data[0], newest)
  t.equal(data.length, 2)
  t.equal(meta.total, 2)
  t.same((await call('GET', '/user/lead-imports', undefined, { user: 'nobody' })).body.data, [])
  await pool.query('DELETE FROM ledger.work WHERE id = $1', [unsent])
})

t.test('a row with a history that cannot be read is refused, and the other one is a lead', async (t) => {
  const told = numberOf(900)
  const { id } = (await call('POST', '/user/lead', newLead({ phone_number: told }))).body.data
  const { rows: [{ stream }] } = await pool.query('SELECT stream FROM read_model.leads WHERE id = $1', [id])
  await service.parts.streams.append(stream, [{ id: randomUUID(), type: 'LeadUpdated', data: { bad: 1 }, metadata: {} }], 0n)
  const rows = [told, numberOf(903)].map((phone_number) => ({ phone_number }))
  const { body } = await sendJson({ campaign_id: 1, leads: rows })
  t.match(await ended(body.data.id), { status: 'completed', created: 1, invalid: 1 })
  t.match((await results(body.data.id)).data, [
    { errors: { phone_number: ['has a history that cannot be read: an operator must mend it'] } }, { outcome: 'created' }
  ])
})

t.test('a row that is too large once it is sealed is refused, and the others are leads', async (t) => {
  const variables = (bytes: number) => ({ x: randomBytes(bytes * 3 / 4).toString('base64') })
  const contacts = Array.from({ length: 10 }, (_, n) =>
    ({ phone_number: numberOf(920 + n), variables: variables(62 * 1024) }))
  const large = { phone_number: numberOf(911), variables: variables(240 * 1024), secondary_contacts: contacts }
  const leads = [{ phone_number: numberOf(910) }, large, { phone_number: numberOf(912) }]
  const { body } = await sendJson({ campaign_id: 1, leads })
  t.match(await ended(body.data.id), { status: 'completed', created: 2, invalid: 1 })
  t.match((await results(body.data.id)).data, [{ outcome: 'created' }, { errors: { row: ['is too large'] } }, { outcome: 'created' }])
})

t.test('CSV may have a byte order mark, quotes and line breaks; a row with another count of cells is invalid', async (t) => {
  const rows = [
    '\uFEFFphone_number,customer_name,email,plan',
    `${numberOf(10)},"Ada ""the first""\r\nExample",ada@example.com,yearly`,
    `${numberOf(11)},too,few`,
    '',
    `${numberOf(12)},=1+1,,`,
    `${numberOf(10)},again,,`
  ]
  const { status, body } = await sendCsv(rows.join('\r\n'))
  t.equal(status, 202)
  t.match(await ended(body.data.id), { total: 4, created: 2, duplicates: 1, invalid: 1 })
  const { data } = await results(body.data.id)
  t.match(data[1], { row: 2, outcome: 'invalid', errors: { row: ['has 3 cells, and the header line has 4'] } })
  const [lead] = await leadsOf(numberOf(10))
  t.match(lead.variables, { customer_name: 'Ada "the first"\r\nExample', email: 'ada@example.com', plan: 'yearly' })
  t.match(await leadsOf(numberOf(12)), [{ variables: { customer_name: '=1+1', plan: '' } }])
})

t.test('an import takes files as spreadsheets, editors and shells write them', async (t) => {
  const [one, two] = [numberOf(200), numberOf(201)]
  const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')
  const files: Record<string, string | Uint8Array> = {
    'Excel, CSV UTF-8, where a comma is that of decimals': `\uFEFFPhone Number;Customer_Name;EMAIL;Plan\r\n${one};Zoë;;a\r\n ${two}\u00a0;Bo;;b\r\n`,
    'Excel, Unicode text': utf16(`phone_number\tcustomer_name\temail\tPlan\r\n${one}\tZoë\t\ta\r\n${two}\tBo\t\tb\r\n`),
    'empty rows around and between': `,,,\n\nphone_number,customer_name,email,Plan\n , ,,\n${one},Zoë,,a\n\n${two},Bo,,b\n,,,\n\n`
  }
  for (const [name, text] of Object.entries(files)) {
    const { body: { data } } = await sendCsv(text, 'campaign_id=1&if_duplicate=allow')
    t.match(await ended(data.id), { total: 2, created: 2 }, name)
  }
  for (const [phone, variables] of [[one, { customer_name: 'Zoë', email: '', Plan: 'a' }], [two, { customer_name: 'Bo', Plan: 'b' }]] as const) {
    const found = await leadsOf(phone)
    t.equal(found.length, Object.keys(files).length)
    for (const lead of found) t.match(lead, { phone_number: phone, variables })
    t.equal(Object.keys(found[0].variables).length, 3)
  }
})

t.test('an export is an import of the same leads', async (t) => {
  const note = '\'=1;=2\t@3,\r\n"-x'
  const sent = [
    { phone_number: numberOf(220), variables: { customer_name: '=1+1', email: '', note, tags: ['a', 1, { b: null }] } },
    { phone_number: numberOf(221), secondary_contacts: [{ phone_number: numberOf(222), variables: { customer_name: ' Bo' } }] }
  ]
  for (const lead of sent) await call('POST', '/user/lead', { ...lead, campaign_id: 1 })
  const { body: { data: { id: other } } } = await call('POST', '/user/campaign', { name: 'Second' })
  const shown = ({ phone_number, variables, secondary_contacts = [] }: Record<string, unknown>): object =>
    ({ phone_number, variables, contacts: (secondary_contacts as Array<Record<string, unknown>>).map(shown) })
  for (const { phone_number } of sent) {
    const csv = await (await fetch(`${url}/user/leads/export?bom=true&phone_number=${encodeURIComponent(phone_number)}`, { headers: { authorization } })).text()
    const { body: { data } } = await sendCsv(csv, `campaign_id=${other}`)
    t.match(await ended(data.id), { total: 1, created: 1 }, csv)
    const [again, first, ...more] = (await leadsOf(phone_number)).map(shown)
    t.strictSame(again, first)
    t.same(more, [])
  }
})

t.test('the same Idempotency-Key is the same import, and another body under it is refused', async (t) => {
  const headers = { 'idempotency-key': 'import-1' }
  const text = `phone_number\n${numberOf(40)}\n`
  const [first, again] = [await sendCsv(text, undefined, headers), await sendCsv(text, undefined, headers)]
  t.equal(again.status, 202)
  t.equal(again.body.data.id, first.body.data.id)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  const other = await sendCsv(`${text}${numberOf(41)}\n`, undefined, headers)
  t.match(other, { status: 422, body: { errors: { 'Idempotency-Key': Array } } })
  t.match(await ended(first.body.data.id), { total: 1, created: 1 })
  t.equal(await partsLeft(), 0)
})

t.test('results come in pages or whole as CSV, to their user alone', async (t) => {
  const leads = Array.from({ length: 120 }, (_, n) => ({ phone_number: numberOf(1_000 + n) }))
  const { body: { data: { id } } } = await sendJson({ campaign_id: 1, leads: [...leads, { phone_number: 'x' }] })
  t.match(await ended(id), { created: 120, invalid: 1 })
  const second = await results(id, 'page=2')
  t.equal(second.data[0].row, 101)
  t.equal((await results(id, `after=${(await results(id, 'after=')).meta.next}`)).data.length, 21)
  const headers = { authorization, accept: 'text/csv' }
  const csv = await (await fetch(`${url}/user/lead-import/${id}/results`, { headers })).text()
  const lines = csv.trim().split('\r\n')
  t.equal(lines.length, 122)
  t.equal(lines[0], 'row,outcome,lead_id,errors')
  t.match(lines.at(-1), /^121,invalid,,"?phone_number must be/)
  for (const path of [`/user/lead-import/${id}`, `/user/lead-import/${id}/results`]) {
    t.equal((await call('GET', path, undefined, { user: '2' })).status, 404)
  }
})

t.test('a query string that says other than the JSON is refused, and what the JSON leaves out is taken', async (t) => {
  const send = (query: string, more: object) =>
    call('POST', `/user/leads/import?${query}`, { leads: [{ phone_number: numberOf(9) }], ...more })
  const same = ['must be the same in the query string and the body']
  for (const [query, more, errors] of [
    ['campaign_id=2&if_duplicate=skip', { campaign_id: 1, if_duplicate: 'allow' }, { campaign_id: same, if_duplicate: same }],
    ['if_duplicate=allow', {}, { campaign_id: ['is required'] }]
  ] as const) {
    const { status, body } = await send(query, more)
    t.strictSame([status, body.errors], [422, errors], query)
  }
  const { body, headers } = await send('if_duplicates=allow', { campaign_id: 1, bogus: 1 })
  const [requested] = await service.parts.streams.read(`import-${body.data.id}`, 0n, 1)
  t.match([requested?.data, headers.get('x-ignored-fields')], [{ campaign_id: 1, if_duplicate: 'skip' }, 'if_duplicates, bogus'])
})

t.test('a body that breaks off leaves nothing, and counts as no failure of a back end', async (t) => {
  const works = async () => (await pool.query('SELECT FROM ledger.work')).rowCount
  const before = await works()
  const sending = request(`${url}/user/leads/import?campaign_id=1`, {
    method: 'POST', headers: { authorization, 'content-type': 'text/csv' }
  })
  sending.on('error', () => {}) // its own end
  sending.write(`phone_number\n${Array.from({ length: 1_200 }, (_, n) => numberOf(n)).join('\n')}\n`)
  await eventually(async () => await partsLeft() >= 2)
  sending.destroy()
  await eventually(async () => await partsLeft() === 0)
  t.equal(await works(), before)
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  t.notMatch(await metrics.text(), /route="\/user\/leads\/import",status="5/)
})
