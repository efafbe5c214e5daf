// Every list and history: its query parameters, one by one, and its pages. Exports of leads and calls: whole, by id, of
// one instant, as their reader takes them. How many reads of one user are answered at once.
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { eachLead, type LeadInCampaign } from '../../../projections/find-leads.js'
import { callReport } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { refusal, told } from '../../support/scenes/scenes.js'
import { isRefusal } from '../../support/running-service.js'
import { documentedOperations, type Parameter } from '../../support/http/openapi.js'
import { newAssistant, testService } from '../../support/service.js'
import type { Teardown } from '../../support/teardown.js'

const service = await testService(t)
const { call, url, token, parts: { pool } } = service
const headers = { authorization: `Bearer ${await service.token('operator', 'ops')}` }
const get = (path: string, user = '1') => call('GET', path, undefined, { user, ...(path.startsWith('/ops/') && { headers }) })
const { id } = (await call('POST', '/user/assistant', newAssistant)).body.data
for (const assistant_name of ['Night desk', 'Day desk']) await call('PUT', `/user/assistant/${id}`, { assistant_name })
for (const phone_number of ['+15551230100', '+15551230101', '+15551230102']) {
  await call('POST', '/user/lead', { phone_number, campaign_id: 1 })
}
const leads = [{ phone_number: '+15551230199' }]
const imported = (await call('POST', '/user/leads/import', { campaign_id: 1, leads })).body.data.id
const withId = (path: string) => path.replace('{id}', String(path.includes('/lead-import/') ? imported : id))
const operations = await documentedOperations(service)
const lists = operations.filter(({ query }) => 'after' in query).map(({ path, query }) => ({ path: withId(path), query }))
const user = 'exporter'
const bearer = `Bearer ${await token(user)}`
const campaign = async (name: string): Promise<number> => (await call('POST', '/user/campaign', { name }, { user })).body.data.id
const [campaign_id, large] = [await campaign('Of few'), await campaign('Of many')]

async function walk (path: string, user = '1') {
  const pages: Array<{ data: object[], meta: Record<string, unknown> }> = []
  for (let after: unknown = ''; after !== null; after = pages.at(-1)?.meta.next) {
    const { status, body } = await get(`${path}&after=${String(after)}`, user)
    if (status !== 200) throw new Error(JSON.stringify(body))
    pages.push(body)
  }
  return { pages, items: pages.flatMap(({ data }) => data) }
}

t.test('a list has pages by number and by cursor, which hold the same', async (t) => {
  t.equal(lists.length, operations.filter(({ query }) => 'page' in query).length)
  t.ok(lists.length >= 10)
  for (const { path } of lists) {
    const whole = (await get(`${path}?per_page=100`)).body
    t.equal(whole.meta.next, null)
    const { pages, items } = await walk(`${path}?per_page=2`)
    t.strictSame(items, whole.data, path)
    t.ok(pages.every(({ meta }) => Object.keys(meta).sort().join() === 'next,per_page'), 'nothing is counted')
  }
})

t.test('a cursor that is not one of the list is refused, and so is one beside a page number', async (t) => {
  const ours = async (path: string): Promise<string> => (await get(`${path}?per_page=1`)).body.meta.next
  const lead = await ours('/user/leads')
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const parts: unknown[] = JSON.parse(Buffer.from(lead, 'base64url').toString())
  const at = (time: string, id = '1') => encoded([...parts.slice(0, 2), time, id])
  const time = '2026-01-31T12:00:00.000000Z'
  t.equal((await get(`/user/leads?after=${at(time, '9223372036854775807')}`)).status, 200, 'shaped like ours')
  for (const after of [
    await ours(`/user/assistant/${id}/history`), `${lead}A`, encoded([...parts, '1']), encoded({}),
    at('2026-02-30T12:00:00.000000Z'), at(time, '9223372036854775808'), encoded([...parts.slice(0, 3), 1])
  ]) t.match((await get(`/user/leads?after=${after}`)).body.errors, { after: [/meta\.next/] }, after)
  const answer = told(await get(`/user/leads?page=1&after=${lead}`))
  t.strictSame(answer, refusal({ after: ['must not be given together with page'] }))
})

const days = ['2024-02-29', '1000-01-01', '2026-01-31T12:00:00.5%2B05:30', '2026-01-31T12:00:00+05:30']
const noDays = ['', 'x', '2026-02-30', '2026-1-1', '2026-01-31T12:00:00', '0000-01-01', '9999-12-31']
const texts: Record<string, [good: string[], bad: string[]]> = {
  after: [[''], ['x', '%00']],
  call_id: [['A.b~c_d', 'x'.repeat(128)], ['', 'x'.repeat(129), '%2F']],
  name: [['%25', 'x'.repeat(255)], ['', 'x'.repeat(256), '%00']],
  phone_number: [['%2B1', '+1555'], ['', '0', '1'.repeat(16)]],
  search: [['1', '+1555'], ['', '%00', 'x'.repeat(256)]],
  user_id: [['a%20b', 'x'.repeat(128)], ['', '%00', 'x'.repeat(129)]],
  url: [['https://example.com', 'x'], ['', '%00', 'x'.repeat(2_049)]],
  reason: [['gone', 'x'.repeat(64)], ['', '%00', 'x'.repeat(65)]]
}

function valuesOf (
  name: string, { type, enum: choices, minimum = 1, maximum = 0 }: Parameter['schema']
): [good: string[], bad: string[]] {
  if (choices) return [choices, ['bogus', '', choices.join(',')]]
  if (/_(from|to)$/.test(name)) return [days, noDays]
  if (type === 'integer') {
    return [[String(minimum), String(maximum)], [String(minimum - 1), String(maximum + 1), '1.5', '', 'abc', '1e0', '%201']]
  }
  if (type === 'boolean') return [['false'], ['', '1', 'TRUE']]
  return texts[name] ?? [[], []]
}

t.test('each parameter takes what fits and is refused by its name for what does not', async (t) => {
  const tried = new Set<string>() // once: a list that has the same parameter as one before only shows that it has it
  for (const { path, query } of lists) {
    const values = Object.entries(query)
      .map(([name, parameter]) => ({ name, parameter, values: valuesOf(name, parameter) }))
    for (const { name, parameter, values: [good, bad] } of values) {
      t.ok(good.length > 0, `${path}?${name} is known here`)
      if (tried.size === tried.add(JSON.stringify([name, parameter])).size) continue
      for (const value of good) {
        t.equal((await get(`${path}?${name}=${value}`)).status, 200, `${path}?${name}=${value.slice(0, 30)}`)
      }
      for (const value of [...bad, `${good[0]}&${name}=${good[0]}`]) {
        const answer = await get(`${path}?${name}=${value}`)
        isRefusal(t, answer, 422, `${path}?${name}=${value.slice(0, 30)}`)
        t.match(answer.body.errors, { [name]: [/^must /] })
        t.equal(Object.keys(answer.body.errors).length, 1)
      }
    }
    const all = (which: 0 | 1) => values.map(({ name, values: { [which]: [value] } }) => `${name}=${value}`)
    const taken = await get(`${path}?${all(0).filter((parameter) => !parameter.startsWith('page=')).join('&')}`)
    t.equal(taken.status, 200, `${path} with all`)
    const refused = await get(`${path}?${all(1).join('&')}`)
    t.strictSame(Object.keys(refused.body.errors).sort(), Object.keys(query).sort(), path)
  }
})

t.test('a list ignores and names a parameter that it does not know, also one of another list', async (t) => {
  const answer = await get('/user/leads?outcome=x&bogus=1&page[]=9')
  t.strictSame(told(answer), told(await get('/user/leads')))
  t.equal(answer.headers.get('x-ignored-fields'), 'outcome, bogus, page%5B%5D')
})

t.test('a range of dates that ends before it begins is refused', async (t) => {
  const ranged = operations.filter(({ query }) => 'date_to' in query)
  t.strictSame(ranged.map(({ path }) => path).sort(), [
    '/ops/api/deliveries', '/user/calls', '/user/calls/export', '/user/leads', '/user/leads/export', '/user/webhook-deliveries'
  ])
  const instant = '2026-01-31T12:00:00'
  for (const { path } of ranged) {
    const answer = await get(`${path}?date_from=2026-02-01&date_to=2026-01-31`)
    isRefusal(t, answer, 422, path)
    t.strictSame(answer.body.errors, { date_to: ['must not be before date_from'] })
  }
  for (const [from, to, status] of [
    [`${instant}Z`, `${instant}%2B00:01`, 422], ['2026-02-01', `${instant}Z`, 422],
    ['2026-01-31', '2026-01-31', 200], [`${instant}Z`, `${instant}Z`, 200], [`${instant}Z`, '2026-01-31', 200]
  ] as const) t.equal((await get(`/user/leads?date_from=${from}&date_to=${to}`)).status, status, `${from} ${to}`)
})

t.test('a query string that cannot be decoded is a 400, as a path is', async (t) => {
  for (const path of ['/user/leads?search=%E0%A4%A', '/docs/json?%ff', '/user/lead/%E0%A4%A', '/%']) {
    const answer = await get(path)
    isRefusal(t, answer, 400, path)
    t.ok(answer.headers.get('x-correlation-id'), `${path} passes the hooks of all`)
  }
})

const createLead = async (phone_number: string, contacts: object[] = []) =>
  (await call('POST', '/user/lead', { phone_number, campaign_id, secondary_contacts: contacts }, { user })).body.data
const ask = (path: string) => fetch(url + path, { headers: { authorization: bearer } })
const textOf = async (path: string) => await (await ask(path)).text()
const linesOf = async (path: string) => (await textOf(path)).trimEnd().split('\n').map((line) => JSON.parse(line))

t.test('leads are exported as lists have them, by id, to their user alone', async (t) => {
  const first = await createLead('+15558880001', [{ phone_number: '+15558880002' }])
  const second = await createLead('+15558880003')
  const ofOther = { headers: { authorization: `Bearer ${await token('2')}` } }
  t.equal(await (await fetch(`${url}/user/leads/export?format=ndjson`, ofOther)).text(), '')
  t.strictSame(await linesOf('/user/leads/export?format=ndjson'), [first, second])
  t.strictSame((await linesOf('/user/leads/export?format=ndjson&phone_number=15558880003')), [second])
  const { status, headers } = await ask('/user/leads/export')
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  t.equal(headers.get('content-disposition'), 'attachment; filename="leads.csv"')
  t.match(headers.get('x-read-position'), /^\d+$/)
  const [head, one, two, end, ...more] = (await textOf('/user/leads/export')).split('\r\n')
  t.equal(head, 'id,phone_number,customer_name,email,status,campaign_id,campaign_name,created_at,updated_at,variables,secondary_contacts')
  t.match(one, `${first.id},+15558880001,`)
  t.match(two, `${second.id},+15558880003,`)
  t.strictSame([end, more], ['', []])
})

t.test('CSV for Excel begins with a byte order mark; an empty export is a header line, or nothing in NDJSON', async (t) => {
  const start = async (path: string) => Buffer.from(await (await ask(path)).arrayBuffer()).subarray(0, 5).toString()
  t.equal(await start('/user/leads/export?bom=true'), '\uFEFFid')
  t.equal(await start('/user/leads/export?bom=false'), 'id,ph')
  t.match(await textOf('/user/leads/export?phone_number=49999'), /^id,phone_number,[^\r]*\r\n$/)
  t.equal(await textOf('/user/leads/export?format=ndjson&phone_number=49999'), '')
  for (const path of ['leads/export?format=ndjson&bom=true', 'leads/export?format=xml', 'calls/export?status=x']) {
    t.equal((await ask(`/user/${path}`)).status, 422, path)
  }
})

t.test('calls are exported as lists have them, by id', async (t) => {
  const assistant = (await call('POST', '/user/assistant', newAssistant, { user })).body.data.id
  for (const id of ['b-call', 'a-call']) {
    await call('POST', `/engine/calls/${id}/completed`, callReport(assistant), { user: 'engine' })
  }
  const found = await eventually(async () => {
    const calls = await linesOf('/user/calls/export?format=ndjson').catch(() => [])
    return calls.length === 2 && calls
  })
  t.strictSame(found.map(({ call_id }) => call_id), ['a-call', 'b-call'])
  const { data } = (await get('/user/calls', user)).body
  t.strictSame(found, data.toSorted((one: typeof found[0], two: typeof found[0]) => one.call_id > two.call_id ? 1 : -1))
  t.match(await textOf('/user/calls/export?format=csv'), /^call_id,assistant_id,lead_id,[^\r]*\r\na-call,/)
})

const many = 3_000

t.test('an export that is read slowly is of one instant', async (t) => {
  await pool.query(`
    INSERT INTO read_model.leads (id, primary_id, place, user_id, campaign_id, phone_number, variables, status, stream,
      created_at, updated_at)
    SELECT 1000000 + n, NULL, 0, '${user}', ${large}, '+1666' || n, json_build_object('customer_name', repeat('x', 4000), 'email', ''),
      'created', 'lead-x-' || n, now(), now() FROM generate_series(1, ${many}) n`)
  const answer = await ask(`/user/leads/export?format=ndjson&campaign_id=${large}`)
  await pool.query("UPDATE read_model.leads SET status = 'completed' WHERE campaign_id = $1", [large])
  // The answer is held until here: of one that is collected as garbage, fetch cancels the body.
  const found = (await answer.text()).trimEnd().split('\n').map((line) => JSON.parse(line))
  t.equal(found.length, many)
  t.ok(found.every(({ id, status }, index) => id === 1_000_001 + index && status === 'created'))
})

t.test('rows are read in parts of at most 128 KiB, however long they are: each part is parsed at once', async (t) => {
  await pool.query(`
    INSERT INTO read_model.leads (id, primary_id, place, user_id, campaign_id, phone_number, variables, status, stream,
      created_at, updated_at)
    SELECT 2000000 + n, NULL, 0, '3', 3, '', json_build_object('customer_name', repeat('x', n * n * 16), 'email', ''), 'created',
      'lead-y-' || n, now(), now() FROM generate_series(1, 100) n`)
  const parts: LeadInCampaign[][] = []
  await eachLead(pool, { userId: '3' }, async (leads) => { parts.push(leads) }, new AbortController().signal)
  t.strictSame(parts.flat().map(({ lead }) => lead.id), Array.from({ length: 100 }, (_, n) => 2_000_001 + n))
  t.ok(parts.every((leads) => leads.length === 1 || JSON.stringify(leads).length <= 128 * 1024))
})

t.test('a user has two exports at once, others go on; an export ends when its reader is gone', async (t) => {
  const isRead = async () => (await pool.query(`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
      AND (query LIKE 'FETCH %' OR query LIKE '%read_model.leads%') AND pid <> pg_backend_pid()`)).rowCount
  const path = `/user/leads/export?campaign_id=${large}`
  const begun = () => eventually(async () => { // the one of before may not have ended yet
    const answer = await ask(path)
    return answer.status === 200 && answer
  })
  const readers = [await begun(), await begun()]
  const third = await ask(path)
  t.strictSame([third.status, third.headers.get('retry-after')], [429, '1'])
  const other = await fetch(`${url}/user/leads/export`, { headers: { authorization: `Bearer ${await token('2')}` } })
  t.equal(other.status, 200)
  await other.text()
  t.equal(await isRead(), 2, 'they wait for their readers')
  await Promise.all(readers.map(async ({ body }) => await body?.cancel()))
  await eventually(async () => await isRead() === 0)
})

/** Lists of leads wait from now on. @returns ends that */
async function lockLeads (t: Teardown): Promise<() => Promise<unknown>> {
  const lock = await pool.connect()
  t.teardown(() => lock.release())
  await lock.query('BEGIN; LOCK TABLE read_leads_g1.leads')
  return () => lock.query('COMMIT')
}

async function waitingStatements (): Promise<number> {
  const { rows: [row] } = await pool.query<{ count: number }>(`
    SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE '%json_agg%'`)
  return row?.count ?? 0
}

t.test('three lists of one user are read at once; those of others are read beside them', async (t) => {
  const unlock = await lockLeads(t)
  const lists = Array.from({ length: 8 }, () => get('/user/leads', user))
  const other = get('/user/leads', '2')
  await eventually(async () => await waitingStatements() === 4)
  t.equal((await call('GET', '/user/assistant/999999')).status, 404, 'one thing has slots of its own')
  await unlock()
  t.strictSame((await Promise.all([...lists, other])).map(({ status }) => status), Array(9).fill(200))
})

t.test('a user who hangs up and asks again has no more lists read at once, and no slot stays taken', async (t) => {
  const unlock = await lockLeads(t)
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  socket.write(`GET /user/leads HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer}\r\n\r\n`.repeat(6))
  await eventually(async () => await waitingStatements() === 3)
  socket.destroy()
  await once(socket, 'close')
  const lists = Array.from({ length: 6 }, () => get('/user/leads', user))
  for (const path of ['/user/campaigns', '/user/me', '/user/assistants']) await get(path, '2') // meanwhile the lists have arrived
  t.equal(await waitingStatements(), 3)
  const other = get('/user/leads', '2')
  await eventually(async () => await waitingStatements() === 4)
  await unlock()
  t.strictSame((await Promise.all([...lists, other])).map(({ status }) => status), Array(7).fill(200))
})
