// Options of a webhook, over HTTP and at a real receiver: headers of the user, and a bound on attempts in a second.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { isRefusal } from '../../support/running-service.js'
import { receiver } from '../../support/receivers/receiver.js'
import { webhookService } from '../../support/scenes/scenes.js'

const service = await webhookService(t)
const { call, get, create, complete } = service
const { pool } = service.parts
const pathOf = (assistant: number) => `/user/assistant/${assistant}/webhook-options`
const put = (assistant: number, body: object, user = '1') => call('PUT', pathOf(assistant), body, { user })
const none = { headers: {}, max_per_second: null }
const token = 'Bearer 3c469e9d6c5875d3'

t.test('headers go with each attempt, and only their names are kept in the delivery log', async (t) => {
  const hook = await receiver(t)
  const assistant = await create(hook.url)
  t.same(await get(pathOf(assistant)), { data: none })
  const set = await put(assistant, { headers: { Authorization: token, 'X-Team': 'north' }, max_per_second: 20 })
  const options = { headers: { Authorization: '…75d3', 'X-Team': '…' }, max_per_second: 20 }
  t.match(set, { status: 200, body: { message: 'Webhook options updated successfully', data: options } })
  t.same(await get(pathOf(assistant)), { data: options })
  const delivered = await complete(assistant, ({ status }) => status === 'delivered')
  t.match(hook.received[0]?.headers, { authorization: token, 'x-team': 'north', 'content-type': 'application/json' })
  t.same(delivered.request.header_names, ['Authorization', 'X-Team'])
  t.notMatch(JSON.stringify(delivered), /3c469e9d|north/)
  const { rows } = await pool.query(`
    SELECT json_build_object('hooks', (SELECT json_agg(w) FROM ledger.webhooks w),
      'attempts', (SELECT json_agg(a) FROM ledger.webhook_attempts a))::text AS text`)
  t.notMatch(rows[0].text, /3c469e9d|north/)
  t.match((await put(assistant, { max_per_second: null })).body.data, { ...options, max_per_second: null }, 'what is absent stays')
  t.match((await put(assistant, { headers: { 'X-Other': 'something else' } })).body.data, { headers: { 'X-Other': '…else' } })
  const after = await complete(assistant, ({ status }) => status === 'delivered')
  t.same(after.request.header_names, ['X-Other'])
  t.notOk(hook.received[1]?.headers.authorization, 'replaced whole')
  t.same((await put(assistant, { headers: {} })).body.data, none)
  t.same((await complete(assistant, ({ status }) => status === 'delivered')).request.header_names, [])
})

t.test('what no header may be is a 422 that names it, says what would be right, and shows no value', async (t) => {
  const assistant = await create('https://hooks.example.com')
  const refusedNames = {
    'Content-Type': /has this one already/,
    'content-anything': /has this one already/,
    'User-Agent': /has this one already/,
    'Webhook-Id': /has this one already/,
    traceparent: /has this one already/,
    HOST: /webhook_url/,
    Connection: /of the connection/,
    'transfer-encoding': /of the connection/,
    expect: /of the connection/,
    'with space': /letters, digits and hyphens/,
    ö: /letters, digits and hyphens/,
    '': /letters, digits and hyphens/
  }
  for (const [name, words] of Object.entries(refusedNames)) {
    const refused = await put(assistant, { headers: { [name]: 'secret-value' } })
    isRefusal(t, refused, 422, name)
    t.same(Object.keys(refused.body.errors), [`headers.${name}`])
    t.match(refused.body.errors[`headers.${name}`], [words])
  }
  for (const value of ['', ' a', 'a ', 'a\nb', 'ü', 'x'.repeat(1_001), 5, null]) {
    const refused = await put(assistant, { headers: { 'X-Api-Key': value } })
    isRefusal(t, refused, 422, JSON.stringify(value).slice(0, 20))
    t.same(Object.keys(refused.body.errors), ['headers.X-Api-Key'])
  }
  t.same((await put(assistant, { headers: { 'X-Key': 'secret-1', 'x-key': 'secret-2' } })).body.errors,
    { 'headers.x-key': ['must be there once: names compare without case'] })
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, 'x'.repeat(1_000)]))
  t.same(Object.keys((await put(assistant, { headers: many(11) })).body.errors), ['headers'])
  t.same(Object.keys((await put(assistant, { headers: { ['x'.repeat(101)]: 'a' } })).body.errors), ['headers'])
  for (const max_per_second of [0, 101, 1.5, '5']) {
    t.same(Object.keys((await put(assistant, { max_per_second })).body.errors), ['max_per_second'])
  }
  const both = await put(assistant, { headers: { host: 'secret-value', 'X-Key': 'ü' }, max_per_second: 0 })
  t.same(Object.keys(both.body.errors).sort(), ['headers.X-Key', 'headers.host', 'max_per_second'], 'all at once')
  t.notMatch(JSON.stringify(both.body), /secret/)
  t.same(await get(pathOf(assistant)), { data: none })
  t.equal((await put(assistant, { headers: many(10), max_per_second: 100 })).status, 200)
})

t.test('options are of their owner alone, also of a webhook that has no URL yet', async (t) => {
  const assistant = await create(null)
  t.equal((await put(assistant, { max_per_second: 5 })).status, 200)
  isRefusal(t, await put(assistant, { max_per_second: 6 }, '2'), 404, 'PUT of another user')
  isRefusal(t, await call('GET', pathOf(assistant), undefined, { user: '2' }), 404, 'GET of another user')
  isRefusal(t, await put(999_999, { max_per_second: 6 }), 404, 'no assistant')
  t.same(await get(pathOf(assistant)), { data: { headers: {}, max_per_second: 5 } })
})

t.test('of two who change the same options, one is refused', async (t) => {
  const assistant = await create(null)
  const { headers } = await call('GET', pathOf(assistant))
  const change = (max_per_second: number) =>
    call('PUT', pathOf(assistant), { max_per_second }, { headers: { 'if-match': headers.get('etag') ?? '' } })
  const both = await Promise.all([change(5), change(6)])
  t.same(both.map(({ status }) => status).sort(), [200, 412])
  const [done] = both.filter(({ status }) => status === 200)
  const read = await call('GET', pathOf(assistant))
  t.same(read.body.data, done?.body.data)
  t.not(read.headers.get('etag'), headers.get('etag'))
})

t.test('no more attempts start in a second than max_per_second', async (t) => {
  const hook = await receiver(t)
  const assistant = await create(hook.url)
  await put(assistant, { max_per_second: 2 })
  const from = performance.now()
  await Promise.all(Array.from({ length: 6 }, () => complete(assistant, () => true)))
  await eventually(() => hook.received.length === 6)
  t.ok(performance.now() - from > 1_500, 'two at once, four within two seconds')
})
