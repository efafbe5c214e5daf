// Assistants, leads and calls by their ids and in lists, with filters and searches, and the last day by the hour, as
// their users see them.
import t from 'tap'
import { defaultSettings } from '../../../src/features/assistants/events.js'
import { call as report } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { readScene, timestamp as at } from '../../support/scenes/scenes.js'
import { newAssistant } from '../../support/service.js'

const { service, call, get, create, createLead, complete, hook } = await readScene(t)
const { pool } = service.parts

const namesOf = (data: { name: string }[]) => data.map(({ name }) => name)

const assistants: Array<{ assistant_name: string, calls_direction: string }> = [
  { assistant_name: 'Front desk', calls_direction: 'receive' },
  { assistant_name: 'Büro ÉLYSÉE', calls_direction: 'make' },
  { assistant_name: '100% sure_thing', calls_direction: 'make' }
]
const created: Array<{ id: number, name: string }> = []
for (const body of assistants) {
  created.push((await call('POST', '/user/assistant', { ...newAssistant, ...body })).body.data)
}
const leads: Array<{ id: number }> = []
for (const [phone_number, campaign_id, contacts] of [
  ['+15557770001', 1, 2], ['+15557770002', 2, 0], ['+4915112345678', 1, 0]
] as const) {
  const secondary_contacts = Array.from({ length: contacts }, (_, index) => ({ phone_number: `+1666000000${index}` }))
  leads.push((await call('POST', '/user/lead', {
    phone_number, campaign_id, variables: { customer_name: 'Ada', deep: { list: [1.5] } }, secondary_contacts
  })).body.data)
}

t.test('assistants and leads are listed as their creation answered them, newest first', async (t) => {
  t.same((await get('/user/assistants')).body, {
    data: created.toReversed(), meta: { page: 1, per_page: 10, total: 3, last_page: 1, next: null }
  })
  t.same((await get('/user/leads')).body, {
    data: leads.toReversed(), meta: { page: 1, per_page: 15, total: 3, last_page: 1, next: null }
  })
})

t.test('assistants are filtered by a part of the name, whatever its case, and taken literally', async (t) => {
  for (const [query, found] of [
    ['name=desk', 'Front desk'], ['search=büro él', 'Büro ÉLYSÉE'], ['name=100%25', '100% sure_thing'], ['search=SURE_T', '100% sure_thing'],
    ['name=%25desk', undefined]
  ] as const) t.same(namesOf((await get(`/user/assistants?${query}`)).body.data), found ? [found] : [], query)
})

t.test('assistants are filtered by status, type and when they changed', async (t) => {
  t.equal((await get('/user/assistants?updated_from=2026-01-01')).body.meta.total, 3)
  t.same((await get('/user/assistants?updated_from=2999-12-31')).body.data, [])
  t.same(namesOf((await get('/user/assistants?type=inbound')).body.data), ['Front desk'])
  t.equal((await get('/user/assistants?type=outbound&status=active')).body.meta.total, 2)
  t.same((await get('/user/assistants?status=inactive')).body.data, [])
})

t.test('leads are filtered by campaign and status, by how the phone number begins, and by words', async (t) => {
  const [first, second, third] = leads.map(({ id }) => id)
  for (const [query, ids] of [
    ['campaign_id=1', [third, first]], ['campaign_id=3', []], ['status=created', [third, second, first]],
    ['status=blacklisted', []], ['phone_number=+1555', [second, first]], ['phone_number=1666', []],
    ['campaign_id=1&phone_number=%2B1555', [first]], ['search=AD&campaign_id=1', [third, first]]
  ] as const) {
    const { body } = await get(`/user/leads?${query}`)
    t.same(body.data.map(({ id }: { id: number }) => id), ids, query)
    t.equal(body.meta.total, ids.length, `total of ${query}`)
  }
})

t.test('leads are filtered by days in UTC and by instants, both ends included', async (t) => {
  const { rows: [{ at }] } = await pool.query('SELECT min(created_at) AS at FROM read_model.leads')
  const instant = at.toISOString()
  const today = instant.slice(0, 10)
  const ids = async (query: string) => (await get(`/user/leads?${query}`)).body.data.map(({ id }: { id: number }) => id)
  t.same(await ids(`date_to=${instant}`), [leads[0]?.id])
  t.equal((await ids(`date_from=${instant}`)).length, 3)
  t.equal((await ids(`date_from=${today}`)).length, 3)
  const { rows: [{ last }] } = await pool.query('SELECT max(updated_at) AS last FROM read_model.leads')
  t.same(await ids(`updated_from=${last.toISOString()}`), [leads.at(-1)?.id])
  t.same(await ids('date_from=2999-12-31T23:59:59.999%2B02:00'), [])
})

t.test('the catalogue is listed by name, what is the user\'s own newest first', async (t) => {
  const voices = (await get('/user/assistants/voices?per_page=2')).body
  t.type(voices.meta.next, 'string')
  t.same(voices, {
    data: [{ id: 1, name: 'Amelia' }, { id: 2, name: 'Benjamin' }],
    meta: { page: 1, per_page: 2, total: 12, last_page: 6, next: voices.meta.next }
  })
  t.same(namesOf((await get('/user/assistants/languages?per_page=1&page=2')).body.data), ['English'])
  t.same((await get('/user/campaigns')).body.data, [
    { id: 2, name: 'Appointment reminders' }, { id: 1, name: 'Spring renewals' }
  ])
  t.same((await get('/user/phone-numbers', '2')).body, {
    data: [{ id: 3, phone_number: '+15551230003' }], meta: { page: 1, per_page: 100, total: 1, last_page: 1, next: null }
  })
})

t.test('an assistant is its summary, settings, revision, times and webhook, with its revision as ETag', async (t) => {
  const given = {
    variables: { zeta: null, a: [1.5, { b: null }] }, end_call_tool: { description: 'When done' }, llm_temperature: 0.25
  }
  const id = await create(given)
  const { status, headers, body } = await get(`/user/assistant/${id}`)
  t.equal(status, 200)
  t.equal(headers.get('etag'), '"0"')
  const { created_at, updated_at, ...rest } = body.data
  t.equal(JSON.stringify(rest.settings.variables), JSON.stringify(given.variables), 'names keep their order')
  t.same(rest, {
    ...{ id, name: 'Front desk', status: 'active', type: 'inbound', mode: 'pipeline' },
    settings: { ...defaultSettings(), ...newAssistant, ...given },
    revision: 0,
    webhook: { state: 'off', reason: null, since: null, until: null }
  })
  t.match(created_at, at)
  t.equal(updated_at, created_at)
})

t.test('the settings of an assistant can be sent back as they are, and change nothing', async (t) => {
  const id = await create({ is_webhook_active: true, webhook_url: hook.url, phone_number_id: 1 })
  const before = await get(`/user/assistant/${id}`)
  const { status, headers } = await call('PUT', `/user/assistant/${id}`, before.body.data.settings)
  t.equal(status, 200)
  t.equal(headers.get('etag'), before.headers.get('etag'))
  t.same((await get(`/user/assistant/${id}`)).body, before.body)
  t.same(before.body.data.webhook, { state: 'on', reason: null, since: null, until: null })
})

t.test('a GET with the ETag of what is shown is a 304, until that changes', async (t) => {
  const [assistant, lead] = [await create(), await createLead('+15559990001')]
  const campaign = (await call('POST', '/user/campaign', { name: 'Autumn' })).body.data
  for (const [path, change] of [
    [`/user/assistant/${assistant}`, { speech_speed: 1.1 }], [`/user/campaign/${campaign.id}`, { name: 'Autumn, later' }],
    [`/user/lead/${lead.id}`, { variables: { plan: 'yearly' } }]
  ] as const) {
    const etag = (await get(path)).headers.get('etag') ?? ''
    const knows = (known: string) => call('GET', path, undefined, { headers: { 'if-none-match': known } })
    for (const known of [`W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, body, headers } = await knows(known)
      t.strictSame([status, body, headers.get('etag'), headers.get('content-type')], [304, {}, etag, null], `${path} ${known}`)
      t.match(headers.get('x-read-position'), /^\d+$/)
    }
    t.equal((await knows('"other"')).status, 200)
    await call('PUT', path, change)
    t.equal((await knows(etag)).status, 200)
  }
  t.equal((await call('GET', '/user/lead/999999', undefined, { headers: { 'if-none-match': '*' } })).status, 404)
})

t.test('the history has every change, newest first, with the former value', async (t) => {
  const id = await create({ speech_speed: 1.1 })
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk', speech_speed: 1.1 })
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk' })
  await call('PUT', `/user/assistant/${id}`, { variables: { a: 1 }, phone_number_id: 1 })
  const { status, body } = await get(`/user/assistant/${id}/history`)
  t.equal(status, 200)
  t.same(body.meta, { page: 1, per_page: 15, total: 3, last_page: 1, next: null })
  const [third, second, first] = body.data
  t.same(Object.keys(third), ['revision', 'event', 'at', 'changes'])
  t.match(third, { revision: 2, event: 'AssistantUpdated', at })
  t.same(third.changes.toSorted((a: { field: string }, b: { field: string }) => a.field < b.field ? -1 : 1), [
    { field: 'phone_number_id', from: null, to: 1 }, { field: 'variables', from: {}, to: { a: 1 } }
  ])
  t.same(second.changes, [{ field: 'assistant_name', from: 'Front desk', to: 'Night desk' }])
  t.match(first, { revision: 0, event: 'AssistantCreated' })
  t.ok(first.changes.some((change: object) =>
    JSON.stringify(change) === '{"field":"speech_speed","from":null,"to":1.1}'))
  const page = (await get(`/user/assistant/${id}/history?per_page=1&page=2`)).body
  t.match(page, { data: [second], meta: { page: 2, per_page: 1, total: 3, last_page: 3, next: String } })
})

t.test('another user sees nothing of it in any list', async (t) => {
  const id = await create()
  const lead = await createLead('+15558880030')
  await complete('private', { assistant_id: id, lead_id: lead.id })
  await eventually(async () => (await get('/user/call/private')).status === 200)
  const lists = ['/user/assistants', '/user/leads', '/user/leads?campaign_id=1', '/user/calls', `/user/calls?lead_id=${lead.id}`]
  for (const path of lists) {
    t.ok((await get(path)).body.meta.total > 0, path)
    t.same((await get(path, '2')).body, {
      data: [], meta: { page: 1, per_page: path.includes('assistants') ? 10 : 15, total: 0, last_page: 1, next: null }
    }, path)
  }
  for (const path of ['/user/campaigns', '/user/phone-numbers']) {
    const ids = async (user: string) => (await get(path, user)).body.data.map(({ id }: { id: number }) => id)
    const own = await ids('1')
    t.notOk((await ids('2')).some((id: number) => own.includes(id)), path)
    t.same(await ids('nobody'), [], path)
  }
})

t.test('a call shows its report and the deliveries of its webhook', async (t) => {
  const id = await create({ is_webhook_active: true, webhook_url: hook.url })
  const lead = await createLead('+15558880010')
  const { status, headers } =
    await complete('told', { assistant_id: id, lead_id: lead.id, started_at: '2026-01-31T13:00:00+01:00' })
  t.equal(status, 202)
  const delivered = await eventually(async () => {
    const { body } = await call('GET', '/user/call/told', undefined, {
      headers: { 'x-read-position': headers.get('x-read-position') ?? '' }
    })
    return body.data.deliveries[0]?.status === 'delivered' && body.data
  })
  const { deliveries, ...rest } = delivered
  const { call_id, lead_status, ...reported } = report('told')
  const named = { assistant_id: id, lead_id: lead.id, lead: { id: lead.id } }
  t.same(rest, { call_id, ...reported, ...named, started_at: '2026-01-31T12:00:00.000Z' })
  t.match(deliveries, [{
    id: hook.received.at(-1)?.headers['webhook-id'],
    call_id,
    assistant_id: id,
    type: 'call.completed',
    reason: null,
    next_attempt_at: null,
    created_at: at,
    attempts: [{ n: 1, trigger: 'schedule', started_at: at, finished_at: at, outcome: 'delivered', status_code: 200 }]
  }])
  t.equal((await get(`/user/lead/${lead.id}`)).body.data.status, 'completed')
})

t.test('calls are listed without their transcripts, the last first, and filtered', async (t) => {
  const [one, two] = [await create(), await create()]
  const lead = await createLead('+15558880020')
  const on = (day: number) => ({ started_at: `2025-03-0${day}T09:59:00Z`, ended_at: `2025-03-0${day}T10:00:00Z` })
  await complete('list-1', { assistant_id: one, ...on(1) })
  await complete('list-2', { assistant_id: one, ...on(3), status: 'busy', lead_id: lead.id })
  const { headers } = await complete('list-3', {
    assistant_id: two, ...on(2), direction: 'inbound', from: '+4915112345670'
  })
  const position = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
  const ids = async (query: string) => {
    const { body } = await call('GET', `/user/calls?date_to=2025-12-31&${query}`, undefined, position)
    t.equal(body.meta.total, body.data.length)
    return body.data.map(({ call_id }: { call_id: string }) => call_id)
  }
  t.same(await ids(''), ['list-2', 'list-3', 'list-1'])
  t.same(await ids(`assistant_id=${one}`), ['list-2', 'list-1'])
  t.same(await ids(`lead_id=${lead.id}`), ['list-2'])
  t.same(await ids('status=completed'), ['list-3', 'list-1'])
  t.same(await ids('date_from=2025-03-02'), ['list-2', 'list-3'])
  t.same(await ids('campaign_id=1'), ['list-2'], 'of its lead')
  t.same(await ids('direction=inbound'), ['list-3'])
  t.same(await ids('phone_number=+49151'), ['list-3'], 'of the customer, who called')
  t.same(await ids('phone_number=15551230001&direction=outbound'), ['list-2', 'list-1'], 'of the customer, who was called')
  t.same(await ids('updated_from=2026-01-01'), ['list-2', 'list-3', 'list-1'], 'when they were recorded')
})

const idsIn = ({ body }: { body: { data: Array<{ id: number }> } }) => body.data.map(({ id }) => id)

t.test('calls are searched by the words that their lead or contact has now', async (t) => {
  const assistant_id = await create()
  const contact = { phone_number: '+15556660002', variables: { customer_name: 'Grace Hopper' } }
  const { id, secondary_contacts: [{ id: contactId }] } = (await call('POST', '/user/lead', {
    phone_number: '+15556660001', campaign_id: 1, variables: { customer_name: 'Ada Lovelace' }, secondary_contacts: [contact]
  })).body.data
  await complete('of-lead', { assistant_id, lead_id: id })
  await complete('of-contact', { assistant_id, lead_id: contactId })
  const reported = await complete('of-nobody', { assistant_id })
  const found = async (query: string, written = reported) => {
    const headers = { 'x-read-position': written.headers.get('x-read-position') ?? '' }
    const { status, body } = await call('GET', `/user/calls?${query}`, undefined, { headers })
    t.equal(status, 200, query)
    t.equal(body.meta.total, body.data.length, query)
    return body.data.map(({ call_id }: { call_id: string }) => call_id)
  }
  t.strictSame(await found('search=ada'), ['of-lead'])
  t.strictSame(await found('search=GRACE%20H&status=completed'), ['of-contact'])
  t.strictSame(await found('search=ada%20grace'), [], 'one person has all the words')
  t.match((await get('/user/calls/export?format=ndjson&search=ada')).body, { call_id: 'of-lead' })

  const renamed = await call('PUT', `/user/lead/${id}`, { variables: { customer_name: 'Countess' } })
  t.strictSame(await found('search=count', renamed), ['of-lead'], 'a read at the position of the change knows it')
  t.strictSame(await found('search=ada', renamed), [])
  const deleted = await call('DELETE', `/user/lead/${id}`)
  t.strictSame(await found('search=count', deleted), ['of-lead'], 'a call of a lead that was deleted is still there')
  t.strictSame((await get('/user/calls?search=count', '2')).body.data, [], 'of another user there is none')
})

t.test('campaigns are searched by the words of their name, and by when they changed', async (t) => {
  const named = async (name: string) => (await call('POST', '/user/campaign', { name })).body.data.id
  const [winter, other] = [await named('Été & WINTER 50%'), await named('Something else, winterly')]
  for (const [search, ids] of [
    ['wint', [other, winter]], ['ETE', [winter]], ['inter', []], ['else some', [other]]
  ] as const) {
    t.strictSame(idsIn(await get(`/user/campaigns?search=${encodeURIComponent(search)}`)), ids, search)
  }
  const { updated_at } = (await call('PUT', `/user/campaign/${winter}`, { name: 'Winter, later' })).body.data
  t.strictSame(idsIn(await get(`/user/campaigns?updated_from=${updated_at}`)), [winter])
  t.strictSame(idsIn(await get('/user/campaigns?search=été')), [])
})

t.test('leads are searched by words of name, e-mail and number, their own or of one contact', async (t) => {
  const lead = async (customer_name: string, email: string, phone_number: string, contacts: object[] = []) => {
    const body = { phone_number, campaign_id: 2, variables: { customer_name, email }, secondary_contacts: contacts }
    return (await call('POST', '/user/lead', body)).body.data.id
  }
  const grace = { phone_number: '+15556663300', variables: { customer_name: 'Grace Brewster Hopper', email: 'g.hopper@navy.example' } }
  const neil = await lead("Conan O'Neil", 'Conan@Mail.example', '+15556663001')
  const jose = await lead('José Łukasz', 'jl_9@post.example', '+4915556663002', [grace])
  const found = async (search: string) => idsIn(await get(`/user/leads?campaign_id=2&search=${encodeURIComponent(search)}`))
  for (const [search, ids] of [
    ['O’NEIL', [neil]], ['oneil', [neil]], ['eil', []], ['neil con', [neil]], ['conan@mail.ex', [neil]], ['post example', [jose]],
    ['JOSE luk', [jose]], ['9@post', [jose]], ['brew navy', [jose]], ['jose grace', []], ['15556663', [jose, neil]],
    ['+1 555 666 33', [jose]], ['+4915', [jose]], ['6663', []], ['%', []], ["neil':* | 'x", []]
  ] as const) t.strictSame(await found(search), ids, search)
  t.match((await get('/user/leads/export?format=ndjson&search=brew')).body, { id: jose })
  await call('PUT', `/user/lead/${jose}`, { variables: { customer_name: 'Zoë' }, secondary_contacts: [] })
  t.strictSame([await found('zoe'), await found('luk'), await found('hopper')], [[jose], [], []])
  await call('DELETE', `/user/lead/${jose}`)
  t.strictSame(await found('zoe'), [])
})

t.test('phone numbers and do-not-call entries are searched by how the number begins, and by when they changed', async (t) => {
  const lists = [['phone-number', '/user/phone-numbers'], ['blacklist', '/user/blacklist']] as const
  for (const [thing, list] of lists) {
    const add = async (phone_number: string) => (await call('POST', `/user/${thing}`, { phone_number })).body.data.id
    const first = await add('+14155550001')
    await add('+493055500011')
    t.strictSame(idsIn(await get(`${list}?search=%2B1415`)), [first], list)
    t.strictSame(idsIn(await get(`${list}?search=930`)), [], list)
    t.strictSame(idsIn(await get(`${list}?search=1415&updated_from=2026-01-01`)), [first], list)
    t.strictSame(idsIn(await get(`${list}?search=1415`, '2')), [], list)
    t.match((await get(`${list}?search=x`)).body.errors.search, [/beginning of a phone number/])
    await call('DELETE', `/user/${thing}/${first}`)
    t.strictSame(idsIn(await get(`${list}?search=1415`)), [], list)
  }
})

t.test('an instant that a row shows includes the row, in date_to as in date_from', async (t) => {
  await pool.query("UPDATE read_model.calls SET ended_at = ended_at + interval '700 microseconds' WHERE id = 'of-nobody'")
  const { assistant_id, ended_at } = (await get('/user/call/of-nobody')).body.data
  const { body } = await get(`/user/calls?date_from=${ended_at}&date_to=${ended_at}&assistant_id=${assistant_id}`)
  t.match(body.data, [{ call_id: 'of-nobody' }, { call_id: 'of-contact' }, { call_id: 'of-lead' }])
})

const hourMs = 3_600_000
const ago = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString()
const started_at = ago(48)
const user = 'daily'

t.test('calls count in the hour that they ended in, webhooks by where they stand, each for its user alone', async (t) => {
  const webhook = { is_webhook_active: true, webhook_url: hook.url, send_webhook_only_on_completed: false }
  const [on, off, others] = [await create(webhook, user), await create({}, user), await create({}, '2')]
  const calls = [
    { assistant_id: on, ended_at: ago(0) }, { assistant_id: on, ended_at: ago(23), status: 'no-answer' },
    { assistant_id: on, ended_at: ago(3), status: 'no-answer' }, { assistant_id: off, ended_at: ago(3), status: 'no-answer' },
    { assistant_id: off, ended_at: ago(25) }, { assistant_id: others, ended_at: ago(3) }
  ]
  for (const [index, call] of calls.entries()) await complete(`day-${index}`, { started_at, ...call })
  const { data } = await eventually(async () => {
    const { body } = await get('/user/day', user)
    const { delivered, skipped } = body.data.deliveries.hours.at(-1).counts
    return delivered === 3 && skipped === 2 && body
  })
  t.equal(data.calls.hours.length, 24)
  const hour = new Date(Math.floor(Date.now() / hourMs) * hourMs).toISOString()
  t.same(data.calls.hours.at(-1), { hour, counts: { completed: 1 } })
  t.same(data.calls.hours.at(-4).counts, { 'no-answer': 2 })
  t.same(data.calls.hours[0].counts, { 'no-answer': 1 })
  t.same(data.deliveries.hours.at(-1).counts, { delivered: 3, skipped: 2 })
  t.ok(data.calls.is_exact && data.deliveries.is_exact)
})
