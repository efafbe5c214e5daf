// Every list and history: its query parameters, one by one, and page behind page by `after`.
import t from 'tap'
import { leadStatuses } from '../../../src/features/leads/events.js'
import { refusal, told } from '../../support/scenes/scenes.js'
import { isRefusal } from '../../support/running-service.js'
import { documentedOperations, type Parameter } from '../../support/http/openapi.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t)
const { call } = service
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

const large = () => Buffer.alloc(300 * 1024, 'x').toString('latin1')

t.test('a history of large changes comes in pages of at most 1 MiB, each entry with its former value', async (t) => {
  const user = '3'
  const { id } = (await call('POST', '/user/assistant', newAssistant, { user })).body.data
  for (const letter of 'abcd') {
    await call('PUT', `/user/assistant/${id}`, { system_prompt: letter + large() }, { user })
  }
  const { pages, items } = await walk(`/user/assistant/${id}/history?per_page=100`, user)
  t.ok(pages.length > 1 && pages.every((page) => JSON.stringify(page).length < 2 ** 20))
  const told = items.slice(0, 3).map((item) => Reflect.get(item, 'changes'))
    .map(([{ field, from, to }]) => [field, from[0], to[0]])
  t.strictSame(told, [['system_prompt', 'c', 'd'], ['system_prompt', 'b', 'c'], ['system_prompt', 'a', 'b']])
  t.strictSame(items.map((item) => Reflect.get(item, 'revision')), [4, 3, 2, 1, 0])
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
  const tried = new Set<string>() // a list that has the same parameter as one before shows it by one value of each kind
  for (const { path, query } of lists) {
    for (const [name, parameter] of Object.entries(query)) {
      const isTried = tried.size === tried.add(JSON.stringify([name, parameter])).size
      const [good = [], bad = []] = valuesOf(name, parameter).map((values) => isTried ? values.slice(0, 1) : values)
      t.ok(good.length > 0, `${path}?${name} is known here`)
      for (const value of good) {
        t.equal((await get(`${path}?${name}=${value}`)).status, 200, `${path}?${name}=${value.slice(0, 30)}`)
      }
      for (const value of [...bad, `${good[0]}&${name}=${good[0]}`]) {
        const answer = await get(`${path}?${name}=${value}`)
        isRefusal(t, answer, 422, `${path}?${name}=${value.slice(0, 30)}`)
        t.strictSame(Object.keys(answer.body.errors), [name])
      }
    }
  }
})

t.test('what a list does not know is ignored and named, also where other lists know it', async (t) => {
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
