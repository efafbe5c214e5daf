// Exports of leads and calls: whole, by id, of one instant, as their reader takes them. How many reads of one user are
// answered at once: the others wait, and nobody else waits for them.
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { eachLead, type LeadInCampaign } from '../../../projections/find-leads.js'
import { eventually } from '../../support/eventually.js'
import { readScene } from '../../support/scenes/scenes.js'
import type { Teardown } from '../../support/teardown.js'

const { service, call, createLead, create, complete } = await readScene(t)
const { url, token, parts: { pool } } = service
const bearer = `Bearer ${await token('1')}`
const ask = (path: string, signal?: AbortSignal) =>
  fetch(url + path, { headers: { authorization: bearer }, ...(signal && { signal }) })
const textOf = async (path: string) => await (await ask(path)).text()
const linesOf = async (path: string) => (await textOf(path)).trimEnd().split('\n').map((line) => JSON.parse(line))

t.test('leads are exported as lists have them, by id, to their user alone', async (t) => {
  const first = await createLead('+15558880001', ['+15558880002'])
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

t.test('calls are exported, and what is wrong with a question is refused', async (t) => {
  const assistant = await create()
  for (const id of ['b-call', 'a-call']) await complete(id, { assistant_id: assistant, lead_id: null })
  const found = await eventually(async () => {
    const calls = await linesOf('/user/calls/export?format=ndjson').catch(() => [])
    return calls.length === 2 && calls
  })
  t.strictSame(found.map(({ call_id }) => call_id), ['a-call', 'b-call'])
  const { data } = (await call('GET', '/user/calls')).body
  t.strictSame(found, data.toSorted((one: typeof found[0], two: typeof found[0]) => one.call_id > two.call_id ? 1 : -1))
  t.match(await textOf('/user/calls/export?format=csv'), /^call_id,assistant_id,lead_id,[^\r]*\r\na-call,/)
  for (const path of ['/user/leads/export?format=xml', '/user/calls/export?status=x', '/user/leads/export?campaign_id=0']) {
    t.equal((await ask(path)).status, 422, path)
  }
  t.equal((await fetch(`${url}/user/leads/export`)).status, 401)
})

t.test('nothing is a header line, or nothing at all', async (t) => {
  const none = 'phone_number=49999'
  t.match(await textOf(`/user/leads/export?${none}`), /^id,phone_number,[^\r]*\r\n$/)
  t.equal(await textOf(`/user/leads/export?format=ndjson&${none}`), '')
})

const many = 3_000

t.test('an export that is read slowly is of one instant', async (t) => {
  await pool.query(`
    INSERT INTO read_model.leads (id, primary_id, place, user_id, campaign_id, phone_number, variables, status, stream,
      created_at, updated_at)
    SELECT 1000000 + n, NULL, 0, '1', 2, '+1666' || n, json_build_object('customer_name', repeat('x', 4000), 'email', ''),
      'created', 'lead-x-' || n, now(), now() FROM generate_series(1, ${many}) n`)
  const answer = await ask('/user/leads/export?format=ndjson&campaign_id=2')
  await pool.query("UPDATE read_model.leads SET status = 'completed' WHERE campaign_id = 2")
  // The answer is held until here: of one that is collected as garbage, fetch cancels the body.
  const found = (await answer.text()).trimEnd().split('\n').map((line) => JSON.parse(line))
  t.equal(found.length, many)
  t.ok(found.every(({ id, status }, index) => id === 1_000_001 + index && status === 'created'))
})

t.test('rows are read in parts of at most 128 KiB, however long they are: each part is parsed at once', async (t) => {
  await pool.query(`
    INSERT INTO read_model.leads (id, primary_id, place, user_id, campaign_id, phone_number, variables, status, stream,
      created_at, updated_at)
    SELECT 2000000 + n, NULL, 0, '3', 3, '', json_build_object('customer_name', repeat('x', n * n), 'email', ''), 'created',
      'lead-y-' || n, now(), now() FROM generate_series(1, 400) n`)
  const parts: LeadInCampaign[][] = []
  await eachLead(pool, { userId: '3' }, async (leads) => { parts.push(leads) }, new AbortController().signal)
  t.strictSame(parts.flat().map(({ lead }) => lead.id), Array.from({ length: 400 }, (_, n) => 2_000_001 + n))
  t.ok(parts.every((leads) => leads.length === 1 || JSON.stringify(leads).length <= 128 * 1024))
})

t.test('an export ends when its reader is gone', async () => {
  const isRead = async () => (await pool.query(`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
      AND (query LIKE 'FETCH %' OR query LIKE '%read_model.leads%') AND pid <> pg_backend_pid()`)).rowCount
  const leaving = new AbortController()
  const { body } = await ask('/user/leads/export?format=ndjson&campaign_id=2', leaving.signal)
  await body?.getReader().read()
  await eventually(async () => await isRead() === 1) // it waits for its reader
  leaving.abort()
  await eventually(async () => await isRead() === 0)
})

t.test('a user has two exports at once, others go on', async (t) => {
  const { url: impatient } = await service.start(['api'])
  const readers = await Promise.all([1, 2].map(async () =>
    await fetch(`${impatient}/user/leads/export?campaign_id=2`, { headers: { authorization: bearer } })))
  const third = await fetch(`${impatient}/user/leads/export?campaign_id=2`, { headers: { authorization: bearer } })
  t.strictSame([third.status, third.headers.get('retry-after')], [429, '1'])
  const two = await fetch(`${impatient}/user/leads/export`, { headers: { authorization: `Bearer ${await token('2')}` } })
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
  const lists = Array.from({ length: 8 }, () => call('GET', '/user/leads'))
  const other = call('GET', '/user/leads', undefined, { user: '2' })
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

t.test('who hangs up and asks again has no more lists read at once', async (t) => {
  const unlock = await lockLeads(t)
  const sockets = Array.from({ length: 3 }, () => asking())
  await eventually(async () => await waitingStatements() === 3)
  for (const socket of sockets) socket.destroy()
  const again = call('GET', '/user/leads')
  const other = call('GET', '/user/leads', undefined, { user: '2' })
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
  const lists = await Promise.all(Array.from({ length: 6 }, () => call('GET', '/user/leads')))
  t.strictSame(lists.map(({ status }) => status), Array(6).fill(200))
})
