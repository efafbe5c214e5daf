// Lists: shapes, filters, pages and totals.
import t from 'tap'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t)
const { call } = service
const get = async (path: string, user = '1') => await call('GET', path, undefined, { user })
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

t.test('assistants are listed as their summaries, newest first', async (t) => {
  const { status, body } = await get('/user/assistants')
  t.equal(status, 200)
  t.same(body, { data: created.toReversed(), meta: { page: 1, per_page: 10, total: 3, last_page: 1, next: null } })
  t.same(Object.keys(body.data[0]), ['id', 'name', 'status', 'type', 'mode'])
})

t.test('assistants are filtered by a part of the name, whatever its case, and taken literally', async (t) => {
  for (const [name, found] of [
    ['desk', 'Front desk'],
    ['büro él', 'Büro ÉLYSÉE'],
    ['100%', '100% sure_thing'],
    ['SURE_T', '100% sure_thing'],
    ['%desk', undefined]
  ] as const) {
    for (const parameter of ['name', 'search']) {
      const { body } = await get(`/user/assistants?${parameter}=${encodeURIComponent(name)}`)
      t.same(namesOf(body.data), found ? [found] : [], `${parameter} ${name}`)
    }
  }
})

t.test('assistants are filtered by status, type and when they changed', async (t) => {
  t.equal((await get('/user/assistants?updated_from=2026-01-01')).body.meta.total, 3)
  t.same((await get('/user/assistants?updated_from=2999-12-31')).body.data, [])
  t.same(namesOf((await get('/user/assistants?type=inbound')).body.data), ['Front desk'])
  t.equal((await get('/user/assistants?type=outbound&status=active')).body.meta.total, 2)
  t.same((await get('/user/assistants?status=inactive')).body, {
    data: [], meta: { page: 1, per_page: 10, total: 0, last_page: 1, next: null }
  })
})

t.test('leads are listed as their creation answered them, newest first', async (t) => {
  t.same((await get('/user/leads')).body, {
    data: leads.toReversed(), meta: { page: 1, per_page: 15, total: 3, last_page: 1, next: null }
  })
})

t.test('leads are filtered by campaign and status, by how the phone number begins, and by words', async (t) => {
  const [first, second, third] = leads.map(({ id }) => id)
  for (const [query, ids] of [
    ['campaign_id=1', [third, first]], ['campaign_id=3', []], ['status=created', [third, second, first]],
    ['status=blacklisted', []], ['phone_number=%2B1555', [second, first]], ['phone_number=+1555', [second, first]],
    ['phone_number=4915112345678', [third]], ['phone_number=1666', []], ['campaign_id=1&phone_number=%2B1555', [first]],
    ['search=ada', [third, second, first]], ['search=AD&campaign_id=1', [third, first]], ['search=da', []],
    ['search=%25', []], ['search=Ada%20', [third, second, first]], ['search=%2B1555', [second, first]], ['search=49151', [third]]
  ] as const) {
    const { body } = await get(`/user/leads?${query}`)
    t.same(body.data.map(({ id }: { id: number }) => id), ids, query)
    t.equal(body.meta.total, ids.length, `total of ${query}`)
  }
})

t.test('leads are filtered by days in UTC and by instants, both ends included', async (t) => {
  const { rows: [{ at }] } = await service.parts.pool.query('SELECT min(created_at) AS at FROM read_model.leads')
  const instant = at.toISOString()
  const today = instant.slice(0, 10)
  const ids = async (query: string) => (await get(`/user/leads?${query}`)).body.data.map(({ id }: { id: number }) => id)
  t.same(await ids(`date_to=${instant}`), [leads[0]?.id])
  t.equal((await ids(`date_from=${instant}`)).length, 3)
  t.equal((await ids(`date_from=${today}`)).length, 3)
  t.same(await ids('date_to=2020-02-29'), [])
  const { rows: [{ last }] } = await service.parts.pool.query('SELECT max(updated_at) AS last FROM read_model.leads')
  t.same(await ids(`updated_from=${last.toISOString()}`), [leads.at(-1)?.id])
  t.equal((await ids(`updated_from=${today}`)).length, 3)
  t.same(await ids('updated_from=2999-12-31'), [])
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
  t.match((await get('/user/assistants/models?per_page=1')).body, {
    data: [{ name: 'claude-sonnet-4' }], meta: { page: 1, per_page: 1, total: 6, last_page: 6, next: String }
  })
  t.same((await get('/user/campaigns')).body.data, [
    { id: 2, name: 'Appointment reminders' }, { id: 1, name: 'Spring renewals' }
  ])
  t.same((await get('/user/phone-numbers', '2')).body, {
    data: [{ id: 3, phone_number: '+15551230003' }], meta: { page: 1, per_page: 100, total: 1, last_page: 1, next: null }
  })
})

t.test('a page after the last one is empty and tells the same total', async (t) => {
  t.same((await get('/user/leads?page=3&per_page=2')).body, {
    data: [], meta: { page: 3, per_page: 2, total: 3, last_page: 2, next: null }
  })
  t.equal((await get('/user/leads?page=1000000000&per_page=100')).status, 200)
})
