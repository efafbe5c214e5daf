// Every list and history: its query parameters, one by one, and page behind page by `after`. Exports of leads and
// calls: whole, by id, of one instant, as their reader takes them. How many reads of one user are answered at once.
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { eachLead, type LeadInCampaign } from '../../../projections/find-leads.js'
import { leadStatuses } from '../../../src/features/leads/events.js'
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

t.test('every list with pages by number has pages by cursor', async (t) => {
  t.equal(lists.length, operations.filter(({ query }) => 'page' in query).length)
  t.ok(lists.length >= 10)
})

t.test('walked by cursor, a list holds what its pages by number hold', async (t) => {
  for (const { path } of lists) {
    const whole = (await get(`${path}?per_page=100`)).body
    t.equal(whole.meta.next, null)
    for (const per_page of [1, 2, 100]) {
      const { pages, items } = await walk(`${path}?per_page=${per_page}`)
      t.strictSame(items, whole.data, `${path} by ${per_page}`)
      t.ok(pages.every(({ meta }) => Object.keys(meta).sort().join() === 'next,per_page'), 'nothing is counted')
    }
  }
})

t.test('no item is missed or met twice while others are added', async (t) => {
  const before = (await get('/user/leads')).body.data
  const first = (await get('/user/leads?per_page=1&after=')).body
  await call('POST', '/user/lead', { phone_number: '+15551230199', campaign_id: 1 })
  const { items } = await walk('/user/leads?per_page=1')
  t.strictSame(items.slice(1), before)
  t.strictSame((await get(`/user/leads?after=${first.meta.next}`)).body.data, before.slice(1))
})

t.test('a cursor that is not one of the list is refused, and so is one beside a page number', async (t) => {
  const ours = async (path: string): Promise<string> => (await get(`${path}?per_page=1`)).body.meta.next
  const lead = await ours('/user/leads')
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const parts: unknown[] = JSON.parse(Buffer.from(lead, 'base64url').toString())
  const with3 = (at: string, key: string) => encoded([...parts.slice(0, 2), at, key])
  const time = '2026-01-31T12:00:00.000000Z'
  t.equal((await get(`/user/leads?after=${with3(time, '9223372036854775807')}`)).status, 200, 'shaped like ours')
  const refused = [
    await ours(`/user/assistant/${id}/history`), await ours('/user/assistants/voices'), `${lead}=`, `${lead}A`,
    lead.slice(1), encoded(parts.with(0, 2)), encoded([...parts, '1']), encoded(parts.slice(0, -1)), encoded({}),
    with3('2026-02-30T12:00:00.000000Z', '1'), with3('2026-01-31T24:00:00.000000Z', '1'), with3('infinity', '1'),
    with3(time, '9223372036854775808'), with3(time, '-1'), with3(time, 'x'), encoded([...parts.slice(0, 3), 1])
  ]
  const words = ['must be the meta.next of a page of this list, or empty']
  for (const after of refused) {
    t.strictSame(told(await get(`/user/leads?after=${after}`)), refusal({ after: words }), after)
  }
  for (const after of ['', lead]) {
    const answer = told(await get(`/user/leads?page=1&after=${after}`))
    t.strictSame(answer, refusal({ after: ['must not be given together with page'] }))
  }
  t.strictSame(Object.keys((await get('/user/leads?after=x&per_page=0')).body.errors).sort(), ['after', 'per_page'])
})

const longText = () => Buffer.alloc(300 * 1024, 'x').toString('latin1')

t.test('a history of large changes comes in pages of at most 1 MiB, each entry with its former value', async (t) => {
  const user = '3'
  const { id } = (await call('POST', '/user/assistant', newAssistant, { user })).body.data
  for (const letter of 'abc') {
    await call('PUT', `/user/assistant/${id}`, { system_prompt: letter + longText() }, { user })
  }
  const { pages, items } = await walk(`/user/assistant/${id}/history?per_page=100`, user)
  t.ok(pages.length > 1 && pages.every((page) => JSON.stringify(page).length < 2 ** 20))
  const told = items.slice(0, 2).map((item) => Reflect.get(item, 'changes'))
    .map(([{ field, from, to }]) => [field, from[0], to[0]])
  t.strictSame(told, [['system_prompt', 'b', 'c'], ['system_prompt', 'a', 'b']])
  t.strictSame(items.map((item) => Reflect.get(item, 'revision')), [3, 2, 1, 0])
})

const days = [
  '2026-01-31', '2024-02-29', '1000-01-01', ...['Z', '.5%2B05:30', '+05:30'].map((end) => `2026-01-31T12:00:00${end}`)
]
const noDays = [
  '', 'x', '2026-02-30', '2026-02-29', '2026-13-01', '2026-1-1', '20260131', '2026-01-31%2012:00:00',
  '2026-01-31T12:00:00', '2026-01-31%2005:30', '2026-01-31T12:00:00++05:30', '2026-01-31T25:00:00Z', '0000-01-01', '12026-01-01', '9999-12-31', 'null'
]
const texts: Record<string, [good: string[], bad: string[]]> = {
  after: [[''], ['x', 'W10', '%00', 'null', 'x'.repeat(2_000)]],
  call_id: [['c-1', 'A.b~c_d', 'x'.repeat(128)], ['', 'x'.repeat(129), '%2F', 'a%20b', '%00']],
  name: [['a', '%25', '_', 'x'.repeat(255), '%F0%9F%98%80'], ['', 'x'.repeat(256), '%00']],
  phone_number: [['%2B1', '+1555', '4'], ['', '%2B', '0', 'abc', '1-2', '1'.repeat(16)]],
  search: [['1', '+1555', '4'], ['', '%00', 'x'.repeat(256)]],
  user_id: [['1', 'a%20b', 'x'.repeat(128)], ['', '%00', 'x'.repeat(129)]],
  url: [['https://example.com', 'x'], ['', '%00', 'x'.repeat(2_049)]],
  reason: [['gone', 'x'.repeat(64)], ['', '%00', 'x'.repeat(65)]]
}

function valuesOf (
  name: string, { type, enum: choices, minimum = 1, maximum = 0 }: Parameter['schema']
): [good: string[], bad: string[]] {
  if (choices) return [choices, ['bogus', '', choices.join(','), choices.join('').toUpperCase()]]
  if (/_(from|to)$/.test(name)) return [days, noDays]
  if (type === 'integer') {
    return [[String(minimum), String(maximum)], [
      String(minimum - 1), '-1', '1.5', '', 'abc', 'true', 'null', String(maximum + 1),
      '9'.repeat(400), '1e400', '0x1', '0b1', '1e0', '1.0', '%201'
    ]]
  }
  if (type === 'boolean') return [['false'], ['', '1', 'x', 'TRUE']]
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
        t.strictSame(Object.keys(answer.body.errors), [name])
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
  const names = new Set(lists.flatMap(({ query }) => Object.keys(query)))
  for (const { path, query } of lists) {
    const unknown = [...names].filter((name) => !(name in query))
    const others = unknown.map((name) => `${name}=x&`).join('')
    const [plain, answer] = [await get(path), await get(`${path}?${others}bogus=1&page[]=9`)]
    t.strictSame(told(answer), told(plain), path)
    t.equal(answer.headers.get('x-ignored-fields'), [...unknown, 'bogus', 'page%5B%5D'].join(', '))
  }
})

t.test('a range of dates that ends before it begins is refused', async (t) => {
  const ranged = operations.filter(({ query }) => 'date_to' in query)
  t.strictSame(ranged.map(({ path }) => path).sort(), [
    '/ops/api/deliveries', '/user/calls', '/user/calls/export', '/user/leads', '/user/leads/export', '/user/webhook-deliveries'
  ])
  const instant = '2026-01-31T12:00:00'
  const reversed = [['2026-02-01', '2026-01-31'], [`${instant}Z`, `${instant}%2B00:01`], ['2026-02-01', `${instant}Z`]]
  const sound = [['2026-01-31', '2026-01-31'], [`${instant}Z`, `${instant}Z`], [`${instant}Z`, '2026-01-31']]
  for (const { path } of ranged) {
    for (const [from, to] of reversed) {
      const answer = await get(`${path}?date_from=${from}&date_to=${to}`)
      isRefusal(t, answer, 422, path)
      t.strictSame(answer.body.errors, { date_to: ['must not be before date_from'] })
    }
    for (const [from, to] of path.endsWith('export') ? [] : sound) {
      t.equal((await get(`${path}?date_from=${from}&date_to=${to}`)).status, 200, path)
    }
  }
})

t.test('a query string that cannot be decoded is a 400, as a path is', async (t) => {
  const undecodable = ['/user/leads?search=%E0%A4%A', '/user/me?a=%', '/user/assistants?name=%ED%A0%80', '/docs/json?%ff']
  for (const path of [...undecodable, '/user/lead/%E0%A4%A', '/user/lead/%F0%9F', '/user/%zz', '/%', '/%ff']) {
    const answer = await get(path)
    isRefusal(t, answer, 400, path)
    t.ok(answer.headers.get('x-correlation-id'), `${path} passes the hooks of all`)
  }
})

t.test('a query string that does not fit is refused with every field at once', async (t) => {
  const wrong = 'page=0&per_page=101&campaign_id=x&status=lost&phone_number=abc&search=&updated_from=now&date_from=2026-02-30'
  const noDay = ['must be a day such as 2026-01-31, or an instant such as 2026-01-31T12:00:00Z, in the years 1000 to 2999']
  t.same(told(await get(`/user/leads?${wrong}`)), refusal({
    page: ['must be between 1 and 1000000000'],
    per_page: ['must be between 1 and 100'],
    campaign_id: ['must be an integer'],
    status: [`must be one of: ${leadStatuses.join(', ')}`],
    phone_number: ['must be the beginning of a phone number, such as +1555'],
    search: ['must not be empty'],
    updated_from: noDay,
    date_from: noDay
  }))
})

const createLead = async (phone_number: string, contacts: object[] = []) =>
  (await call('POST', '/user/lead', { phone_number, campaign_id, secondary_contacts: contacts }, { user })).body.data
const ask = (path: string, signal?: AbortSignal) =>
  fetch(url + path, { headers: { authorization: bearer }, ...(signal && { signal }) })
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

t.test('CSV for Excel begins with a byte order mark', async (t) => {
  const start = async (path: string) => Buffer.from(await (await ask(path)).arrayBuffer()).subarray(0, 5).toString()
  t.equal(await start('/user/leads/export?bom=true'), '\uFEFFid')
  t.equal(await start('/user/calls/export?bom=true&format=csv'), '\uFEFFca')
  t.equal(await start('/user/leads/export?bom=false'), 'id,ph')
  for (const query of ['format=ndjson&bom=true', 'bom=x']) t.equal((await ask(`/user/leads/export?${query}`)).status, 422, query)
})

t.test('calls are exported, and a wrong query is refused', async (t) => {
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
  for (const path of ['/user/leads/export?format=xml', '/user/calls/export?status=x', '/user/leads/export?campaign_id=0']) {
    t.equal((await ask(path)).status, 422, path)
  }
  t.equal((await fetch(`${url}/user/leads/export`)).status, 401)
})

t.test('an empty export is a header line, or nothing in NDJSON', async (t) => {
  const none = 'phone_number=49999'
  t.match(await textOf(`/user/leads/export?${none}`), /^id,phone_number,[^\r]*\r\n$/)
  t.equal(await textOf(`/user/leads/export?format=ndjson&${none}`), '')
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

t.test('an export ends when its reader is gone', async () => {
  const isRead = async () => (await pool.query(`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
      AND (query LIKE 'FETCH %' OR query LIKE '%read_model.leads%') AND pid <> pg_backend_pid()`)).rowCount
  const leaving = new AbortController()
  const { body } = await ask(`/user/leads/export?format=ndjson&campaign_id=${large}`, leaving.signal)
  await body?.getReader().read()
  await eventually(async () => await isRead() === 1) // it waits for its reader
  leaving.abort()
  await eventually(async () => await isRead() === 0)
})

t.test('a user has two exports at once, others go on', async (t) => {
  const { url: another } = await service.start(['api']) // in which no export of before ends still
  const path = `${another}/user/leads/export?campaign_id=${large}`
  const readers = await Promise.all([1, 2].map(async () => await fetch(path, { headers: { authorization: bearer } })))
  const third = await fetch(path, { headers: { authorization: bearer } })
  t.strictSame([third.status, third.headers.get('retry-after')], [429, '1'])
  const two = await fetch(`${another}/user/leads/export`, { headers: { authorization: `Bearer ${await token('2')}` } })
  t.equal(two.status, 200)
  await Promise.all(readers.map(async ({ body }) => await body?.cancel()))
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

const request = `GET /user/leads HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer}\r\n\r\n`
const asking = (times = 1) => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  socket.write(request.repeat(times))
  return socket
}

t.test('a user who hangs up and asks again has no more lists read at once', async (t) => {
  const unlock = await lockLeads(t)
  const sockets = Array.from({ length: 3 }, () => asking())
  await eventually(async () => await waitingStatements() === 3)
  for (const socket of sockets) socket.destroy()
  const again = get('/user/leads', user)
  const other = get('/user/leads', '2')
  await eventually(async () => await waitingStatements() === 4)
  await unlock()
  t.strictSame([(await again).status, (await other).status], [200, 200])
})

t.test('a connection that ends while its requests wait behind one another leaves no slot taken', async (t) => {
  const unlock = await lockLeads(t)
  const socket = asking(6)
  await eventually(async () => await waitingStatements() === 3)
  socket.destroy()
  await once(socket, 'close')
  await unlock()
  const lists = await Promise.all(Array.from({ length: 6 }, () => get('/user/leads', user)))
  t.strictSame(lists.map(({ status }) => status), Array(6).fill(200))
})
