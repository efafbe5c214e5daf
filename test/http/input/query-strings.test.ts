// Every query parameter of every list: what is taken, what is refused by name, and totals that are true.
import t from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { told } from '../../support/scenes/scenes.js'
import { isRefusal } from '../../support/running-service.js'
import { documentedOperations, pathsWithIds, type Parameter } from '../../support/http/openapi.js'
import { testService } from '../../support/service.js'

const service = await testService(t)
const { call } = service
const ops = { headers: { authorization: `Bearer ${await service.token('operator', 'ops')}` } }
const get = (path: string) => call('GET', path, undefined, path.startsWith('/ops/') ? ops : {})
const { id } = (await call('POST', '/user/assistant', newAssistant())).body.data
await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk' })
await call('POST', '/user/assistant', newAssistant({ calls_direction: 'make' }))
for (const phone_number of ['+15551230100', '+15551230101', '+15551230102']) {
  await call('POST', '/user/lead', newLead({ phone_number }))
}
const withId = await pathsWithIds(service, id)
const lists = (await documentedOperations(service)).filter(({ query }) => 'page' in query)
  .map(({ path, query }) => ({ path: withId(path), query }))
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

t.test('every list of the design is among the lists', async (t) => {
  const found = lists.map(({ path }) => path.replace(String(id), '1'))
  const designed = [
    '/user/assistant/1/history', '/user/assistants', '/user/assistants/languages', '/user/assistants/models',
    '/user/assistants/voices', '/user/blacklist', '/user/calls', '/user/campaigns', '/user/leads',
    '/user/phone-numbers', '/user/webhook-deliveries'
  ]
  t.strictSame(designed.filter((path) => !found.includes(path)), [])
})

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
  const ranged = (await documentedOperations(service)).filter(({ query }) => 'date_to' in query)
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

t.test('a revision is a whole number from 0', async (t) => {
  for (const [revision, status] of [['0', 200], ['-1', 422], ['1.5', 422], ['99', 404]] as const) {
    t.equal((await get(`/user/assistant/${id}?revision=${revision}`)).status, status, revision)
  }
  const { body } = await get(`/user/assistant/${id}?revision=9007199254740993`)
  t.strictSame(body.errors, { revision: ['must be between 0 and 9007199254740991'] })
})

t.test('a query string that cannot be decoded is a 400, as a path is', async (t) => {
  const undecodable = ['/user/leads?search=%E0%A4%A', '/user/me?a=%', '/user/assistants?name=%ED%A0%80', '/docs/json?%ff']
  for (const path of [...undecodable, '/user/lead/%E0%A4%A', '/%ff']) {
    const answer = await get(path)
    isRefusal(t, answer, 400, path)
    t.ok(answer.headers.get('x-correlation-id'), `${path} passes the hooks of all`)
  }
})

t.test('a query string that does not fit is refused with every field at once', async (t) => {
  const { status, body } = await get(
    '/user/leads?page=0&per_page=101&campaign_id=x&status=lost&phone_number=abc&search=&updated_from=now&date_from=2026-02-30&date_to=tomorrow'
  )
  t.equal(status, 422)
  t.same(body, {
    message: 'The given data was invalid.',
    errors: {
      page: ['must be between 1 and 1000000000'],
      per_page: ['must be between 1 and 100'],
      campaign_id: ['must be an integer'],
      status: ['must be one of: created, scheduled, processing, completed, rescheduled, reached-max-retries, blacklisted'],
      phone_number: ['must be the beginning of a phone number, such as +1555'],
      search: ['must not be empty'],
      updated_from: ['must be a day such as 2026-01-31, or an instant such as 2026-01-31T12:00:00Z, in the years 1000 to 2999'],
      date_from: ['must be a day such as 2026-01-31, or an instant such as 2026-01-31T12:00:00Z, in the years 1000 to 2999'],
      date_to: ['must be a day such as 2026-01-31, or an instant such as 2026-01-31T12:00:00Z, in the years 1000 to 2999']
    }
  })
})

t.test('no query string leads to a 500', async (t) => {
  for (const query of [
    'name=%00', 'name=', 'page=1&page=2', 'page=', 'page=1e400', 'page=9007199254740993',
    'page=-1', 'page=1.5', 'name[]=x', 'name=a&name=b', '__proto__=1', 'constructor=1', 'status=active&status=inactive',
    `name=${'x'.repeat(256)}`, "name='%3B--", 'type=%F0%9F%98%80'
  ]) t.ok([200, 422].includes((await get(`/user/assistants?${query}`)).status), query)
  const dates = [
    '0000-01-01', '1000-01-01T00:00:00%2B14:00', '2026-01-01T24:00:00Z', '2026-01-01T23:59:60Z', '99999-01-01', '2026-13-01', '2999-12-31T23:59:59.999999999-14:00', '2026-01-01T00:00:00%2B99:99'
  ]
  for (const date of dates) {
    t.ok([200, 422].includes((await get(`/user/leads?date_from=${date}`)).status), date)
  }
})
